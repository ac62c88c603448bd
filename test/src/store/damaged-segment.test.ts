import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import type { Slice } from '../../../engine/column/slice.ts';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { listBlocks } from '../../../ingest/segment-envelope.ts';
import { SegmentFile } from '../../../ingest/segment-file.ts';
import { startedOn } from '../../crash/started-service.ts';
import { storeAll } from '../../support/store-all.ts';
import { ask, post } from '../harness.ts';

const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const PROJECTS = ['p', 'q'];
/** Texts that are too long and too different to be compressed. */
const MESSAGES = ['first of p', 'second of p', 'third of p'].map((text) => `${text} `.repeat(20));

type Event = { readonly event_message: string | null; readonly metadata: unknown };

function callOf(project: string): { readonly path: string } {
  return { path: `/api/endpoints/logs.all?project=${project}&project_tier=PRO` };
}

/** Flips one bit in the block of a slice in the file. */
async function turnBit(path: string, slice: Slice): Promise<void> {
  const file = await SegmentFile.open(new NodeDisk(), path);
  const block = listBlocks(file.envelope).find(({ offset }) => offset === slice[0])!;
  const bytes = await readFile(path);
  bytes[block.storedOffset + (block.storedSize >> 1)]! ^= 1;
  await writeFile(path, bytes);
}

/** Finds the bytes of the messages. */
async function sliceOfMessages(path: string): Promise<Slice> {
  const { messages } = await (await SegmentFile.open(new NodeDisk(), path)).footer();
  const { packing } = messages.strings;
  assert(packing.kind === 'plain' || packing.kind === 'deflated', packing.kind);
  return packing.bytes;
}

/** The warning of an answer that lacks rows of a time's day. */
function missingOf(timeUs: number): RegExp {
  const day = new Date(timeUs / 1000).toISOString().slice(0, 10);
  return new RegExp(`^rows or values are missing, because stored logs were damaged, of ${day}$`);
}

/** The number of damaged places of each kind in `/metrics`. */
async function damagedPlaces(app: { readonly port: number }): Promise<string[]> {
  const { text } = await ask(app, { path: '/metrics' });
  const samples = text.matchAll(/^weir_damaged_places_total\{kind="(\w+)"\} (\d+)$/gm);
  return Array.from(samples, ([, kind, places]) => `${kind} ${places}`);
}

test('damage that a query finds loses only the damaged values, and is reported', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-damaged-'));
  try {
    const first = await startedOn(dataDir);
    for (const project of PROJECTS) {
      for (const [n, event_message] of MESSAGES.entries()) {
        const body = { project, event_message, metadata: { request: { path: `/${n}` } } };
        assert.equal((await post(first, EDGE, body)).status, 200);
      }
    }
    const whole: readonly Event[] = (await ask(first, callOf('p'))).json.result;
    assert.equal(whole.length, MESSAGES.length);
    await storeAll(first.backend, first.clock.us);
    await first.service.stop();
    // After a start, no stored block is in memory, as after an eviction.
    const { service, entries, storePath, ...app } = await startedOn(dataDir);
    try {
      const folder = join(storePath, 'segments', 'cloudflare.logs.prod');
      const [name] = await readdir(folder);
      const path = join(folder, name!);
      assert.equal((await ask(app, { path: '/health' })).json.damage, undefined);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 0', 'segment 0', 'column 0']);
      await turnBit(path, await sliceOfMessages(path));
      const answer = await ask(app, callOf('p'));
      assert.equal(answer.status, 200);
      assert.match(String(answer.headers['weir-warnings']), missingOf(app.clock.us));
      const withoutMessages = whole.map((event) => ({ ...event, event_message: null }));
      assert.deepEqual(answer.json.result, withoutMessages);
      assert.equal((await ask(app, callOf('q'))).json.result.length, MESSAGES.length);
      const health = await ask(app, { path: '/health' });
      const { status, damage } = health.json;
      assert.equal(status, 'degraded');
      assert.deepEqual([damage.places, damage.columns_lost, damage.segments_lost], [1, 1, 0]);
      const [moved] = await readdir(join(storePath, 'quarantine'));
      // The health is public: it counts the files and names none.
      assert.equal(damage.quarantined, 1);
      assert.equal(health.text.includes(moved!), false, health.text);
      assert.match(health.text, /weir verify names the files/);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 0', 'segment 0', 'column 1']);
      const told = entries.filter(({ event }) => event === 'segment_damaged');
      assert.deepEqual(
        told.map(({ level, file }) => [level, file]),
        [['error', path]],
      );
      // The damaged file is kept for the operator, and what is left of it is in another file.
      assert.equal((await readdir(join(storePath, 'quarantine'))).length, 1);
      const left = await readdir(folder);
      assert(left.length === 1 && left[0] !== name, String(left));
      // A later post is accepted, and the next answer has both.
      const later = { project: 'p', event_message: 'later', metadata: {} };
      assert.equal((await post(app, EDGE, later)).status, 200);
      const all: readonly Event[] = (await ask(app, callOf('p'))).json.result;
      assert.equal(all.filter(({ event_message }) => event_message === 'later').length, 1);
      assert.equal(all.length, MESSAGES.length + 1);
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('damage found at a start is counted in the same way, with the quarantined files', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-damaged-'));
  try {
    const first = await startedOn(dataDir);
    const body = { project: 'p', event_message: 'hello', metadata: {} };
    assert.equal((await post(first, EDGE, body)).status, 200);
    await storeAll(first.backend, first.clock.us);
    assert.equal((await post(first, '/api/logs?source_name=postgres.logs', body)).status, 200);
    await storeAll(first.backend, first.clock.us);
    await first.service.stop();
    const pathIn = async (source: string): Promise<string> => {
      const folder = join(first.storePath, 'segments', source);
      return join(folder, (await readdir(folder))[0]!);
    };
    const lost = await pathIn('cloudflare.logs.prod');
    await writeFile(lost, 'not a segment');
    const other = await pathIn('postgres.logs');
    const bytes = await readFile(other);
    bytes[20]! ^= 1;
    await writeFile(other, bytes);
    const { service, entries, storePath, ...app } = await startedOn(dataDir);
    try {
      const { damage } = (await ask(app, { path: '/health' })).json;
      assert.deepEqual([damage.places, damage.segments_lost, damage.columns_lost], [2, 1, 0]);
      const [moved] = await readdir(join(storePath, 'quarantine'));
      assert.equal(damage.quarantined, 1);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 1', 'segment 1', 'column 0']);
      const told = entries.filter(({ event }) => event === 'segment_damaged');
      assert.deepEqual(
        told.map(({ file, quarantined }) => [file, quarantined]),
        [
          [join(storePath, relative(first.storePath, lost)), join(storePath, 'quarantine', moved!)],
          [join(storePath, relative(first.storePath, other)), undefined],
        ],
      );
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('an incomplete answer says so and is not kept, in each start until the file is back', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-damaged-'));
  const counts = { path: '/api/endpoints/usage.api-counts?project=p&interval=hourly' };
  const otherDays = {
    path: `${callOf('p').path}&iso_timestamp_end=${encodeURIComponent('2026-01-10T00:00:00Z')}`,
  };
  try {
    const first = await startedOn(dataDir);
    const body = {
      ...{ project: 'p', event_message: 'hello' },
      metadata: { request: { url: 'https://p.host/rest', path: '/rest' } },
    };
    assert.equal((await post(first, EDGE, body)).status, 200);
    await storeAll(first.backend, first.clock.us);
    const whole = await ask(first, counts);
    assert.equal(whole.json.result.length, 1);
    assert.equal(whole.headers['weir-warnings'], undefined);
    await first.service.stop();
    await rm(join(first.storePath, 'log'), { recursive: true });
    const folder = join(first.storePath, 'segments', 'cloudflare.logs.prod');
    const [name] = await readdir(folder);
    const bytes = await readFile(join(folder, name!));
    await writeFile(join(folder, name!), 'not a segment');
    for (let start = 1; start <= 2; start++) {
      const app = await startedOn(dataDir);
      for (let times = 0; times < 2; times++) {
        const lacking = await ask(app, counts);
        assert.deepEqual([lacking.status, lacking.json.result], [200, []]);
        assert.match(String(lacking.headers['weir-warnings']), missingOf(app.clock.us));
        assert.equal(lacking.headers['cache-status'], 'weir; fwd=miss');
        assert.equal(lacking.headers['cache-control'], 'private, no-cache');
      }
      assert.match(
        String((await ask(app, callOf('p'))).headers['weir-warnings']),
        missingOf(app.clock.us),
      );
      assert.equal((await ask(app, otherDays)).headers['weir-warnings'], undefined);
      assert.equal((await ask(app, { path: '/health' })).json.status, 'degraded');
      await app.service.stop();
    }
    const quarantine = join(await findStorePath(dataDir), 'quarantine');
    const [moved] = await readdir(quarantine);
    await writeFile(join(quarantine, moved!), bytes);
    const last = await startedOn(dataDir);
    const restored = await ask(last, counts);
    assert.equal(restored.text, whole.text);
    assert.equal(restored.headers['weir-warnings'], undefined);
    assert.equal(restored.headers['cache-status'], 'weir; fwd=miss; stored');
    assert.equal((await ask(last, { path: '/health' })).json.status, 'ok');
    await last.service.stop();
  } finally {
    await rm(dataDir, { recursive: true });
  }
});
