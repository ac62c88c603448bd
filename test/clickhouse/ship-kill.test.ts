// In a process of its own: ClickHouse has one folder open in a process.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { forkProgram } from '../support/program-words.ts';
import { smallBatch } from '../support/small-batch.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { makeDatabase } from './events-database.ts';
import { HttpDoor } from './http-door.ts';

const RECORDS = 30;
const DAYS = 3;

/**
 * A start makes the checkpoint and its copy, by renames 1 and 2; an interval is begun by two more and ended by two, and
 * sent by an insert for each day and one for the numbers.
 */
const KILLS = [
  ...['rename 3', 'rename 4', 'insert 2', 'acknowledged 3', 'append 1', 'appended 1'],
  ...['rename 5', 'rename 6'],
];

suite('a shipper is killed', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let folder: string;
  const ids: string[] = [];

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
    folder = await mkdtemp(join(tmpdir(), 'weir-ship-'));
  });

  after(async () => {
    await door.close();
    await chdb.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function makeLog(name: string): Promise<string> {
    makeDatabase(chdb);
    ids.length = 0;
    const dataDir = join(folder, name);
    await mkdir(join(dataDir, 'log'), { recursive: true });
    const log = await WriteAheadLog.open({
      ...{ disk: new NodeDisk(), folder: join(dataDir, 'log'), files: [], nextSequence: 1 },
      ...{ durableBefore: 1, nextNumber: 1, onEvent: () => {} },
    });
    for (let record = 0; record < RECORDS; record++) {
      const own = [`${record}-a`, `${record}-b`];
      const batch = smallBatch(own, (20_000 + (record % DAYS)) * PARTITION_US);
      await log.append({ source: 's', receivedUs: 0, arrivalBase: 0, batch });
      ids.push(...own);
    }
    await log.close();
    return dataDir;
  }

  function start(dataDir: string, killedBefore = ''): ChildProcess {
    return forkProgram('test/clickhouse/shipping-process.ts', {
      env: {
        ...process.env,
        SHIPPED_DATA: dataDir,
        SHIPPED_BEFORE: String(RECORDS + 1),
        SHIPPED_URL: door.url,
        KILLED_BEFORE: killedBefore,
      },
    });
  }

  async function expectWhole(dataDir: string): Promise<void> {
    const [code] = await once(start(dataDir), 'exit');
    assert.equal(code, 0);
    const sql =
      'SELECT groupArray(id) FROM (SELECT id FROM weir.events ORDER BY gateway, sequence, event)';
    assert.deepEqual(chdb.rows(sql), [[ids]]);
  }

  for (const kill of KILLS) {
    test(`before ${kill}: the next one goes on, and each event is there once`, async () => {
      const dataDir = await makeLog(kill);
      const [, signal] = await once(start(dataDir, kill), 'exit');
      assert.equal(signal, 'SIGKILL');
      await expectWhole(dataDir);
    });
  }

  test('after an insert has happened and before it is answered: it is sent again, and is there once', async () => {
    const dataDir = await makeLog('answer');
    const child = start(dataDir);
    const exited = once(child, 'exit');
    let insertCount = 0;
    door.beforeAnswer = async () => {
      if (++insertCount !== 2) return;
      child.kill('SIGKILL');
      await exited;
    };
    const [, signal] = await exited;
    assert.equal(signal, 'SIGKILL');
    door.beforeAnswer = () => {};
    await expectWhole(dataDir);
  });
});
