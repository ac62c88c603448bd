import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Slice } from '../../../engine/column/slice.ts';
import { NodeDisk } from '../../../ingest/disk/node-disk.ts';
import { blocksOf } from '../../../ingest/segment-envelope.ts';
import { SegmentFile } from '../../../ingest/segment-file.ts';
import { startedOn } from '../../crash/started-service.ts';
import { storeAll } from '../../support/store-all.ts';
import { ask, post } from '../harness.ts';

const EDGE = '/api/logs?source_name=cloudflare.logs.prod';
const PROJECTS = ['p', 'q'];
/** Too long, and too different, to be kept in fewer bytes than they have. */
const MESSAGES = ['first of p', 'second of p', 'third of p'].map((text) => `${text} `.repeat(20));

type Event = { readonly event_message: string | null; readonly metadata: unknown };

function callOf(project: string): { readonly path: string } {
  return { path: `/api/endpoints/logs.all?project=${project}&project_tier=PRO` };
}

/** Turns one bit in the block of a slice, where it lies in the file. */
async function turnBit(path: string, slice: Slice): Promise<void> {
  const file = await SegmentFile.open(new NodeDisk(), path);
  const block = blocksOf(file.envelope).find(({ offset }) => offset === slice[0])!;
  const bytes = await readFile(path);
  bytes[block.storedOffset + (block.storedSize >> 1)]! ^= 1;
  await writeFile(path, bytes);
}

/** Where the bytes of the messages are. */
async function sliceOfMessages(path: string): Promise<Slice> {
  const { messages } = await (await SegmentFile.open(new NodeDisk(), path)).footer();
  const { packing } = messages.strings;
  assert(packing.kind === 'plain' || packing.kind === 'deflated', packing.kind);
  return packing.bytes;
}

/** How many places of each kind `/metrics` counts. */
async function damagedPlaces(app: { readonly port: number }): Promise<string[]> {
  const { text } = await ask(app, { path: '/metrics' });
  const samples = text.matchAll(/^weir_damaged_places_total\{kind="(\w+)"\} (\d+)$/gm);
  return Array.from(samples, ([, kind, places]) => `${kind} ${places}`);
}

test('damage that a query finds in a running service costs the values it is in; all else is answered, and it is told', async () => {
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
    // Of what is stored nothing is in memory after a start, as nothing is that was evicted.
    const { service, entries, ...app } = await startedOn(dataDir);
    try {
      const folder = join(dataDir, 'segments', 'cloudflare.logs.prod');
      const [name] = await readdir(folder);
      const path = join(folder, name!);
      assert.equal((await ask(app, { path: '/health' })).json.damage, undefined);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 0', 'segment 0', 'column 0']);
      await turnBit(path, await sliceOfMessages(path));
      const answer = await ask(app, callOf('p'));
      assert.equal(answer.status, 200);
      const withoutMessages = whole.map((event) => ({ ...event, event_message: null }));
      assert.deepEqual(answer.json.result, withoutMessages);
      assert.equal((await ask(app, callOf('q'))).json.result.length, MESSAGES.length);
      const { status, damage } = (await ask(app, { path: '/health' })).json;
      assert.equal(status, 'degraded');
      assert.deepEqual([damage.places, damage.columns_lost, damage.segments_lost], [1, 1, 0]);
      const [moved] = await readdir(join(dataDir, 'quarantine'));
      assert.deepEqual(damage.quarantined, [join(dataDir, 'quarantine', moved!)]);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 0', 'segment 0', 'column 1']);
      const told = entries.filter(({ event }) => event === 'segment_damaged');
      assert.deepEqual(
        told.map(({ level, file }) => [level, file]),
        [['error', path]],
      );
      // The damaged file is kept for a person, and what is left of it is in another.
      assert.equal((await readdir(join(dataDir, 'quarantine'))).length, 1);
      const left = await readdir(folder);
      assert(left.length === 1 && left[0] !== name, String(left));
      // A post that comes after is taken, and the next answer has both.
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

test('damage that a start finds is counted in the same places, with what was set aside', async () => {
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
      const folder = join(dataDir, 'segments', source);
      return join(folder, (await readdir(folder))[0]!);
    };
    const lost = await pathIn('cloudflare.logs.prod');
    await writeFile(lost, 'not a segment');
    const other = await pathIn('postgres.logs');
    const bytes = await readFile(other);
    bytes[20]! ^= 1;
    await writeFile(other, bytes);
    const { service, entries, ...app } = await startedOn(dataDir);
    try {
      const { damage } = (await ask(app, { path: '/health' })).json;
      assert.deepEqual([damage.places, damage.segments_lost, damage.columns_lost], [2, 1, 0]);
      const [moved] = await readdir(join(dataDir, 'quarantine'));
      assert.deepEqual(damage.quarantined, [join(dataDir, 'quarantine', moved!)]);
      assert.deepEqual(await damagedPlaces(app), ['log 0', 'envelope 1', 'segment 1', 'column 0']);
      const told = entries.filter(({ event }) => event === 'segment_damaged');
      assert.deepEqual(
        told.map(({ file, quarantined }) => [file, quarantined]),
        [
          [lost, damage.quarantined[0]],
          [other, undefined],
        ],
      );
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
});
