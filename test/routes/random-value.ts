import type { Random } from '../../src/demo/traffic/random.ts';

/** Texts that have broken one service or another. */
const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nX-Injected: 1',
  '\u2028\u2029',
  '\ud800',
  '\ufeff',
  'İıſK',
  '😀'.repeat(40),
  'e\u0301'.repeat(30),
  '../../../../etc/passwd',
  '00000000-0000-4000-8000-000000000000',
  '%00',
  '%',
  '%zz',
  '%c0%ae',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-0',
  '0x10',
  '1e999',
  '9'.repeat(400),
  '9223372036854775808',
  '-9223372036854775809',
  '99999999999999999999.5',
  "' OR 1=1 --",
  '`; DROP TABLE logs',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '(a+)+$',
  '(',
  '[',
  '*',
  'a{1000}{1000}',
  '2026-13-45T99:99:99Z',
  '2026-01-15T12:00:00+99:99',
  '0000-00-00',
  '+275760-09-13T00:00:00Z',
  'true',
  'TRUE',
  'A'.repeat(9_000),
];

const WORDS: readonly string[] = [
  'alpha',
  'beta',
  'logs',
  'low',
  'high',
  '1hr',
  'x',
  '7',
  '2026-01-15',
];

/** A text that may mean anything. */
export function randomText(random: Random): string {
  switch (random.below(4)) {
    case 0:
      return random.pick(WORDS);
    case 1:
      return String.fromCharCode(
        ...Array.from({ length: random.below(12) }, () => random.below(0x10000)),
      );
    case 2:
      return String(random.below(2) === 0 ? random.below(1e9) : -random.next() * 1e12);
    default:
      return random.pick(ODD_TEXTS);
  }
}

/** Values of JSON, most of them shallow. */
export function randomJson(random: Random, depth = 3): unknown {
  switch (random.below(depth === 0 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return random.below(2) === 0;
    case 2:
      return random.pick([0, -1, 1.5, 1e308, 2 ** 53, -(2 ** 63), random.below(1000)]);
    case 3:
    case 4:
      return randomText(random);
    case 5:
      return Array.from({ length: random.below(4) }, () => randomJson(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [
          randomText(random),
          randomJson(random, depth - 1),
        ]),
      );
  }
}

/** JSON that no `JSON.stringify` writes, and texts that only look like it. */
export function hostileJson(random: Random): string {
  const depth = random.pick([10, 500, 20_000, 300_000]);
  return random.pick([
    () => '['.repeat(depth),
    () => `${'['.repeat(depth)}${']'.repeat(depth)}`,
    () => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    () => `{"a":${'9'.repeat(depth)}}`,
    () => `{"a":1e${'9'.repeat(20)}}`,
    () => '{"a":1,"a":2,"__proto__":{"b":1},"constructor":null}',
    () => '{"a":"\ud800\\ud800\\u0000"}',
    () => '{"a":\u0000}',
    () => '\ufeff{}',
    () => '{"a":1}{"b":2}',
    () => "{'a':1}",
    () => '{"a":1,}',
    () => '{"a":.5,"b":+1,"c":01}',
    () => 'NaN',
    () => '',
    () => '{}\n{}\n\n5\n{',
    () => `[${'{},'.repeat(random.below(3_000))}{}]`,
    () => `{"batch":${JSON.stringify(randomJson(random))}}`,
  ])();
}

/** The bytes with some of them changed, left out or doubled. */
export function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (copy.length === 0) return Buffer.from([random.below(256)]);
  const at = random.below(copy.length);
  switch (random.below(4)) {
    case 0:
      copy[at] = random.below(256);
      return copy;
    case 1:
      return copy.subarray(0, at);
    case 2:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(random.below(copy.length))]);
    default:
      return Buffer.concat([copy, Buffer.from([random.below(256), 0xff, 0])]);
  }
}
