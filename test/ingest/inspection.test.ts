import assert from 'node:assert/strict';
import { copyFile, mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { type Inspection, inspectFolder } from '../../ingest/inspection.ts';
import { RECORD_HEADER_SIZE } from '../../ingest/log/log-layout.ts';
import { headCrc } from '../../ingest/segment-layout.ts';
import { at, DAY, eventsAt, withFolder } from './data-folder.ts';

const EDGE = 'cloudflare.logs.prod';
const AUTH = 'gotrue.logs.prod';

function inspect(path: string): Promise<Inspection> {
  return inspectFolder({ disk: new NodeDisk(), dataDir: path, onProgress: () => {} });
}

test('an empty folder holds nothing, which is no error', async () => {
  await withFolder(async (folder) => {
    await rm(join(folder.path, 'log'), { recursive: true });
    const found = await inspect(folder.path);
    assert.deepEqual([found.sources, found.eventCount, found.span], [[], 0, undefined]);
    assert.deepEqual([found.damages, found.leftovers, found.unknown], [[], [], []]);
    assert.deepEqual(
      [found.log.fileCount, found.segments.fileCount, found.isSettled],
      [0, 0, true],
    );
  });
});

test('events of segment files and of the log are counted once, by source and in all', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1), at(2), at(3)));
    await folder.post(AUTH, eventsAt(at(9)));
    await folder.post(EDGE, eventsAt(at(5), at(6)));
    const [stored] = await folder.store(EDGE, 1);
    const found = await inspect(folder.path);
    assert.deepEqual(
      found.sources.map(({ source, eventCount, span }) => [source, eventCount, span]),
      [
        [EDGE, 5, { timestampUsMin: at(1), timestampUsMax: at(6) }],
        [AUTH, 1, { timestampUsMin: at(9), timestampUsMax: at(9) }],
      ],
    );
    assert.deepEqual(found.span, { timestampUsMin: at(1), timestampUsMax: at(9) });
    assert.equal(found.eventCount, 6);
    const [edge, auth] = found.sources;
    assert.deepEqual(edge!.segments, {
      fileCount: 1,
      eventCount: 3,
      dayCount: 1,
      memorySize: stored!.envelope.imageSize,
      byteSize: (await stat(stored!.path)).size,
      span: { timestampUsMin: at(1), timestampUsMax: at(3) },
      covered: [{ fromSequence: 1, throughSequence: 1 }],
    });
    const { recordCount, eventCount, uncoveredRecordCount, uncoveredEventCount } = edge!.log!;
    assert.deepEqual([recordCount, eventCount], [2, 5]);
    assert.deepEqual([uncoveredRecordCount, uncoveredEventCount], [1, 2]);
    assert.equal(auth!.log!.uncoveredEventCount, 1);
    const { log } = found;
    assert.deepEqual([log.firstSequence, log.lastSequence, log.recordCount], [1, 3, 3]);
    assert.deepEqual([log.uncoveredRecordCount, log.uncoveredEventCount], [2, 3]);
    const { size } = await stat(folder.logFile(1));
    assert.deepEqual([log.fileCount, log.byteSize, log.tailSize], [1, size, 0]);
    const ofSources = found.sources.reduce((sum, source) => sum + source.log!.byteSize, 0);
    // The records, and the header of the file.
    assert.equal(ofSources, size - 64);
  });
});

test("if a segment file has one of a record's two days, the events of the other are in the log only", async () => {
  await withFolder(async (folder) => {
    const far = [at(1), at(2), at(3, DAY + 1), at(4, DAY + 2)];
    await folder.post(EDGE, eventsAt(...far));
    const [first, second, third] = folder.seal(EDGE, 1);
    await folder.add(EDGE, first!, 1);
    await folder.add(EDGE, third!, 1);
    const half = await inspect(folder.path);
    assert.deepEqual([half.eventCount, half.log.uncoveredEventCount], [4, 1]);
    assert.equal(half.log.uncoveredRecordCount, 1);
    assert.equal(half.segments.dayCount, 2);
    await folder.add(EDGE, second!, 1);
    const whole = await inspect(folder.path);
    assert.deepEqual([whole.eventCount, whole.log.uncoveredEventCount], [4, 0]);
    assert.equal(whole.log.uncoveredRecordCount, 0);
  });
});

test('a file that another replaces, and one half written, are left over and not counted', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 4; second++) await folder.post(EDGE, eventsAt(at(second)));
    const files = [...(await folder.store(EDGE, 1, 2)), ...(await folder.store(EDGE, 3, 4))];
    const [old] = files;
    const kept = `${old!.path}.kept`;
    await copyFile(old!.path, kept);
    const merged = await folder.merge(files);
    // As if the process had died before it removed the first.
    await copyFile(kept, old!.path);
    await rm(kept);
    await writeFile(`${merged!.path.replace('0003', '0004')}.tmp`, 'half');
    const found = await inspect(folder.path);
    assert.deepEqual(
      found.leftovers.map(({ kind, byteSize }) => [kind, byteSize]),
      [
        ['temporary', 4],
        ['replaced', old!.byteSize],
      ],
    );
    assert.deepEqual([found.segments.fileCount, found.eventCount], [1, 4]);
    assert.deepEqual(found.sources[0]!.segments.covered, [{ fromSequence: 1, throughSequence: 4 }]);
  });
});

test('a damaged envelope is reported; two lose the file, whose events the log may have', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1), at(2)));
    const [file] = await folder.store(EDGE, 1);
    const path = `segments/${EDGE}/2026-01-15.0000000001.segment`;
    await folder.turn(file!.path, -1);
    const one = await inspect(folder.path);
    assert.deepEqual(one.damages, [{ kind: 'envelope', path, copy: 'back' }]);
    assert.deepEqual([one.segments.eventCount, one.log.uncoveredEventCount], [2, 0]);
    await folder.turn(file!.path, 20);
    const two = await inspect(folder.path);
    assert.deepEqual(two.damages, [
      { kind: 'segment', path, source: EDGE, reason: 'neither of its envelopes is whole' },
    ]);
    assert.deepEqual([two.segments.eventCount, two.log.uncoveredEventCount], [0, 2]);
  });
});

test('a segment file under the name of another is damaged, and not counted', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1)));
    const [file] = await folder.store(EDGE, 1);
    await copyFile(file!.path, file!.path.replace('0001.', '0009.'));
    const { damages, eventCount } = await inspect(folder.path);
    assert.equal(eventCount, 1);
    assert.equal(damages.length, 1);
    const [damage] = damages;
    assert.equal(
      damage!.kind === 'segment' && damage!.reason,
      `it is a copy of segment 1 of ${EDGE}`,
    );
  });
});

/** Where the records of a log file of equal posts begin, and their size. */
async function recordPlaces(path: string, recordCount: number) {
  const size = ((await stat(path)).size - 64) / recordCount;
  return { size, offsetOf: (index: number) => 64 + index * size };
}

test('a flipped bit in the header or body of a record is damage, and loses that record only', async () => {
  for (const inRecord of [0, 30, RECORD_HEADER_SIZE + 9, RECORD_HEADER_SIZE + 200]) {
    await withFolder(async (folder) => {
      for (let second = 1; second <= 4; second++) await folder.post(EDGE, eventsAt(at(second)));
      const path = folder.logFile(1);
      const { size, offsetOf } = await recordPlaces(path, 4);
      await folder.turn(path, offsetOf(1) + inRecord);
      const found = await inspect(folder.path);
      assert.deepEqual(found.damages, [
        {
          ...{ kind: 'log', path: 'log/00000001.log', offset: offsetOf(1), size },
          ...{ reason: 'record', recordsLost: 1, firstSequence: 2 },
        },
      ]);
      assert.deepEqual([found.log.recordCount, found.log.recordsLost, found.eventCount], [3, 1, 3]);
      assert.equal(found.damageCount, 1);
    });
  }
});

test('a write that was cut off at the end of the newest log file is no damage', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 3; second++) await folder.post(EDGE, eventsAt(at(second)));
    const path = folder.logFile(1);
    const { size, offsetOf } = await recordPlaces(path, 3);
    for (const left of [size - 1, 8, 1, 0]) {
      await truncate(path, offsetOf(2) + left);
      const { damages, log } = await inspect(folder.path);
      assert.deepEqual([damages, log.recordCount, log.tailSize], [[], 2, left]);
    }
  });
});

test('records missing at the end of an older log file are damage; a trimmed log is not', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 6; second++) await folder.post(EDGE, eventsAt(at(second)));
    // Each file takes two.
    const { size, offsetOf } = await recordPlaces(folder.logFile(2), 2);
    await truncate(folder.logFile(2), offsetOf(1));
    const found = await inspect(folder.path);
    assert.deepEqual(found.damages, [
      {
        ...{ kind: 'log', path: 'log/00000002.log', offset: 64 + size, size: 0 },
        ...{ reason: 'missing', recordsLost: 1, firstSequence: 4 },
      },
    ]);
    await rm(folder.logFile(1));
    await rm(folder.logFile(2));
    const trimmed = await inspect(folder.path);
    assert.deepEqual([trimmed.damages, trimmed.eventCount, trimmed.log.fileCount], [[], 2, 1]);
  }, 1200);
});

test('a file of another version is listed and not read, and other files are read', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 6; second++) await folder.post(EDGE, eventsAt(at(second)));
    const [file] = await folder.store(EDGE, 1);
    const segment = await readFile(file!.path);
    for (const head of [0, segment.length - 16]) {
      const size = segment.readUInt32LE(head + 8);
      const envelope = head === 0 ? 16 : head - size;
      segment.writeUInt32LE(7, head + 4);
      const crc = headCrc(
        segment.subarray(head, head + 16),
        segment.subarray(envelope, envelope + size),
      );
      segment.writeUInt32LE(crc, head + 12);
    }
    await writeFile(file!.path, segment);
    const log = await readFile(folder.logFile(2));
    log.writeUInt32LE(9, 8);
    log.writeUInt32LE(crc32(log.subarray(0, 60)), 60);
    await writeFile(folder.logFile(2), log);
    const found = await inspect(folder.path);
    assert.deepEqual(found.damages, []);
    assert.deepEqual(
      found.unchecked.map(({ reason }) => reason),
      [
        `${file!.path} is a segment file of version 7; this program reads versions 1 to 3`,
        `${folder.logFile(2)} must be of version 1; got version 9`,
      ],
    );
    assert.deepEqual([found.segments.fileCount, found.log.recordCount], [0, 4]);
  }, 1200);
});

test('unknown names are listed, and files in quarantine are counted', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1)));
    await folder.store(EDGE, 1);
    await writeFile(join(folder.path, 'segments', '.DS_Store'), '');
    await writeFile(join(folder.path, 'segments', EDGE, 'notes.txt'), '');
    await writeFile(join(folder.path, 'log', 'copy.log'), '');
    await mkdir(join(folder.path, 'quarantine'));
    await writeFile(join(folder.path, 'quarantine', 'one'), '12345');
    const found = await inspect(folder.path);
    assert.deepEqual(found.unknown, [
      'segments/.DS_Store',
      `segments/${EDGE}/notes.txt`,
      'log/copy.log',
    ]);
    assert.deepEqual(found.quarantine, { fileCount: 1, byteSize: 5 });
    assert.equal(found.eventCount, 1);
  });
});

test('the files it lists add up to its totals', async () => {
  await withFolder(async (folder) => {
    await folder.post(EDGE, eventsAt(at(1), at(2, DAY + 1)));
    await folder.post(AUTH, eventsAt(at(3)));
    await folder.store(EDGE, 1);
    await folder.store(AUTH, 2);
    const { files, segments } = await inspect(folder.path);
    assert.deepEqual(
      files.map(({ source, partition, eventCount }) => [source, partition, eventCount]),
      [
        [EDGE, DAY, 1],
        [EDGE, DAY + 1, 1],
        [AUTH, DAY, 1],
      ],
    );
    const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
    assert.equal(sum(files.map(({ byteSize }) => byteSize)), segments.byteSize);
    assert.equal(sum(files.map(({ memorySize }) => memorySize)), segments.memorySize);
  });
});

test('nothing is written or touched', async () => {
  await withFolder(async (folder) => {
    for (let second = 1; second <= 3; second++) await folder.post(EDGE, eventsAt(at(second)));
    const [file] = await folder.store(EDGE, 1);
    await folder.turn(file!.path, 3);
    await folder.turn(folder.logFile(1), 100);
    await truncate(folder.logFile(1), (await stat(folder.logFile(1))).size - 5);
    await writeFile(`${file!.path}.tmp`, 'half');
    const before = await folder.contents();
    const found = await inspect(folder.path);
    assert.equal(found.damageCount, 2);
    assert.deepEqual(await folder.contents(), before);
  });
});
