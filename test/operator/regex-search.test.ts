import { equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type StringBlock, TRUE, UNKNOWN } from '../../engine/column/vector.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import type { TextMatcher } from '../../engine/function/regex/text-matcher.ts';
import { compileLike } from '../../engine/function/text/like.ts';
import { compileRegex } from '../../engine/function/text/regular-expression.ts';
import { REGEX_TEST_STEPS_MAX } from '../../engine/limits.ts';
import {
  PiecesSearch,
  RegexSearch,
  type TextSearch,
} from '../../engine/plan/evaluator/text-search.ts';

function blockOf(texts: readonly string[]): StringBlock {
  const encoded = texts.map((text) => Buffer.from(encodeWtf8(text)));
  const offsets = new Uint32Array(texts.length + 1);
  encoded.forEach((bytes, index) => {
    offsets[index + 1] = offsets[index]! + bytes.length;
  });
  return { bytes: Buffer.concat(encoded), offsets };
}

function expectSame(
  matcher: TextMatcher,
  texts: readonly string[],
  search: TextSearch = new RegexSearch(matcher),
): void {
  const codes = Int32Array.from([...texts.keys(), -1]);
  const truths = search.testAll(blockOf(texts), codes, codes.length);
  equal(truths[texts.length], UNKNOWN);
  for (const [index, text] of texts.entries()) {
    equal(truths[index] === TRUE, matcher.test(text), JSON.stringify(text));
  }
}

const piece = fc.constantFrom('a', 'b', '/', '/rest', 'é', '😀', '\ud83d', '\n', '%2F', '.');
const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

test('a pattern is found in the bytes of just the strings that it is found in', () => {
  const part = fc.constantFrom(
    ...[
      'a',
      '/rest',
      '/rest/',
      '.*',
      '[^/]+',
      '(a|b)',
      '(?:/rest|%2F)',
      '\\b',
      '^',
      '$',
      'é+',
      '(?i:B)',
    ],
  );
  const pattern = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 10 }), (source, texts) => {
      expectSame(compileRegex(source), texts);
    }),
    { numRuns: 1_000 },
  );
});

test('a LIKE pattern is found in the bytes of just the strings that it is found in', () => {
  const part = fc.constantFrom('a', 'b', '%', '_', '/rest', 'é', '😀', '\\%', '\\\\', '.');
  const pattern = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 10 }), (source, texts) => {
      const like = compileLike(source);
      const matcher = like.matcher();
      ok(matcher !== undefined);
      equal(matcher.test, like.matches);
      expectSame(matcher, texts);
      if (like.pieces !== undefined) {
        expectSame(matcher, texts, new PiecesSearch(like.pieces, matcher));
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a text that is looked for first is no more once most strings hold it', () => {
  const texts = Array.from({ length: 5_000 }, (_, index) =>
    index % 3 === 0 || index > 3_000 ? `x/rest/${index}` : `y/${index}`,
  );
  expectSame(compileRegex('/rest/\\d*7$'), texts);
});

test('what needs too many states is found all the same', () => {
  const texts = Array.from({ length: 50 }, (_, index) =>
    Array.from({ length: 400 }, (_, at) =>
      (index * 7919 + at * at * 31) % 13 > 6 ? 'a' : 'b',
    ).join(''),
  );
  expectSame(compileRegex('(?:a|b)*a(?:a|b){18}b(?:a|b)*a(?:ab|ba)'), texts);
});

test('a pattern is refused for a string so long as where it does not lie in a block', () => {
  const pattern = '[ab]*a[ab]{996}[cd]';
  const search = new RegexSearch(compileRegex(pattern));
  const long = 'ab'.repeat(REGEX_TEST_STEPS_MAX / 1_000);
  throws(() => search.test(Buffer.from(long), 0, long.length), { code: 'query_limit' });
  // Without an "a" there is no match, however long the string is.
  equal(search.test(Buffer.from('b'.repeat(long.length)), 0, long.length), false);
  equal(compileRegex(pattern).test('b'.repeat(long.length)), false);
});
