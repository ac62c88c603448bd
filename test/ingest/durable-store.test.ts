import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealSegment } from '../../engine/column/seal.ts';
import type { OpenSegmentHandle } from '../../engine/column/segment.ts';
import { OPEN_ROWS_MAX } from '../../engine/limits.ts';
import { OverloadError, StorageError } from '../../ingest/ingest-error.ts';
import { FROZEN_SEGMENTS_MAX, SEAL_AGE_US } from '../../ingest/limits.ts';
import { recoverLog } from '../../ingest/log/log-recovery.ts';
import { RecordError } from '../../ingest/log/record-body.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { LogStore, type ReplayOptions } from '../../ingest/log-store.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import { summarizeSegment } from '../../ingest/segment-summary.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { FOLDER } from '../crash/log-model.ts';
import { ModelDisk } from '../support/model-disk.ts';
import { smallBatch } from '../support/small-batch.ts';

const EVERYTHING = { timestampUsStart: -Infinity, timestampUsEnd: Infinity };
const RETENTION_US = 7 * PARTITION_US;
const NOW_US = 20_000 * PARTITION_US;

/** A store with a log on `disk`, filled with what is there. */
async function opened(
  disk: ModelDisk,
  options: {
    seal?: (handle: OpenSegmentHandle) => Promise<SharedArrayBuffer[]>;
    nowUs?: number;
  } = {},
) {
  const store = new LogStore({
    sources: ['a', 'b'],
    retentionUs: RETENTION_US,
    seal: options.seal ?? (async (handle) => sealSegment(handle, { partitionUs: PARTITION_US })),
    summarize: summarizeSegment,
  });
  const recovered = await recoverLog({
    disk,
    folder: FOLDER,
    quarantine: new Quarantine(disk, '/data/quarantine'),
    apply: (record) => store.replay(record, replayAt(options.nowUs ?? NOW_US)),
    onDamage: () => {},
    onProgress: () => {},
  });
  const log = await WriteAheadLog.open({ disk, folder: FOLDER, ...recovered, onEvent: () => {} });
  store.useLog(log);
  return { store, log, recovered };
}

/** Nothing is in segment files. */
function replayAt(nowUs: number): ReplayOptions {
  return { nowUs, retentionNowUs: nowUs, isCovered: () => false };
}

/** For tests that look into open segments: they stay as they are. */
const neverSealed = { seal: () => new Promise<SharedArrayBuffer[]>(() => {}) };

function newDisk(): ModelDisk {
  return new ModelDisk(new Random(1));
}

/** The rows of open segments: arrival and id. */
function rowsOf(store: LogStore, source = 'a'): [arrival: number, id: string][] {
  return store.segments(source, EVERYTHING).flatMap((handle) => {
    assert(handle.kind === 'open');
    const { stringBytes, stringOffsets, ids, arrivals } = handle.arrays;
    return Array.from({ length: handle.rowCount }, (_, row): [number, string] => {
      const code = ids[row]!;
      const bytes = stringBytes.slice(stringOffsets[code]!, stringOffsets[code + 1]!);
      return [arrivals[row]!, Buffer.from(bytes).toString()];
    });
  });
}

test('posts become visible in order, none before its sync, and many share one sync', async () => {
  const disk = newDisk();
  const { store, log } = await opened(disk);
  const seen: number[] = [];
  const posts = Array.from({ length: 200 }, (_, post) =>
    store.append('a', smallBatch([`${post}`], NOW_US)).then(() => {
      seen.push(post);
      assert.equal(rowsOf(store).length >= post + 1, true);
    }),
  );
  assert.deepEqual(rowsOf(store), []);
  await Promise.all(posts);
  assert.deepEqual(
    seen,
    Array.from({ length: 200 }, (_, post) => post),
  );
  assert(log.stats().syncCount < 5, `${log.stats().syncCount} syncs`);
  const after = await opened(disk.afterCrash());
  assert.deepEqual(rowsOf(after.store), rowsOf(store));
});

test('a post that cannot be made durable never becomes visible, but those before and after it do', async () => {
  const disk = newDisk();
  const { store, log } = await opened(disk, neverSealed);
  await store.append('a', smallBatch(['before'], NOW_US));
  disk.faults = { write: 0, sync: 100, other: 0 };
  const lost = store.append('a', smallBatch(['lost', 'lost'], NOW_US));
  await assert.rejects(lost, StorageError);
  assert.deepEqual(rowsOf(store), [[0, 'before']]);
  disk.faults = { write: 0, sync: 0, other: 0 };
  while (log.refusal !== undefined) {
    log.tick(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await store.append('a', smallBatch(['after'], NOW_US));
  // The arrivals of what was lost are not used again.
  const rows = [
    [0, 'before'],
    [3, 'after'],
  ];
  assert.deepEqual(rowsOf(store), rows);
  const again = await opened(disk.afterCrash(), neverSealed);
  assert.deepEqual([rowsOf(again.store), again.recovered.damageCount], [rows, 0]);
});

test('a post that is refused for overload is not written', async () => {
  const disk = newDisk();
  const { store, log } = await opened(disk, neverSealed);
  for (let n = 0; n <= FROZEN_SEGMENTS_MAX; n++) {
    await store.append('a', smallBatch(['x'], NOW_US));
    store.tick(NOW_US + n * SEAL_AGE_US);
    store.tick(NOW_US + (n + 1) * SEAL_AGE_US);
  }
  const before = log.stats().recordCount;
  await assert.rejects(store.append('a', smallBatch(['x'], NOW_US)), OverloadError);
  await store.append('b', smallBatch(['x'], NOW_US));
  assert.equal(log.stats().recordCount, before + 1);
});

test('replayed rows keep their arrival numbers, and new rows continue after them', async () => {
  const disk = newDisk();
  const first = await opened(disk);
  await first.store.append('a', smallBatch(['1', '2'], NOW_US));
  await first.store.append('b', smallBatch(['3'], NOW_US));
  await first.store.append('a', smallBatch(['4'], NOW_US));
  await first.store.close();
  await first.log.close();
  const { store } = await opened(disk);
  await store.append('a', smallBatch(['5'], NOW_US));
  await store.append('b', smallBatch(['6'], NOW_US));
  assert.deepEqual(rowsOf(store), [
    [0, '1'],
    [1, '2'],
    [2, '4'],
    [3, '5'],
  ]);
  assert.deepEqual(rowsOf(store, 'b'), [
    [0, '3'],
    [1, '6'],
  ]);
});

test('a post is replayed if the retention keeps at least one of its rows', async () => {
  const disk = newDisk();
  const { store } = await opened(disk);
  // Partitions go as a whole: the last microsecond of a day is kept as long as its first.
  await store.append('a', smallBatch(['old'], NOW_US - 1));
  await store.append('a', smallBatch(['kept'], NOW_US));
  const rowsAt = async (nowUs: number) =>
    rowsOf((await opened(disk.afterCrash(), { nowUs })).store);
  assert.equal((await rowsAt(NOW_US + RETENTION_US - 1)).length, 2);
  assert.deepEqual(await rowsAt(NOW_US + RETENTION_US), [[1, 'kept']]);
  assert.deepEqual(await rowsAt(NOW_US + PARTITION_US + RETENTION_US - 1), [[1, 'kept']]);
  assert.deepEqual(await rowsAt(NOW_US + PARTITION_US + RETENTION_US), []);
});

test('the log is replayed at the pace of sealing, however long it is', async () => {
  const disk = newDisk();
  const { log } = await opened(disk);
  const posts = 3 * FROZEN_SEGMENTS_MAX;
  // No two of them fit into one open segment.
  const rowCount = OPEN_ROWS_MAX / 2 + 1;
  const batch = smallBatch(new Array(rowCount).fill('x'), NOW_US);
  for (let post = 0; post < posts; post++) {
    await log.append({ source: 'a', receivedUs: 0, arrivalBase: post * rowCount, batch });
  }
  let waiting = 0;
  let waitingMax = 0;
  let failures = 2;
  const { store } = await opened(disk.afterCrash(), {
    seal: async (handle) => {
      waitingMax = Math.max(waitingMax, ++waiting);
      for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
      waiting--;
      if (waiting === 0 && failures-- > 0) throw new Error('no room');
      return sealSegment(handle, { partitionUs: PARTITION_US });
    },
  });
  assert.equal(waitingMax, FROZEN_SEGMENTS_MAX + 1);
  assert.equal(store.stats()[0]!.rowCount, posts * rowCount);
  const seal = () => Promise.reject(new Error('no room'));
  await assert.rejects(opened(disk.afterCrash(), { seal }), {
    message: 'a segment cannot be sealed',
  });
});

test('a record that cannot be applied is reported, and no other record is lost', async () => {
  const disk = newDisk();
  const { store } = await opened(disk, neverSealed);
  await store.append('a', smallBatch(['1'], NOW_US));
  const broken = { ...smallBatch(['2', '3'], NOW_US), slotStarts: Uint32Array.of(0, 5, 0) };
  await assert.rejects(store.append('a', broken));
  await store.append('a', smallBatch(['4'], NOW_US));
  const rows = [
    [0, '1'],
    [3, '4'],
  ];
  assert.deepEqual(rowsOf(store), rows);
  const { store: after, recovered } = await opened(disk.afterCrash(), neverSealed);
  assert.deepEqual(rowsOf(after), rows);
  assert.deepEqual(
    recovered.damages.map(({ reason }) => reason),
    ['not_applicable'],
  );
  await assert.rejects(
    after.replay(
      {
        ...{ source: 'a', sequence: 9, arrivalBase: 9, rowCount: 1, receivedUs: 0 },
        ...{ timestampUsMin: NOW_US, timestampUsMax: NOW_US, batch: () => broken, byteSize: 1 },
      },
      replayAt(NOW_US),
    ),
    RecordError,
  );
  assert.deepEqual(rowsOf(after), rows);
});
