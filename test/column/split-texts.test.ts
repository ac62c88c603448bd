import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  SPLIT_TEXTS_BYTES_MAX,
  SPLIT_TEXTS_MAX,
  SplitTexts,
} from '../../engine/column/split-strings.ts';
import { runsOf } from '../support/budget.ts';

function rangeOf(text: string) {
  const bytes = new Uint8Array(Buffer.from(`<${text}>`));
  return { bytes, start: 1, end: bytes.length - 1 };
}

test('strings kept end to end are found in any order', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.nat(10_000), fc.string({ maxLength: 400 })), {
        minLength: 1,
        maxLength: 40,
        selector: ([code]) => code,
      }),
      (strings) => {
        const byCode = new Map(strings);
        const codes = Uint32Array.from(byCode.keys()).sort();
        const texts = SplitTexts.of(codes, (code) => rangeOf(byCode.get(code)!));
        ok(texts !== undefined);
        for (const [code, text] of [
          ...strings,
          ...[...codes].map((code) => [code, byCode.get(code)!] as const),
        ]) {
          const { bytes, start, end } = texts.find(code);
          deepEqual(Buffer.from(bytes.subarray(start, end)), Buffer.from(text));
        }
      },
    ),
    { numRuns: runsOf(100) },
  );
});

test('too many strings, and too long ones, are not kept', () => {
  const codes = (count: number) => Uint32Array.from({ length: count }, (_, code) => code);
  const short = rangeOf('x');
  equal(SplitTexts.of(codes(SPLIT_TEXTS_MAX), () => short)?.block.bytes.length, SPLIT_TEXTS_MAX);
  equal(
    SplitTexts.of(codes(SPLIT_TEXTS_MAX + 1), () => short),
    undefined,
  );
  const half = rangeOf('x'.repeat(SPLIT_TEXTS_BYTES_MAX / 2));
  equal(SplitTexts.of(codes(2), () => half)?.block.bytes.length, SPLIT_TEXTS_BYTES_MAX);
  equal(
    SplitTexts.of(codes(3), () => half),
    undefined,
  );
  equal(SplitTexts.of(codes(0), () => short)?.block.bytes.length, 0);
});
