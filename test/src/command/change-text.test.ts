import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { changeText } from '../../../src/command/change-text.ts';
import { readCopy } from '../../../src/command/definition-copy.ts';
import { DIFF_LINES_MAX } from '../../../src/limits.ts';
import { fileOf } from '../definition/service-with-definitions.ts';

const HEADER = fileOf(1, 'app.count', '').trimEnd();

function copyOf(lines: readonly string[], end: string) {
  return readCopy('copy', `${HEADER}\nSELECT 1\n${lines.join('\n')}${end}`);
}

const LINES = fc.array(fc.constantFrom('a', 'b', '  c', '-- d', ''), { maxLength: 20 });
const END = fc.constantFrom('\n', '', '\n\n');

test('law: the shown diff is a patch that makes the change', () => {
  fc.assert(
    fc.property(LINES, END, LINES, END, (left, leftEnd, right, rightEnd) => {
      const [before, after] = [copyOf(left, leftEnd), copyOf(right, rightEnd)];
      equal(applyPatch(before.fileText, changeText({ before, after })), after.fileText);
      equal(applyPatch('', changeText({ before: undefined, after })), after.fileText);
      equal(applyPatch(before.fileText, changeText({ before, after: undefined })), '');
    }),
  );
});

test('texts with little in common are shown whole, the old one first', () => {
  const lines = (word: string) => Array.from({ length: DIFF_LINES_MAX }, (_, row) => word + row);
  const [before, after] = [copyOf(lines('x'), '\n'), copyOf(lines('y'), '\n')];
  const text = changeText({ before, after });
  equal(applyPatch(before.fileText, text), after.fileText);
  match(text, /^-x0$/m);
  match(text, /^-SELECT 1$/m);
  match(text, /^\+SELECT 1$/m);
});
