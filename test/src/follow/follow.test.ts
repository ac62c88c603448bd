import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../oracle/oracle.ts';
import { NOW, us } from '../../scripts/script.ts';
import { EventStream, type StreamEvent } from '../../support/event-stream.ts';
import { Granted, type GrantName, makeToken } from '../../support/granted.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const TOKEN = 'a-private-token';
const EDGE = 'cloudflare.logs.prod';
const RELAY = 'deno-relay-logs';

let folder: string;
let service: ServiceUnderTest;
let eventCount = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-follow-'));
  await restart();
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Restarts the service on the folder of this file. */
async function restart(): Promise<void> {
  service = await ServiceUnderTest.start({ DATA_DIR: folder });
}

/** An event with a unique id. Its time does not determine its arrival. */
function eventOf(project: string, minutesAgo = 1): JsonObject & { readonly id: string } {
  eventCount += 1;
  const timestamp = us(NOW) - minutesAgo * 60_000_000;
  const id = `event-${eventCount}`;
  return { id, timestamp, event_message: 'hello', project, metadata: { n: eventCount } };
}

async function post(events: readonly JsonObject[], source = EDGE): Promise<void> {
  await service.post(source, events, us(NOW));
}

function follow(
  query: Readonly<Record<string, string>> = {},
  options: { readonly source?: string; readonly lastEventId?: string } = {},
): Promise<EventStream> {
  const { source = EDGE, lastEventId } = options;
  const path = `/api/sources/${source}/tail?${new URLSearchParams(query)}`;
  const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  return EventStream.open(service.url + path, { 'X-API-KEY': TOKEN, ...headers });
}

/** The ids of events. */
function idsOf(events: readonly StreamEvent[]): string[] {
  return events.map(({ event, data }) => {
    assert.equal(event, 'message', data);
    return JSON.parse(data).id;
  });
}

const namesOf = (events: readonly JsonObject[]) => events.map(({ id }) => id);

test('a follower with a search gets the events that match, of the last ones and of the new', async () => {
  await post([eventOf('alpha'), eventOf('alpha'), eventOf('alpha'), eventOf('beta')]);
  const search = `-project:beta n>=${eventCount - 2}`;
  const stream = await follow({ search, last: '1' });
  assert.deepEqual(idsOf(await stream.take(1)), [`event-${eventCount - 1}`]);
  const events = [eventOf('beta'), eventOf('alpha')];
  await post(events);
  assert.deepEqual(idsOf(await stream.take(1)), namesOf(events.slice(1)));
  stream.close();
  const wrong = await follow({ search: 'nowhere:1' });
  assert.equal(wrong.response.statusCode, 400);
  wrong.close();
  const { token } = await makeToken(service, 'no explorer', { scopes: ['query'] });
  const refused = await service.ask('GET', `/api/sources/${EDGE}/tail?search=hello`, undefined, {
    'X-API-KEY': token,
  });
  assert.equal(refused.status, 403);
});

test('a follower gets new events in order of arrival, in the form of the log', async () => {
  await post([eventOf('alpha')]);
  const stream = await follow();
  assert.equal(stream.response.statusCode, 200);
  assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(stream.response.headers['cache-control'], 'no-store');
  await stream.emptied(1);
  assert.equal(stream.retryMs, 2000);
  const events = [eventOf('alpha', 5), eventOf('beta', 3), eventOf('alpha', 9)];
  await post(events.slice(0, 2));
  await post(events.slice(2));
  const got = await stream.take(3);
  assert.deepEqual(idsOf(got), namesOf(events));
  assert.equal(new Set(got.map(({ id }) => id)).size, 3);
  assert.deepEqual(JSON.parse(got[0]!.data), {
    id: events[0]!.id,
    timestamp: events[0]!['timestamp'],
    event_message: 'hello',
    project: 'alpha',
    metadata: [{ n: (events[0]!['metadata'] as { n: number }).n }],
  });
  const { text } = await service.ask('GET', '/metrics');
  assert.match(text, /^weir_followers 1$/m);
  stream.close();
});

test('a reconnecting follower continues where it was, from memory, from files, and after a restart', async () => {
  const stream = await follow();
  await stream.emptied(1);
  const start = stream.lastId;
  stream.close();
  const events = Array.from({ length: 7 }, (_, index) => eventOf('alpha', (index * 5) % 7));
  const seen = async (lastEventId: string, count: number): Promise<StreamEvent[]> => {
    const again = await follow({}, { lastEventId });
    const got = await again.take(count);
    again.close();
    return got;
  };
  await post(events.slice(0, 3));
  assert.deepEqual(idsOf(await seen(start, 3)), namesOf(events.slice(0, 3)));
  await service.storeAll();
  await post(events.slice(3, 5));
  assert.deepEqual(idsOf(await seen(start, 5)), namesOf(events.slice(0, 5)));
  await service.stop();
  await restart();
  await post(events.slice(5));
  const got = await seen(start, 7);
  assert.deepEqual(idsOf(got), namesOf(events));
  assert.deepEqual(idsOf(await seen(got[3]!.id, 3)), namesOf(events.slice(4)));
  const after = await follow({ after: got[4]!.id, last: '7' });
  assert.deepEqual(idsOf(await after.take(2)), namesOf(events.slice(5)));
  after.close();
});

test('an id unknown to the store is reported as a gap, followed by all events', async () => {
  const first = await follow({ after: '0' });
  const [oldest] = await first.take(1);
  first.close();
  const stream = await follow({}, { lastEventId: '999999999' });
  const [gap, next] = await stream.take(2);
  assert.equal(gap!.event, 'gap');
  assert.deepEqual(JSON.parse(gap!.data), { after: '999999999' });
  assert.equal(next!.data, oldest!.data);
  stream.close();
});

test('a plain number from before ids were encrypted is valid for a token that may read the whole source', async () => {
  const events = [eventOf('alpha'), eventOf('alpha')];
  await post(events.slice(0, 1), 'gotrue.logs.prod');
  await post(events.slice(1), 'gotrue.logs.prod');
  const stream = await follow({ after: '1' }, { source: 'gotrue.logs.prod' });
  assert.deepEqual(idsOf(await stream.take(1)), [events[1]!.id]);
  stream.close();
});

test('an id of another source, or a changed id, is refused', async () => {
  const stream = await follow();
  await stream.emptied(1);
  const id = stream.lastId;
  stream.close();
  const changed = (id.startsWith('A') ? 'B' : 'A') + id.slice(1);
  for (const [source, given] of [
    [RELAY, id],
    [EDGE, changed],
  ] as const) {
    const headers = { 'Last-Event-ID': given };
    const { status, text } = await service.ask(
      'GET',
      `/api/sources/${source}/tail`,
      undefined,
      headers,
    );
    assert.equal(status, 400, text);
    assert.match(text, /Last-Event-ID must be the id of an event of .* from this instance; got/);
  }
});

test('a follower of a project gets each of its events once, wherever the source has the project', async () => {
  const edge = await follow({ project: 'gamma' });
  const relay = await follow({ project: 'gamma' }, { source: RELAY });
  await Promise.all([edge.emptied(1), relay.emptied(1)]);
  const mine = [eventOf('gamma'), eventOf('gamma')];
  await post([eventOf('delta'), mine[0]!, eventOf('delta')]);
  await post([mine[1]!]);
  assert.deepEqual(idsOf(await edge.take(2)), namesOf(mine));
  const of = (...projects: readonly string[]) => ({
    ...eventOf('nobody'),
    metadata: projects.map((project_ref) => ({ project_ref })),
  });
  const relayed = [of('delta'), of('gamma', 'gamma'), of('gamma', 'delta'), of('gamma')];
  await post(relayed, RELAY);
  assert.deepEqual(idsOf(await relay.take(3)), namesOf(relayed.slice(1)));
  const last = await follow({ project: 'gamma', last: '2' }, { source: RELAY });
  assert.deepEqual(idsOf(await last.take(2)), namesOf(relayed.slice(2)));
  for (const stream of [edge, relay, last]) stream.close();
});

test('the last events, or those since a time, come first on request', async () => {
  const events = [eventOf('alpha', 30), eventOf('alpha', 10), eventOf('alpha', 20)];
  await post(events);
  const last = await follow({ last: '2' });
  assert.deepEqual(idsOf(await last.take(2)), namesOf(events.slice(1)));
  const none = await follow({ last: '0' });
  await none.emptied(1);
  // For a project with fewer events than requested, all are returned.
  const few = await follow({ last: '100', project: 'gamma' });
  assert.equal((await few.take(2)).length, 2);
  const since = await follow({ since: new Date((us(NOW) - 20 * 60e6) / 1000).toISOString() });
  const more = eventOf('alpha', 2);
  await post([more]);
  for (const stream of [last, none]) assert.deepEqual(idsOf(await stream.take(1)), [more.id]);
  const ids = new Set<string>();
  while (!ids.has(more.id)) for (const id of idsOf(await since.take(1))) ids.add(id);
  assert.deepEqual(
    events.map(({ id }) => ids.has(id)),
    [false, true, true],
  );
  for (const stream of [last, none, few, since]) stream.close();
});

test('a request that cannot be followed gets a status and an explanation', async () => {
  for (const [path, status, message] of [
    ['nothing/tail', 404, /there is no source \\"nothing\\"/],
    [`${EDGE}/tail?project=`, 400, /project must be a project; got/],
    [`${EDGE}/tail?last=-1`, 400, /last must be a whole number from 0 to 10000; got \\"-1\\"/],
    [`${EDGE}/tail?last=10001`, 400, /got \\"10001\\"/],
    [`${EDGE}/tail?after=x`, 400, /after must be the id of an event of cloudflare.logs.prod/],
    [`${EDGE}/tail?after=9999999999999999`, 400, /after must be the id of an event/],
    [`${EDGE}/tail?after=1&after=2`, 400, /after must be given once; got 2 of it/],
    [`${EDGE}/tail?since=yesterday`, 400, /since must be an ISO 8601 time/],
  ] as const) {
    const answer = await service.ask('GET', `/api/sources/${path}`);
    assert.equal(answer.status, status, path);
    assert.match(answer.text, message);
  }
  const post = await service.ask('POST', `/api/sources/${EDGE}/tail`);
  assert.deepEqual([post.status, post.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
  const head = await service.ask('HEAD', `/api/sources/${EDGE}/tail`);
  assert.deepEqual(
    [head.status, head.headers['content-type']?.split(';')[0]],
    [200, 'text/event-stream'],
  );
  const url = `${service.url}/api/sources/${EDGE}/tail`;
  const [none, inUrl] = await Promise.all([
    EventStream.open(url),
    EventStream.open(`${url}?api_key=${TOKEN}`),
  ]);
  assert.deepEqual([none.response.statusCode, inUrl.response.statusCode], [401, 200]);
  for (const stream of [none, inUrl]) stream.close();
});

test('a token follows only what it may read', async () => {
  const granted = await Granted.of(service);
  const open = (name: GrantName, source: string): Promise<EventStream> =>
    EventStream.open(`${service.url}/api/sources/${source}/tail`, {
      'X-API-KEY': granted.token(name),
    });
  for (const [name, source] of [
    ['ingest, all', EDGE],
    ['manage', EDGE],
    ['query, edge', RELAY],
    ['query, logs.all', EDGE],
  ] as const) {
    const refused = await open(name, source);
    assert.equal(refused.response.statusCode, 403, name);
    refused.close();
  }
  const [all, alpha, edge] = await Promise.all([
    open('query, all', RELAY),
    open('query, alpha', RELAY),
    open('query, edge', EDGE),
  ]);
  await Promise.all([all, alpha, edge].map((stream) => stream.emptied(1)));
  const of = (...projects: readonly string[]) => ({
    ...eventOf('nobody'),
    metadata: projects.map((project_ref) => ({ project_ref })),
  });
  // An event of several projects belongs to none of them alone.
  const events = [of('beta'), of('alpha', 'beta'), of('alpha', 'alpha'), of(), of('alpha')];
  await post(events, RELAY);
  assert.deepEqual(idsOf(await all.take(5)), namesOf(events));
  assert.deepEqual(idsOf(await alpha.take(2)), namesOf([events[2]!, events[4]!]));
  const asked = await EventStream.open(
    `${service.url}/api/sources/${RELAY}/tail?project=beta&after=0`,
    { 'X-API-KEY': granted.token('query, alpha') },
  );
  assert.equal(asked.response.statusCode, 403, 'nothing of another project');
  for (const stream of [all, alpha, edge, asked]) stream.close();
});

test('a token of one project cannot learn from ids how many events others have', async () => {
  const { token } = await makeToken(service, 'counts', { scopes: ['query'], projects: ['alpha'] });
  const open = (headers: Readonly<Record<string, string>> = {}): Promise<EventStream> =>
    EventStream.open(`${service.url}/api/sources/postgREST.logs.prod/tail`, {
      'X-API-KEY': token,
      ...headers,
    });
  const mine = eventOf('alpha');
  await post([eventOf('beta'), eventOf('beta'), mine, eventOf('beta')], 'postgREST.logs.prod');
  // The same events follow each number, so the position of the token's own event stays hidden.
  for (const number of ['1', '2', '3', '4', '5', '999']) {
    const stream = await open({ 'Last-Event-ID': number });
    const [gap, event] = await stream.take(2);
    assert.deepEqual([gap!.event, gap!.data], ['gap', JSON.stringify({ after: number })]);
    assert.equal(JSON.parse(event!.data).id, mine.id);
    stream.close();
  }
  // Two ids of one position also differ, so that comparing them does not show whether others sent
  // something.
  const ids = new Set<string>();
  for (let times = 0; times < 3; times++) {
    const stream = await open();
    await stream.emptied(1);
    ids.add(stream.lastId);
    stream.close();
  }
  assert.equal(ids.size, 3);
});

test('a stream whose token is revoked ends before anything more is sent', async () => {
  const made = await makeToken(service, 'for a while', { scopes: ['query'] });
  const stream = await EventStream.open(`${service.url}/api/sources/${RELAY}/tail`, {
    'X-API-KEY': made.token,
  });
  await stream.emptied(1);
  const first = eventOf('alpha');
  await post([first], RELAY);
  assert.deepEqual(idsOf(await stream.take(1)), [first.id]);
  const revoked = await service.ask('DELETE', `/api/tokens/${made.id}`);
  assert.equal(revoked.status, 204);
  await post([eventOf('alpha')], RELAY);
  assert.deepEqual(await stream.end(), []);
});

test('a stopping service ends its streams with a time to reconnect', async () => {
  const stream = await follow();
  await stream.emptied(1);
  const last = eventOf('alpha');
  await post([last]);
  assert.deepEqual(idsOf(await stream.take(1)), [last.id]);
  const ended = stream.end();
  await service.stop();
  assert.deepEqual([await ended, stream.retryMs], [[], 2000]);
  const lastEventId = stream.lastId;
  await restart();
  const again = await follow({}, { lastEventId });
  const next = eventOf('alpha');
  await post([next]);
  assert.deepEqual(idsOf(await again.take(1)), [next.id]);
  again.close();
});

test('law: a follower that reconnects at any time gets every event once, in order', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('post' as const), count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('leave' as const), count: fc.constant(0) }),
    fc.record({ kind: fc.constant('seal' as const), count: fc.constant(0) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      let stream = await follow();
      await stream.emptied(1);
      let lastEventId = stream.lastId;
      const posted: string[] = [];
      const seen: string[] = [];
      const take = async (count: number): Promise<void> => {
        const got = await stream.take(count);
        seen.push(...idsOf(got));
        lastEventId = got.at(-1)?.id ?? lastEventId;
      };
      for (const { kind, count } of steps) {
        if (kind === 'post') {
          const events = Array.from({ length: count }, () => eventOf('alpha', count));
          await post(events);
          posted.push(...(namesOf(events) as string[]));
        } else if (kind === 'take') await take(Math.min(count, posted.length - seen.length));
        else if (kind === 'seal') await service.storeAll();
        else {
          stream.close();
          stream = await follow({}, { lastEventId });
        }
      }
      await take(posted.length - seen.length);
      assert.deepEqual(seen, posted);
      stream.close();
    }),
    { numRuns: 15 },
  );
});
