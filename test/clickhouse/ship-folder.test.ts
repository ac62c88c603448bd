// In a process of its own: ClickHouse has one folder open in a process.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { LockFile } from '../../ingest/lock-file.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { ClickHouseTable } from '../../src/clickhouse/event-table.ts';
import {
  readShipped,
  ShipCheckpoint,
  ShipCheckpointError,
} from '../../src/clickhouse/ship-checkpoint.ts';
import { Shipper } from '../../src/clickhouse/shipper.ts';
import { createClock } from '../../src/clock.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { parseSettings } from '../../src/settings.ts';
import type { Backend } from '../../src/store/backend.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type Ended, runWeir } from '../support/command-under-test.ts';
import { forkProgram } from '../support/program-words.ts';
import { smallBatch } from '../support/small-batch.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { connectionTo, DATABASE, makeDatabase } from './events-database.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { GrownFolder, NOW_US } from './grown-folder.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse } from './service-on-clickhouse.ts';

const POSTS = 40;

/** The checkpoint and its copy are made by renames 1 and 2, and two more note each file and the end of the move. */
const KILLS = [
  ...['rename 1', 'rename 2', 'rename 3', 'rename 4', 'rename 7'],
  ...['insert 1', 'acknowledged 1', 'insert 4', 'acknowledged 20'],
];

suite('a folder is moved', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let lived: GrownFolder;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
    lived = await GrownFolder.make(new Random(1));
    await lived.live(POSTS);
  });

  after(async () => {
    await lived.remove();
    await door.close();
    await chdb.close();
  });

  /** A folder that has lived, and an empty table. */
  function grown(): Promise<GrownFolder> {
    makeDatabase(chdb);
    return lived.copy();
  }

  function environment(url = door.url): Record<string, string> {
    // ClickHouse has a clock of its own: these events must not be old to it.
    return { CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: DATABASE, RETENTION_DAYS: '3650' };
  }

  function ship(path: string, url?: string): Promise<Ended> {
    return runWeir(['ship', path], { environment: environment(url), nowUs: NOW_US });
  }

  function verify(path: string, ...words: readonly string[]): Promise<Ended> {
    const world = { environment: environment(), nowUs: NOW_US };
    return runWeir(['verify', path, '--store', ...words], world);
  }

  async function start(folder: GrownFolder, killedBefore: string): Promise<ChildProcess> {
    return forkProgram('test/clickhouse/moving-process.ts', {
      env: {
        ...process.env,
        MOVED_FOLDER: await folder.storePath(),
        MOVED_URL: door.url,
        KILLED_BEFORE: killedBefore,
      },
    });
  }

  async function killed(folder: GrownFolder, killedBefore: string): Promise<void> {
    const [, signal] = await once(await start(folder, killedBefore), 'exit');
    assert.equal(signal, 'SIGKILL', 'the step came');
  }

  /** The events that the table has, in the order of arrival in each source. */
  function found(): readonly (readonly unknown[])[] {
    const rows = chdb.rows<readonly string[]>(
      `SELECT source, id, hex(project), is_mixed, hex(event_message), ifNull(posted_body, body)
        FROM ${DATABASE}.events ORDER BY source, sequence, event`,
    );
    return rows.map((row) => row);
  }

  function wantedOf(folder: GrownFolder): readonly (readonly unknown[])[] {
    return folder.expected().map(([source, id, project, isMixed, message, body]) => {
      return [source, id, hexOf(project), isMixed, message === null ? null : hexOf(message), body];
    });
  }

  function expectMoved(folder: GrownFolder): void {
    assert.deepEqual(found(), wantedOf(folder));
    const unreadable = chdb.rows(`SELECT id FROM ${DATABASE}.events WHERE NOT is_readable`);
    assert.deepEqual(unreadable, []);
  }

  test('with all of its sources, days and projects; then nothing more is sent', async () => {
    const folder = await grown();
    const { status, out, err } = await ship(folder.path);
    assert.deepEqual([status, err], [0, '']);
    const eventCount = folder.expected().length;
    assert.match(out, new RegExp(`^sent {11}${eventCount} events\n`));
    expectMoved(folder);
    const again = await ship(folder.path);
    assert.match(
      again.out,
      /^the service has sent this folder before; sent the rest of its log: 0 events\n$/,
    );
    expectMoved(folder);
    await expectServiceSendsNothing(folder);
    await folder.remove();
  });

  async function expectServiceSendsNothing(folder: GrownFolder): Promise<void> {
    const store = await folder.storePath();
    const shipped = await readShipped(new NodeDisk(), store);
    const nextSequence = shipped!.shippedBefore;
    const checkpoint = await ShipCheckpoint.open({
      ...{ disk: new NodeDisk(), folder: store, firstSequence: 1, nextSequence },
    });
    assert.equal(checkpoint.shippedBefore, POSTS + 1);
    assert.equal(checkpoint.interval, undefined);
  }

  test('an empty one: nothing is sent, and a service may go on from there', async () => {
    makeDatabase(chdb);
    const path = await mkdtemp(join(tmpdir(), 'weir-empty-'));
    const { status, out, err } = await ship(path);
    assert.deepEqual([status, err], [0, '']);
    assert.match(out, /^sent {11}0 events\n/);
    assert.deepEqual(found(), []);
    const verified = await verify(path);
    assert.equal(verified.status, 0);
    await rm(path, { recursive: true });
  });

  for (const kill of KILLS) {
    test(`killed before ${kill}: the next run goes on, and each event is there once`, async () => {
      const folder = await grown();
      await killed(folder, kill);
      const { status } = await ship(folder.path);
      assert.equal(status, 0);
      expectMoved(folder);
      await folder.remove();
    });
  }

  test('killed again and again', async () => {
    const folder = await grown();
    for (let round = 0; round < 4; round++) await killed(folder, 'acknowledged 4');
    assert.equal((await ship(folder.path)).status, 0);
    expectMoved(folder);
    await folder.remove();
  });

  test('killed while an insert happens: it is sent again, and is there once', async () => {
    const folder = await grown();
    const child = await start(folder, '');
    const exited = once(child, 'exit');
    let insertCount = 0;
    door.beforeAnswer = async () => {
      if (++insertCount !== 3) return;
      child.kill('SIGKILL');
      await exited;
    };
    await exited;
    door.beforeAnswer = () => {};
    assert.equal((await ship(folder.path)).status, 0);
    expectMoved(folder);
    await folder.remove();
  });

  test('killed, then a service seals, merges and takes in more: each event is there once', async () => {
    for (const kill of ['acknowledged 3', 'insert 15', 'acknowledged 25']) {
      const folder = await grown();
      await killed(folder, kill);
      await folder.live(20);
      assert.equal((await ship(folder.path)).status, 0);
      expectMoved(folder);
      await folder.remove();
    }
  });

  test('a service does not start on a folder whose move has not ended', async () => {
    const folder = await grown();
    await killed(folder, 'insert 2');
    const options = { folder: await folder.storePath(), firstSequence: 1, nextSequence: 1 };
    const opened = ShipCheckpoint.open({ disk: new NodeDisk(), ...options });
    await assert.rejects(opened, (error) => {
      return error instanceof ShipCheckpointError && /run weir ship/.test(error.message);
    });
    await folder.remove();
  });

  test('only the checkpoint is changed in the folder', async () => {
    const folder = await grown();
    const before = await contents(await folder.storePath());
    assert.equal((await ship(folder.path)).status, 0);
    const changed = await contents(await folder.storePath());
    for (const name of ['shipped', 'shipped.copy']) assert.equal(changed.delete(name), true);
    assert.deepEqual(changed, before);
    await folder.remove();
  });

  async function firstSegment(folder: GrownFolder): Promise<string> {
    const names = await readdir(await folder.storePath(), { recursive: true });
    return names.filter((name) => name.endsWith('.segment')).sort()[0]!;
  }

  /** Makes both envelopes of a file unreadable. */
  async function damage(folder: GrownFolder, name: string): Promise<void> {
    await folder.damage(name, 0.001);
    await folder.damage(name, 0.9999);
  }

  test('a damaged file is reported, and its events are sent from the log, if that has them', async () => {
    const folder = await grown();
    const segment = await firstSegment(folder);
    await damage(folder, segment);
    const { status, out } = await ship(folder.path);
    assert.equal(status, 1);
    assert.ok(out.includes(`damaged: ${segment}: `), out);
    expectMoved(folder);
    await folder.remove();
  });

  test('what is damaged and not in the log is lost, and all else is sent', async () => {
    const folder = await grown();
    const segment = await firstSegment(folder);
    await damage(folder, segment);
    const log = join(await folder.storePath(), 'log');
    for (const name of await readdir(log)) await rm(join(log, name));
    const { status, out } = await ship(folder.path);
    assert.equal(status, 1);
    assert.ok(out.includes(`damaged: ${segment}: `), out);
    const ids = new Set(found().map(([, id]) => id));
    assert.equal(found().length, ids.size, 'no event is there twice');
    const lost = folder.expected().filter(([, id]) => !ids.has(id));
    assert.ok(lost.length > 0 && ids.size > 0);
    await folder.remove();
  });

  test('a file that went after a kill: its events are sent from the log, each once', async () => {
    const folder = await grown();
    await killed(folder, 'insert 3');
    await rm(join(await folder.storePath(), await firstSegment(folder)));
    await ship(folder.path);
    expectMoved(folder);
    await folder.remove();
  });

  test('counts of folder and ClickHouse are compared by source and day', async () => {
    const folder = await grown();
    const before = await verify(folder.path);
    assert.equal(before.status, 1);
    await killed(folder, 'insert 6');
    const during = await verify(folder.path);
    assert.equal(during.status, 1);
    assert.match(
      during.out,
      /^differs: app \d{4}-\d\d-\d\d: \d+ events? in the folder, \d+ events? in ClickHouse$/m,
    );
    assert.equal((await ship(folder.path)).status, 0);
    const whole = await verify(folder.path);
    assert.deepEqual([whole.status, whole.err], [0, '']);
    const eventCount = folder.expected().length;
    assert.match(
      whole.out,
      new RegExp(`^folder {9}${eventCount} events, in \\d+ days of sources\n`),
    );
    assert.match(whole.out, /\nall days agree\n$/);
    const [[source, day] = []] = chdb.rows<[string, string]>(
      `SELECT source, toString(toDate(timestamp)) FROM ${DATABASE}.events LIMIT 1`,
    );
    chdb.run(
      `INSERT INTO ${DATABASE}.events SELECT * FROM ${DATABASE}.events WHERE source = '${source}' AND toDate(timestamp) = '${day}' LIMIT 1`,
    );
    const twice = await verify(folder.path, '--json');
    assert.equal(twice.status, 1);
    const { differences } = JSON.parse(twice.out);
    assert.equal(differences.length, 1);
    assert.deepEqual([differences[0].source, differences[0].day], [source, day]);
    assert.equal(differences[0].storeCount, differences[0].folderCount + 1);
    const both = await verify(folder.path, '--restore');
    assert.equal(both.status, 2);
    await folder.remove();
  });

  test('a network that loses and repeats requests loses and repeats no event', async () => {
    const folder = await grown();
    const proxy = await FaultyProxy.open(door.url);
    const random = new Random(12);
    const faults = ['request lost', 'answer lost', 'repeated', 'refused after'] as const;
    proxy.choose = () => (random.below(3) === 0 ? random.pick(faults) : undefined);
    const { status, err } = await ship(folder.path, proxy.url);
    assert.deepEqual([status, err], [0, '']);
    expectMoved(folder);
    await proxy.close();
    await folder.remove();
  });

  test('the folder of a running service is refused, and a missing setting is a usage error', async () => {
    const folder = await grown();
    const lock = await LockFile.take(join(folder.path, 'lock'), NOW_US, {
      ...{ beatMs: 3_600_000, watchMs: 1, lookMs: 1 },
    });
    const { status, err } = await ship(folder.path);
    assert.equal(status, 1);
    assert.match(err, /Stop the service that runs there\n$/);
    await lock.release();
    const unset = await runWeir(['ship', folder.path]);
    assert.equal(unset.status, 2);
    assert.match(unset.err, /^CLICKHOUSE_URL must be set/);
    await folder.remove();
  });

  test('a table that is made by the move is the one that a service makes', async () => {
    const folder = await grown();
    chdb.run(`DROP TABLE ${DATABASE}.events`);
    assert.equal((await ship(folder.path)).status, 0);
    expectMoved(folder);
    await folder.remove();
  });

  test('of a folder that a service has sent, only the rest of the log is sent', async () => {
    makeDatabase(chdb);
    const path = await mkdtemp(join(tmpdir(), 'weir-sent-'));
    const store = join(path, 'store-1');
    const disk = new NodeDisk();
    await mkdir(join(store, 'log'), { recursive: true });
    const log = await WriteAheadLog.open({
      ...{ disk, folder: join(store, 'log'), files: [], nextSequence: 1 },
      ...{ durableBefore: 1, nextNumber: 1, onEvent: () => {} },
    });
    const append = async (id: string): Promise<void> => {
      const batch = smallBatch([`${id}1`, `${id}2`], NOW_US);
      await log.append({ source: 'app', receivedUs: 0, arrivalBase: 0, batch });
    };
    for (const id of ['a', 'b', 'c']) await append(id);
    const checkpoint = await ShipCheckpoint.open({
      ...{ disk, folder: store, firstSequence: 1, nextSequence: log.nextSequence },
    });
    const table = new ClickHouseTable(connectionTo(door.url));
    const shipper = new Shipper({
      ...{ disk, folder: join(store, 'log'), log, checkpoint, table, onFailure: () => {} },
      limits: { batchWaitMs: 1 },
    });
    shipper.notify();
    await shipper.settled();
    await table.close();
    for (const id of ['d', 'e']) await append(id);
    await log.close();
    const waiting = await verify(path);
    assert.deepEqual([waiting.status, waiting.err], [0, '']);
    assert.match(
      waiting.out,
      /^folder {9}6 events, .*\n.*\n {15}4 events of the log are not sent yet$/m,
    );
    const { status, out } = await ship(path);
    assert.equal(status, 0);
    assert.match(out, /; sent the rest of its log: 4 events\n$/);
    const ids = ['a', 'b', 'c', 'd', 'e'].flatMap((id) => [`${id}1`, `${id}2`]);
    assert.deepEqual(
      found().map(([, id]) => id),
      ids,
    );
    assert.match((await verify(path)).out, /^folder {9}10 events, .*\nall days agree\n$/s);
    await rm(path, { recursive: true });
  });

  test('a comparison says why ClickHouse cannot be asked, and makes no table', async () => {
    const folder = await grown();
    assert.equal((await ship(folder.path)).status, 0);
    const unreachable = await runWeir(['verify', folder.path, '--store'], {
      environment: environment('http://127.0.0.1:1'),
    });
    assert.deepEqual([unreachable.status, unreachable.out], [1, '']);
    assert.match(unreachable.err, /^ClickHouse cannot be asked: .*ECONNREFUSED/);
    chdb.run(`DROP TABLE ${DATABASE}.events`);
    const missing = await verify(folder.path);
    assert.equal(missing.status, 1);
    assert.match(missing.err, /^ClickHouse cannot be asked: /);
    assert.deepEqual(
      chdb.rows(`SELECT name FROM system.tables WHERE database = '${DATABASE}'`),
      // Shipping made it.
      [['arrivals']],
    );
    await folder.remove();
  });

  test('between two runs the embedded store may go on, and ClickHouse only afterwards', async () => {
    const folder = await grown();
    await killed(folder, 'insert 2');
    const started = (store: 'embedded' | 'clickhouse', dataDir: string): Promise<Backend> => {
      const settings = parseSettings({ ...environment(), DATA_DIR: dataDir, STORE: store });
      const clock = createClock({ wallMs: () => NOW_US / 1000, monotonicMs: () => 0 });
      return openStore({ settings, clock, log: () => {} });
    };
    const during = await folder.storePath();
    await assert.rejects(started('clickhouse', during), /run it again until it ends/);
    await (await started('embedded', during)).close(NOW_US);
    assert.equal((await ship(folder.path)).status, 0);
    const after = await folder.storePath();
    await assert.rejects(started('embedded', after), /belongs to a service with STORE=clickhouse/);
    await (await started('clickhouse', after)).close(NOW_US);
    await folder.remove();
  });

  test('a service with STORE=clickhouse goes on with a moved folder', async () => {
    const folder = await grown();
    assert.equal((await ship(folder.path)).status, 0);
    const { path } = folder;
    const service = await ServiceOnClickHouse.start({ url: door.url, folder: path });
    await service.post('postgres.logs', [{ id: 'later', project: 'p', event_message: 'new' }]);
    await service.shipped();
    await service.stop();
    const rows = found();
    const isLater = ([, id]: readonly unknown[]): boolean => id === 'later';
    assert.equal(rows.filter(isLater).length, 1);
    assert.deepEqual(
      rows.filter((row) => !isLater(row)),
      wantedOf(folder),
    );
    const verified = await verify(path);
    assert.deepEqual([verified.status, verified.err], [0, '']);
    await folder.remove();
  });

  test('arrivals are found by project and by number', async () => {
    const folder = await grown();
    assert.equal((await ship(folder.path)).status, 0);
    const table = new ClickHouseTable(connectionTo(door.url));
    const { gateway } = (await readShipped(new NodeDisk(), await folder.storePath()))!.move!;
    const [[day = ''] = []] = chdb.rows<[string]>(
      `SELECT toString(toDate(timestamp)) FROM ${DATABASE}.events WHERE source = 'app' LIMIT 1`,
    );
    const range = { source: 'app', day, arrivalMin: 0, arrivalMax: 1_000 };
    const { signal } = new AbortController();
    const all = await table.findArrivals(gateway, range, signal);
    const key = Buffer.from('q');
    const ofOne = await table.findArrivals(
      gateway,
      { ...range, projects: { first: key, last: key } },
      signal,
    );
    const count = (condition: string): number =>
      Number(
        chdb.rows<[string]>(
          `SELECT count() FROM ${DATABASE}.events WHERE source = 'app' AND toDate(timestamp) = '${day}' AND ${condition}`,
        )[0]![0],
      );
    assert.deepEqual([all.count, ofOne.count], [count('1'), count("project = 'q'")]);
    assert.ok(ofOne.count > 0 && ofOne.count < all.count);
    await table.close();
    await folder.remove();
  });
});

function hexOf(text: string): string {
  return Buffer.from(encodeWtf8(text)).toString('hex').toUpperCase();
}

/** The bytes of each file below a folder. */
async function contents(path: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    files.set(relative(path, file), (await readFile(file)).toString('base64'));
  }
  return files;
}
