import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { DiskError, type DiskFile } from '../../../ingest/disk/disk.ts';
import { ForwardingDisk } from '../../../ingest/disk/forwarding-disk.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { StartError } from '../../../src/start-error.ts';
import { startedOn } from '../../crash/started-service.ts';
import { FailingDisk } from '../../support/failing-disk.ts';
import { storeAll } from '../../support/store-all.ts';
import { ask, post } from '../harness.ts';

const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const CALL = { path: '/api/endpoints/logs.all?project=p&project_tier=PRO' };
const EVENT = { project: 'p', event_message: 'hello', metadata: {} };

/** A disk that, while it is full, creates files but cannot write bytes. */
class FullDisk extends ForwardingDisk {
  isFull = true;

  override async create(path: string): Promise<DiskFile> {
    const file = await this.below.create(path);
    const write: DiskFile['write'] = async (parts) => {
      if (!this.isFull) return file.write(parts);
      throw new DiskError('written', path, Object.assign(new Error('full'), { code: 'ENOSPC' }));
    };
    return {
      write,
      sync: () => file.sync(),
      checkPlace: () => file.checkPlace(),
      close: () => file.close(),
    };
  }
}

/** A data folder with one stored event. */
async function withStored(use: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-full-'));
  try {
    const first = await startedOn(dataDir);
    assert.equal((await post(first, EDGE, EVENT)).status, 200);
    await storeAll(first.backend, first.clock.us);
    await first.service.stop();
    await use(dataDir);
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

test('a start on a full disk answers calls and refuses posts with the reason until there is room', async () => {
  await withStored(async (dataDir) => {
    const disk = new FullDisk(new NodeDisk());
    const { service, backend, entries, clock, ...app } = await startedOn(dataDir, { disk });
    assert.equal((await ask(app, CALL)).json.result.length, 1);
    const refused = await post(app, EDGE, EVENT);
    assert.deepEqual([refused.status, refused.json.error.code], [503, 'storage_failed']);
    const reason = 'logs cannot be written to disk at present: the disk is full';
    assert.equal(refused.json.error.message, reason);
    assert.equal((await ask(app, { path: '/ready' })).status, 503);
    const health = await ask(app, { path: '/health' });
    assert.deepEqual([health.status, health.json.status], [200, 'degraded']);
    assert(health.text.includes(reason), health.text);
    assert.equal(entries.filter(({ event }) => event === 'log_write_failed').length, 1);
    disk.isFull = false;
    backend.tick(clock.us);
    while (backend.stats().log?.refusal !== undefined) await new Promise(setImmediate);
    assert.equal((await post(app, EDGE, EVENT)).status, 200);
    assert.equal((await ask(app, CALL)).json.result.length, 2);
    assert.equal((await ask(app, { path: '/ready' })).status, 200);
    await service.stop();
    const again = await startedOn(dataDir);
    assert.equal((await ask(again, CALL)).json.result.length, 2);
    await again.service.stop();
  });
});

test('a start without enough file descriptors fails with the path and advice, and leaves nothing behind', async () => {
  await withStored(async (dataDir) => {
    const names = async () => {
      const storePath = await findStorePath(dataDir);
      const stored = (await readdir(storePath, { recursive: true })).sort();
      return [(await readdir(dataDir)).length, ...stored];
    };
    const before = await names();
    for (const [code, advice] of [
      ['EMFILE', /Raise the limit of open files \(ulimit -n/],
      ['ENFILE', /raise the limit of the system \(fs\.file-max\)/],
    ] as const) {
      const disk = new FailingDisk(new NodeDisk());
      disk.faultOf = (step, path) =>
        step === 'open' && path.endsWith('.segment') ? code : undefined;
      await assert.rejects(startedOn(dataDir, { disk }), (error) => {
        assert(error instanceof StartError, String(error));
        assert(error.message.includes(`${dataDir}/store-`), error.message);
        assert.match(error.message, advice);
        return true;
      });
      assert.deepEqual(await names(), before);
    }
  });
});

test('a start that has to write on a full disk fails with the path and advice', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-full-'));
  class NoFolders extends ForwardingDisk {
    override makeFolder(path: string): Promise<void> {
      const cause = Object.assign(new Error('full'), { code: 'ENOSPC' });
      return Promise.reject(new DiskError('made', path, cause));
    }
  }
  try {
    await assert.rejects(startedOn(dataDir, { disk: new NoFolders(new NodeDisk()) }), (error) => {
      assert(error instanceof StartError, String(error));
      const log = join(dataDir, 'store-1', 'log');
      const sentence = `${log} cannot be made: the disk is full. Free some space, then start again`;
      assert(error.message.endsWith(sentence), error.message);
      return true;
    });
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

/** A file system of 1 MiB in memory, mounted while `use` runs. */
async function withSmallDisk(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  try {
    await use(folder);
  } finally {
    execFileSync('umount', [folder]);
    await rm(folder, { recursive: true });
  }
}

/** Writes until no byte is free. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 65_536; size >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}

const skip = canMount() ? false : 'file systems cannot be mounted here';

function canMount(): boolean {
  const script = 'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && umount "$d"; rmdir "$d"';
  return spawnSync('unshare', ['--mount', 'sh', '-c', script]).status === 0;
}

test('a start on a disk without a free byte answers calls, repeatedly, and leaves nothing behind', {
  skip,
}, async () => {
  await withStored(async (stored) => {
    await withSmallDisk(async (small) => {
      const dataDir = join(small, 'data');
      await cp(stored, dataDir, { recursive: true });
      fill(join(small, 'others'));
      for (let start = 0; start < 2; start++) {
        const { service, ...app } = await startedOn(dataDir);
        assert.equal((await ask(app, CALL)).json.result.length, 1);
        assert.equal((await post(app, EDGE, EVENT)).status, 503);
        await service.stop();
        const names = await readdir(dataDir);
        assert.deepEqual(
          names.filter((name) => !/^(?:spare|store-\d+)$/.test(name)),
          [],
        );
      }
    });
  });
});
