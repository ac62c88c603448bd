import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import {
  computeChecksum,
  decodeBatch,
  decodeEnvelope,
  encodeBody,
} from '../../ingest/log/record-body.ts';
import { idsOf, smallBatch } from '../support/small-batch.ts';

/** From a body of one part to one of many. */
const ROW_COUNTS = [1, 2, 100, 1_000, 3_000];

test('encoding a record does not change earlier ones that are not read yet, short or long', async () => {
  const records = ROW_COUNTS.map((rowCount, arrivalBase) => ({
    source: `source ${rowCount}`,
    receivedUs: rowCount * 7,
    arrivalBase,
    batch: smallBatch(
      Array.from({ length: rowCount }, (_, row) => `id ${row}`),
      rowCount,
    ),
  }));
  const bodies = records.map((record) => encodeBody(record));
  equal(bodies[0]!.parts.length, 1);
  equal(bodies.at(-1)!.parts.length > 1, true);
  for (const [index, body] of bodies.entries()) {
    const { envelopeSize, dataSize, parts } = body;
    const bytes = new Uint8Array(Buffer.concat(parts));
    equal(bytes.length, envelopeSize + dataSize);
    equal(crc32(bytes), await computeChecksum(body));
    const { source, receivedUs, arrivalBase, batch } = records[index]!;
    const envelope = decodeEnvelope(bytes.slice(0, envelopeSize));
    deepEqual(
      [envelope.source, envelope.receivedUs, envelope.arrivalBase, envelope.rowCount],
      [source, receivedUs, arrivalBase, batch.rowCount],
    );
    const decoded = decodeBatch(envelope, bytes.slice(envelopeSize));
    deepEqual(idsOf(decoded), idsOf(batch));
    deepEqual([...decoded.timestampsUs], [...batch.timestampsUs.subarray(0, batch.rowCount)]);
  }
});
