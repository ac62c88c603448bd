import { equal, match, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isMistyped, newTokenText } from '../../../src/access/token-text.ts';

test('generated tokens have the right form and checksum, and differ', () => {
  const first = newTokenText();
  match(first, /^weir_[0-9A-Za-z]{49}$/);
  notEqual(newTokenText(), first);
  for (let count = 0; count < 100; count++) equal(isMistyped(newTokenText()), false);
});

test('a token with one character changed, removed, added or swapped counts as mistyped', () => {
  const token = newTokenText();
  const place = fc.integer({ min: 'weir_'.length, max: token.length - 1 });
  fc.assert(
    fc.property(place, fc.constantFrom(...'aZ09-'), (at, other) => {
      const [before, after] = [token.slice(0, at), token.slice(at + 1)];
      const swapped = before + after.slice(0, 1) + token[at] + after.slice(1);
      for (const text of [
        before + other + after,
        before + after,
        before + other + token.slice(at),
        swapped,
      ]) {
        equal(isMistyped(text), text !== token);
      }
    }),
  );
});

test('a text without the prefix of generated tokens never counts as mistyped', () => {
  for (const text of ['', 'secret', 'Weir_x', 'xweir_', 'weir']) equal(isMistyped(text), false);
});
