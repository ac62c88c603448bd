import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { repairUtf8 } from '../../ingest/utf8-repair.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';

/** Bytes that begin, go on with and break characters of every length. */
const BYTES = [
  0x41, 0x7f, 0x80, 0xa0, 0xbf, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff,
];
const part = fc.oneof(
  fc.constantFrom(...BYTES).map((byte) => Buffer.of(byte)),
  fc.string({ unit: anyCodePoint, maxLength: 3 }).map((text) => Buffer.from(text)),
);

test('a repaired body equals the result of a WHATWG decoder, however it is cut into pieces', async () => {
  const property = fc.asyncProperty(fc.array(fc.array(part, { maxLength: 4 })), async (bodies) => {
    const pieces = bodies.map((parts) => Buffer.concat(parts));
    const whole = Buffer.concat(pieces);
    const repaired = Buffer.concat(await repairUtf8(pieces));
    assert.equal(
      repaired.toString('utf8'),
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole),
    );
    // Formats that repair a text at a time do it so.
    assert.equal(whole.toString('utf8'), repaired.toString('utf8'));
  });
  await fc.assert(property, { numRuns: runsOf(2_000) });
});
