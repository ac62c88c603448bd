import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compileLike } from '../../engine/function/text/like.ts';
import { compileRegex } from '../../engine/function/text/regular-expression.ts';

test('an expression matches anywhere, as RE2 reads it', () => {
  assert.equal(compileRegex('b+c').test('abbc'), true);
  assert.equal(compileRegex('^b').test('ab'), false);
  assert.equal(compileRegex('(?i)ABC').test('xabcx'), true);
  assert.equal(compileRegex('^.$').test('😀'), true);
  assert.equal(compileRegex('').test(''), true);
});

test('an expression without operators is known as plain text', () => {
  const table: readonly [string, string | undefined][] = [
    ['/rest/v1', '/rest/v1'],
    ['abcdefgh\\.example\\.co', 'abcdefgh.example.co'],
    ['it\\-s \\[1\\]', 'it-s [1]'],
    ['', ''],
    ['日本', '日本'],
    ['a.b', undefined],
    ['a|b', undefined],
    ['(?i)a', undefined],
    ['\\d', undefined],
    ['\\n', undefined],
    ['a{2}', undefined],
    ['\ud83d', undefined],
  ];
  for (const [pattern, literal] of table)
    assert.equal(compileRegex(pattern).literal, literal, pattern);
});

test('searching for the plain text is the same as running the expression', () => {
  const pattern = fc.array(fc.constantFrom('a', 'b', '\\.', '.', '\\-', '/', '\\/', '_', '😀'), {
    maxLength: 4,
  });
  const text = fc.array(fc.constantFrom('a', 'b', '.', '-', '/', '_', '😀'), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (pieces, characters) => {
      const source = pieces.join('');
      const subject = characters.join('');
      assert.equal(compileRegex(source).test(subject), RE2JS.compile(source).test(subject));
    }),
    { numRuns: 1000 },
  );
});

test('what RE2 does not take is refused with the pattern and the reason', () => {
  assert.throws(() => compileRegex('a('), {
    code: 'invalid_regular_expression',
    message: /^regular expression "a\(" is not valid: missing closing \)/,
  });
  for (const pattern of ['[', '*', 'a{2000}', '(?=a)', '\\1', 'a\\']) {
    assert.throws(() => compileRegex(pattern), { code: 'invalid_regular_expression' }, pattern);
  }
});

test('an expression has at most 1024 bytes of UTF-8', () => {
  assert.equal(compileRegex('é'.repeat(512)).test('é'), false);
  assert.throws(() => compileRegex(`${'é'.repeat(512)}a`), /at most 1024 bytes; got 1025/);
});

test('an expression that ruins backtracking engines runs in linear time', () => {
  const startMs = performance.now();
  assert.equal(compileRegex('(a+)+$').test(`${'a'.repeat(20_000)}b`), false);
  assert.ok(performance.now() - startMs < 5_000);
});

test('far more expressions than are kept still work', () => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 600; index++) {
      assert.equal(compileRegex(`^a{3}${index}$`).test(`aaa${index}`), true);
    }
  }
});

test('LIKE takes % for any text, _ for one code point, and escapes', () => {
  const table: readonly [string, string, boolean][] = [
    ['abc', 'abc', true],
    ['abc', 'ABC', false],
    ['abc', 'a%', true],
    ['abc', '%c', true],
    ['abc', '%b%', true],
    ['abc', 'a%b%c', true],
    ['abc', 'a%c%b', false],
    ['ab', 'ab%ab', false],
    ['a😀b', 'a_b', true],
    ['a😀b', 'a__b', false],
    ['a\nb', 'a%b', true],
    ['a\nb', 'a_b', true],
    ['100%', '100\\%', true],
    ['1000', '100\\%', false],
    ['a_b', 'a\\_b', true],
    ['axb', 'a\\_b', false],
    ['a\\b', 'a\\\\b', true],
    ['', '', true],
    ['', '%', true],
    ['', '_', false],
    ['a.c', 'a._', true],
    ['abc', 'a._', false],
  ];
  for (const [text, pattern, wanted] of table) {
    assert.equal(compileLike(pattern).matches(text), wanted, `${text} LIKE ${pattern}`);
  }
  assert.throws(() => compileLike('a\\'), /must not end in a lone backslash/);
  assert.throws(() => compileLike('_\\'), /must not end in a lone backslash/);
});

test('LIKE patterns are told apart by what they come to', () => {
  const table: readonly [string, string, string][] = [
    ['abc', 'equals', 'abc'],
    ['', 'equals', ''],
    ['a\\%c%', 'prefix', 'a%c'],
    ['%abc', 'suffix', 'abc'],
    ['%%abc%', 'contains', 'abc'],
    ['%', 'contains', ''],
    ['a%c', 'general', ''],
    ['%a_', 'general', ''],
  ];
  for (const [pattern, kind, text] of table) {
    const like = compileLike(pattern);
    assert.deepEqual([like.kind, like.text], [kind, text], pattern);
  }
});

test('LIKE agrees with the expression that says the same', () => {
  const pattern = fc.array(fc.constantFrom('a', 'b', '%', '_', '😀'), { maxLength: 6 });
  const text = fc.array(fc.constantFrom('a', 'b', '😀'), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (pieces, characters) => {
      const source = pieces
        .map((each) => (each === '%' ? '.*' : each === '_' ? '.' : each))
        .join('');
      const subject = characters.join('');
      const wanted = new RegExp(`^(?:${source})$`, 'su').test(subject);
      assert.equal(compileLike(pieces.join('')).matches(subject), wanted);
    }),
    { numRuns: 2000 },
  );
});
