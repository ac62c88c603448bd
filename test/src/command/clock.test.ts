import { deepEqual, equal, match } from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ClockFile } from '../../../ingest/clock-file.ts';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { LockFile } from '../../../ingest/lock-file.ts';
import { provisionalState, trustedState } from '../../../ingest/retention-clock.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';

const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;
const HOUR_US = 3_600_000_000;

type Weir = (...words: string[]) => Promise<Ended>;

/**
 * Calls `work` with the data folder of a service whose clock leapt by a day and an hour, and which
 * waited for 90 minutes.
 */
async function inFolder(work: (weir: Weir, path: string) => Promise<void>): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), 'weir-clock-'));
  try {
    await mkdir(join(path, 'store-1', 'segments'), { recursive: true });
    await (await fileIn(path)).write({
      ...trustedState(NOW_US),
      ...{ trustedUs: NOW_US - 25 * HOUR_US, heldUs: 1.5 * HOUR_US },
    });
    await work((...words) => runWeir(['clock', path, ...words], { nowUs: NOW_US }), path);
  } finally {
    await rm(path, { recursive: true });
  }
}

async function fileIn(path: string): Promise<ClockFile> {
  return new ClockFile(new NodeDisk(), await findStorePath(path));
}

test('the trusted time and the wait are shown, and nothing is changed', async () => {
  await inFolder(async (weir, path) => {
    const before = await (await fileIn(path)).read();
    deepEqual(await weir(), {
      status: 0,
      out: [
        'clock         2026-01-15T12:00:00.000Z',
        'trusted time  2026-01-14T11:00:00.000Z',
        'wait          1.5 of 24 h are over',
        '',
      ].join('\n'),
      err: '',
    });
    deepEqual(await (await fileIn(path)).read(), before);
    deepEqual((await readdir(join(path, 'store-1'))).sort(), ['clock', 'segments']);
    await (await fileIn(path)).write(provisionalState(NOW_US));
    match((await weir()).out, /^wait {10}0 of 24 h are over$/m);
    await rm(join(path, 'store-1', 'clock'));
    match((await weir()).out, /^trusted time {2}none is kept yet$/m);
  });
});

test('--trust makes the machine’s time the trusted one', async () => {
  await inFolder(async (weir, path) => {
    const { status, out, err } = await weir('--trust');
    deepEqual([status, err], [0, '']);
    match(out, /^trusted time {2}2026-01-15T12:00:00\.000Z\n$/m);
    deepEqual(await (await fileIn(path)).read(), trustedState(NOW_US));
    // The command has released its lock.
    deepEqual((await readdir(path)).sort(), ['spare', 'store-2']);
    deepEqual((await readdir(join(path, 'store-2'))).sort(), ['clock', 'segments']);
  });
});

test('--trust does not change the folder of a running service', async () => {
  await inFolder(async (weir, path) => {
    const before = await (await fileIn(path)).read();
    const lock = await LockFile.take(join(path, 'lock'), NOW_US);
    try {
      const { status, err } = await weir('--trust');
      equal(status, 1);
      match(err, /in use.*Stop the service that runs there first/s);
      equal((await weir()).status, 0);
    } finally {
      await lock.release();
    }
    deepEqual(await (await fileIn(path)).read(), before);
  });
});

test('a damaged clock is reported, and --trust replaces it', async () => {
  await inFolder(async (weir, path) => {
    await writeFile(join(path, 'store-1', 'clock'), '{}\n');
    const { status, err } = await weir();
    deepEqual([status, err], [1, `${path}/store-1/clock is damaged; --trust replaces it\n`]);
    equal((await weir('--trust')).status, 0);
    deepEqual(await (await fileIn(path)).read(), trustedState(NOW_US));
  });
});
