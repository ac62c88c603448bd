import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { byteClassesOf } from '../../engine/function/regex/byte-program.ts';

const anyByte = fc.integer({ min: 0, max: 255 });
const anyRange = fc.oneof(
  anyByte.map((byte) => [byte, byte] as const),
  fc
    .tuple(anyByte, anyByte)
    .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const),
);

test('bytes are of one class that are in the same ranges, numbered by their first bytes', () => {
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 60 }), (ranges) => {
      const lows = ranges.map(([low]) => low);
      const highs = ranges.map(([, high]) => high);
      const program = { start: 0, isAtStartOnly: true, instructions: [], entries: [], nexts: [] };
      const classes = byteClassesOf({ ...program, lows, highs });
      const numbers = new Map<string, number>();
      const bytes: number[] = [];
      for (let byte = 0; byte < 256; byte++) {
        const within = ranges.map(([low, high]) => low <= byte && byte <= high).join();
        if (!numbers.has(within)) {
          numbers.set(within, numbers.size);
          bytes.push(byte);
        }
        equal(classes.ofByte[byte], numbers.get(within), `byte ${byte}`);
      }
      equal(classes.count, numbers.size);
      deepEqual(classes.bytes, bytes);
    }),
    { numRuns: 500 },
  );
});
