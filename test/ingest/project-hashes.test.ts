import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { ProjectHashes } from '../../ingest/project-hashes.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { packSegment } from '../../ingest/segment-packing.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { batchOf } from '../column/batch-of.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { MemoryDisk } from './memory-disk.ts';

function hashesOf(keys: readonly string[]): ProjectHashes {
  const encoded = keys.map(encodeWtf8);
  const offsets = new Uint32Array(keys.length + 1);
  for (const [index, { length }] of encoded.entries())
    offsets[index + 1] = offsets[index]! + length;
  return new ProjectHashes({ bytes: Buffer.concat(encoded), offsets });
}

test('no present project is missed, whatever its name', () => {
  const names = fc.uniqueArray(fc.string({ unit: anyCodePoint, maxLength: 30 }), { maxLength: 60 });
  fc.assert(
    fc.property(names, (keys) => {
      const hashes = hashesOf(keys);
      for (const key of keys) assert.ok(hashes.mayHold(key), JSON.stringify(key));
      assert.equal(hashes.byteSize, 4 * keys.length);
    }),
  );
  assert.equal(hashesOf([]).mayHold(''), false);
});

test('none of 2,000 absent projects is taken for one of 2,000 present ones', () => {
  const names = (prefix: string) => Array.from({ length: 2_000 }, (_, n) => `${prefix}${n * 7919}`);
  const hashes = hashesOf(names('project'));
  const taken = names('other').filter((key) => hashes.mayHold(key));
  assert.ok(taken.length <= 1, `${taken.length} are taken`);
});

for (const [what, mixed] of [
  ['one project each', []],
  ['several', [{ timestampUs: 3, projectKey: MIXED_PROJECTS } as const]],
] as const) {
  test(`a file has the same projects as its segment, with events of ${what}`, async () => {
    const events = [
      { timestampUs: 1, projectKey: 'a' },
      { timestampUs: 2 },
      { timestampUs: 9, projectKey: 'é' },
      ...mixed,
    ];
    const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
    segment.append(batchOf(events), 0, events.length);
    segment.publish();
    const [buffer] = sealSegment(segment.handle(), { partitionUs: 86_400_000_000 });
    const origin = { id: 1, source: 's', partition: 0, covered: [], replaced: [], awaits: [] };
    const { parts } = packSegment(packImage(buffer!), origin);
    const disk = new MemoryDisk();
    disk.put('/s/1', Buffer.concat(parts));
    const summary = await (await SegmentFile.open(disk, '/s/1')).summary();
    for (const { mayHoldProject, ...numbers } of [summarizeSegment(buffer!), summary!]) {
      assert.deepEqual(
        ['a', 'é', 'b'].map((key) => mayHoldProject(key)),
        [true, true, mixed.length > 0],
      );
      assert.deepEqual(numbers, {
        ...{ rowCount: events.length, timestampUsMin: 1, timestampUsMax: 9 },
        arrivalMax: events.length - 1,
        byteSize: buffer!.byteLength,
        projectCount: 2,
        ...(mixed.length > 0 ? {} : { indexSize: 8 }),
      });
    }
  });
}
