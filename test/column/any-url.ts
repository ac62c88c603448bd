import fc from 'fast-check';
import { anyCodePoint } from '../support/code-point.ts';

const WORDS = ['rest', 'v1', 'auth', 'orders', 'x', 'Ä_z', '0', '7', '00', 'deadbeef', 'abc'];
const DELIMITERS = ['/', '?', '#', '&', '=', '-', '.', '//', '://', '%', ' ', '\u00e9', '\ud83d'];

const anyWord = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.integer({ min: 0, max: 2 ** 50 }).map(String),
  fc.stringMatching(/^[0-9a-f]{1,20}$/),
  fc.stringMatching(/^[0-9]{1,20}$/),
  fc.stringMatching(/^[a-z_A-Z0-9]{1,12}$/),
  fc.uuid(),
  fc.string({ unit: anyCodePoint, maxLength: 6 }),
);

const anyTail = fc
  .array(fc.tuple(fc.constantFrom(...DELIMITERS), anyWord), { maxLength: 5 })
  .map((pieces) => pieces.flat().join(''));

const anyHead = fc.constantFrom(
  ...['https://a.example.com', 'https://b.example.com', 'http://[::1]:80', 'ftp://', ''],
);

/** One part of a URL as a function of its row: the same in every row, or another in each. */
const anyPart = fc.oneof(
  anyTail.map((text) => () => text),
  fc.constant((n: number) => `/${n}`),
  fc.constant((n: number) => `?id=eq.${n * 7919}`),
  fc.constant((n: number) => `/${(n * 99991).toString(16).padStart(9, '0')}`),
  fc.constant((n: number) => `=w${(n % 37).toString(36)}x`),
  fc.constant((n: number) => `&${'t'.repeat(n % 9)}${n.toString(36)}`),
);

/** Strings such as URLs: some rules make most of them, and a few are what they like. */
export function anyUrls(count: number): fc.Arbitrary<string[]> {
  const rule = fc.tuple(anyHead, fc.array(anyPart, { maxLength: 5 }));
  const odd = fc.tuple(fc.nat({ max: count - 1 }), fc.oneof(anyTail, fc.string()));
  return fc
    .tuple(fc.array(rule, { minLength: 1, maxLength: 5 }), fc.array(odd, { maxLength: 20 }))
    .map(([rules, odds]) => {
      const urls = Array.from({ length: count }, (_, n) => {
        const [head, parts] = rules[(n * rules.length) >> 5 === 0 ? 0 : n % rules.length]!;
        return `${head}${parts.map((part) => part(n)).join('')}`;
      });
      for (const [row, url] of odds) urls[row] = url;
      return urls;
    });
}
