import { deepEqual, doesNotThrow, equal, match, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { DiskError } from '../../../ingest/disk/disk.ts';
import type { Grant } from '../../../src/access/grant.ts';
import { QUOTA_FILE, QuotaFile } from '../../../src/access/quota-file.ts';
import { type Quota, type QuotaOptions, Quotas } from '../../../src/access/quotas.ts';
import { Random } from '../../../src/demo/traffic/random.ts';
import { QUOTA_WRITE_MS } from '../../../src/limits.ts';
import type { LogEntry } from '../../../src/log.ts';
import { ModelDisk } from '../../support/model-disk.ts';
import { ask, withApp } from '../harness.ts';

const NOON_MS = Date.parse('2026-01-15T12:00:00Z');
const MIDNIGHT_MS = Date.parse('2026-01-16T00:00:00Z');
const DAY_MS = 86_400_000;
const RETENTION_DAYS = 3;

function grantOf(id: string, projects: Grant['projects'] = 'all'): Grant {
  const all = { sources: 'all', endpoints: 'all' } as const;
  return { id, name: `name of ${id}`, scopes: ['ingest'], projects, ...all };
}

/** Quotas on their own disk, with clocks that the test sets. */
class QuotasUnderTest {
  readonly disk = new ModelDisk(new Random(1));
  readonly entries: LogEntry[] = [];
  readonly refusals: string[] = [];
  file: QuotaOptions['file'] = new QuotaFile(this.disk, '/data');
  nowMs = NOON_MS;
  monotonicMs = 0;
  readonly #ofToken: ReadonlyMap<string, Quota>;
  readonly #ofProject: Quota;

  constructor(ofToken: Readonly<Record<string, Quota>>, ofProject: Quota = {}) {
    this.#ofToken = new Map(Object.entries(ofToken));
    this.#ofProject = ofProject;
  }

  async open(): Promise<Quotas> {
    await this.disk.makeFolder('/data').catch(() => {});
    const options: QuotaOptions = {
      ofToken: (id) => this.#ofToken.get(id),
      ofProject: this.#ofProject,
      retentionDays: RETENTION_DAYS,
      wallMs: () => this.nowMs,
      monotonicMs: () => this.monotonicMs,
      file: this.file,
      log: (entry) => this.entries.push(entry),
      onRefused: (owner, kind) => this.refusals.push(`${owner} ${kind}`),
    };
    return Quotas.open(options);
  }
}

test('a token may post until its quota is used up, and again on the next UTC day', async () => {
  const state = new QuotasUnderTest({ shop: { events: 10, bytes: 100 } });
  const quotas = await state.open();
  const shop = grantOf('shop');
  quotas.count(shop, { events: 9, bytes: 50 });
  doesNotThrow(() => quotas.check(shop));
  quotas.count(shop, { events: 3, bytes: 10 });
  throws(() => quotas.check(shop), {
    code: 'quota_exceeded',
    status: 429,
    retryAfterS: 12 * 3600,
    message:
      'the token "name of shop" may post 10 events a day and has posted 12. The day ends at 2026-01-16T00:00:00.000Z',
  });
  doesNotThrow(() => quotas.check(grantOf('other')));
  state.nowMs = MIDNIGHT_MS - 1;
  throws(() => quotas.check(shop), { retryAfterS: 1 });
  state.nowMs = MIDNIGHT_MS;
  doesNotThrow(() => quotas.check(shop));
  quotas.count(shop, { events: 1, bytes: 100 });
  throws(() => quotas.check(shop), { message: /may post 100 bytes a day and has posted 100/ });
  deepEqual(state.refusals, ['token events', 'token events', 'token bytes']);
  deepEqual(quotas.usedByToken('shop'), { events: 1, bytes: 100 });
});

test('tokens bound to one project share its quota, except kinds of quota of their own', async () => {
  const state = new QuotasUnderTest({ large: { events: 1_000 } }, { events: 10, bytes: 100 });
  const quotas = await state.open();
  const [one, other] = [grantOf('one', ['alpha']), grantOf('other', ['alpha'])];
  const large = grantOf('large', ['alpha']);
  quotas.count(one, { events: 6, bytes: 10 });
  doesNotThrow(() => quotas.check(other));
  quotas.count(other, { events: 4, bytes: 10 });
  for (const grant of [one, other]) {
    throws(() => quotas.check(grant), {
      message: /^the project "alpha" may post 10 events a day and has posted 10/,
    });
  }
  doesNotThrow(() => quotas.check(large));
  quotas.count(large, { events: 1, bytes: 80 });
  throws(() => quotas.check(large), {
    message: /^the project "alpha" may post 100 bytes a day and has posted 100/,
  });
  for (const grant of [grantOf('beta', ['beta']), grantOf('all'), grantOf('two', ['alpha', 'b'])]) {
    quotas.count(grant, { events: 9, bytes: 9 });
    doesNotThrow(() => quotas.check(grant));
  }
});

test('the use of quotas survives a restart, except for the last moments before a crash', async () => {
  const state = new QuotasUnderTest({ shop: { events: 10 } });
  const shop = grantOf('shop');
  const first = await state.open();
  first.count(shop, { events: 3, bytes: 30 });
  first.tick();
  first.count(shop, { events: 4, bytes: 40 });
  state.monotonicMs = QUOTA_WRITE_MS - 1;
  first.tick();
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  deepEqual((await state.open()).usedByToken('shop'), { events: 3, bytes: 30 });
  state.monotonicMs = QUOTA_WRITE_MS;
  first.tick();
  await first.close();
  const second = await state.open();
  deepEqual(second.usedByToken('shop'), { events: 7, bytes: 70 });
  state.nowMs = MIDNIGHT_MS;
  deepEqual(second.usedByToken('shop'), { events: 0, bytes: 0 });
});

test('a token may post until its stored bytes are used up, and again when old days are deleted', async () => {
  const state = new QuotasUnderTest({ shop: { stored_bytes: 100 } });
  const quotas = await state.open();
  const shop = grantOf('shop');
  quotas.count(shop, { events: 1, bytes: 30 });
  state.nowMs = NOON_MS + DAY_MS;
  quotas.count(shop, { events: 1, bytes: 69 });
  doesNotThrow(() => quotas.check(shop));
  quotas.count(shop, { events: 1, bytes: 41 });
  equal(quotas.storedByToken('shop'), 140);
  throws(() => quotas.check(shop), {
    code: 'quota_exceeded',
    status: 429,
    retryAfterS: 12 * 3600,
    message:
      'the token "name of shop" may have 100 bytes stored and has 140. There is room again when old logs are deleted, at 2026-01-20T00:00:00.000Z',
  });
  // The oldest day alone frees too little: 110 bytes remain until the next day is deleted, too.
  state.nowMs = MIDNIGHT_MS + RETENTION_DAYS * DAY_MS - 1;
  throws(() => quotas.check(shop), { message: / and has 140\./, retryAfterS: 1 });
  state.nowMs += 1;
  throws(() => quotas.check(shop), { message: / and has 110\./ });
  state.nowMs += DAY_MS;
  doesNotThrow(() => quotas.check(shop));
  equal(quotas.storedByToken('shop'), 0);
  deepEqual(state.refusals, Array(3).fill('token stored_bytes'));
});

test('tokens of one project share its stored bytes, which are counted by day across restarts', async () => {
  const state = new QuotasUnderTest({}, { stored_bytes: 100 });
  let quotas = await state.open();
  const [one, other] = [grantOf('one', ['alpha']), grantOf('other', ['alpha'])];
  for (const bytes of [60, 30, 10]) {
    quotas.count(one, { events: 1, bytes });
    await quotas.close();
    quotas = await state.open();
    state.nowMs += DAY_MS;
  }
  throws(() => quotas.check(other), {
    message: /^the project "alpha" may have 100 bytes stored and has 100\. .*2026-01-19T00:00:00/,
  });
  doesNotThrow(() => quotas.check(grantOf('third', ['beta'])));
  state.nowMs += DAY_MS;
  const later = quotas;
  doesNotThrow(() => later.check(other));
  await quotas.close();
  quotas = await state.open();
  quotas.count(other, { events: 1, bytes: 59 });
  doesNotThrow(() => quotas.check(one));
  quotas.count(other, { events: 1, bytes: 1 });
  throws(() => quotas.check(one), { message: / and has 100\./ });
});

test('a file from before quotas of stored bytes is read', async () => {
  const state = new QuotasUnderTest({ shop: { events: 10, stored_bytes: 100 } });
  const day = Math.floor(NOON_MS / DAY_MS);
  const uses = { 'token shop': { events: 3, bytes: 30 } };
  await state.open();
  await new QuotaFile(state.disk, '/data').write({ day, uses });
  const quotas = await state.open();
  deepEqual([quotas.usedByToken('shop'), quotas.storedByToken('shop')], [uses['token shop'], 0]);
});

test('without quotas nothing is counted or written', async () => {
  const state = new QuotasUnderTest({});
  const quotas = await state.open();
  quotas.count(grantOf('shop', ['alpha']), { events: 3, bytes: 30 });
  quotas.tick();
  await quotas.close();
  deepEqual(quotas.usedByToken('shop'), { events: 0, bytes: 0 });
  deepEqual(await state.disk.list('/data'), []);
});

test('a damaged file is reported, and counting starts at zero', async () => {
  const state = new QuotasUnderTest({ shop: { events: 10 } });
  const first = await state.open();
  first.count(grantOf('shop'), { events: 3, bytes: 30 });
  await first.close();
  state.disk.put(`/data/${QUOTA_FILE}`, Buffer.from('x'));
  const second = await state.open();
  equal(state.entries[0]!.event, 'quota_use_damaged');
  deepEqual(second.usedByToken('shop'), { events: 0, bytes: 0 });
});

test('a failed write is reported once and retried', async () => {
  const state = new QuotasUnderTest({ shop: { events: 10 } });
  const file = new QuotaFile(state.disk, '/data');
  let failuresLeft = 2;
  state.file = {
    path: file.path,
    read: () => file.read(),
    write: async (use) => {
      if (failuresLeft-- > 0) throw new DiskError('written', file.path, { code: 'ENOSPC' });
      await file.write(use);
    },
  };
  const quotas = await state.open();
  quotas.count(grantOf('shop'), { events: 3, bytes: 30 });
  for (let attempt = 0; attempt < 3; attempt++) await quotas.close();
  deepEqual(
    state.entries.map(({ event }) => event),
    ['quota_use_write_failed'],
  );
  deepEqual((await state.open()).usedByToken('shop'), { events: 3, bytes: 30 });
});

test('posts beyond a quota get 429 until the end of the day, in the form of each receiver', async () => {
  const state = new QuotasUnderTest({ 'settings-private': { events: 2 } });
  const quotas = await state.open();
  await withApp({ quotas }, async (app) => {
    const post = (path: string, body: unknown) =>
      ask(app, {
        method: 'POST',
        path,
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const logs = '/api/logs?source_name=postgres.logs';
    const events = [{ event_message: 'a' }, { event_message: 'b' }, { event_message: 'c' }];
    equal((await post(logs, events)).status, 200, 'the post that reaches it is taken whole');
    const said = /the token "private" may post 2 events a day and has posted 3/;
    const refused = await post(logs, events);
    equal(refused.status, 429);
    equal(refused.headers['retry-after'], '43200');
    equal(refused.json.error.code, 'quota_exceeded');
    match(refused.json.error.message, said);
    const otlp = await post('/v1/logs', { resourceLogs: [] });
    deepEqual([otlp.status, otlp.json.code], [429, 8]);
    match(otlp.json.message, said);
    const loki = await post('/loki/api/v1/push', { streams: [] });
    deepEqual([loki.status, loki.headers['retry-after']], [429, '43200']);
    // The answer to a bulk request is cut short, as always when it should be sent again later.
    const bulk = post('/_bulk', '{"index":{}}\n{"message":"a"}\n');
    equal(await bulk.catch(({ code }) => code), 'ECONNRESET');
    equal(app.stored.length, 1);
  });
});
