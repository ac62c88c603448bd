import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const NOW_US = us(NOW);
let service: ServiceUnderTest;
let queryToken: string;

before(async () => {
  service = await ServiceUnderTest.start({ SOURCES: 'app.logs:metadata.tenant' });
  queryToken = await createToken('reader', ['query']);
});

after(() => service.stop());

async function createToken(name: string, scopes: readonly string[]): Promise<string> {
  const { text } = await service.ask('POST', '/api/tokens', JSON.stringify({ name, scopes }));
  return (JSON.parse(text) as { readonly result: { readonly token: string } }).result.token;
}

type Report = {
  readonly token: { readonly name: string } | null;
  readonly receiver: string;
  readonly posts: number;
  readonly refused_posts: number;
  readonly stored_events: number;
  readonly last: { readonly status: number; readonly code: string; readonly from: string };
  readonly last_event?: object;
  readonly flawed_events: Readonly<Record<string, number>>;
  readonly findings: readonly { readonly code: string; readonly message: string }[];
};

async function reports(): Promise<readonly Report[]> {
  const answer = await service.ask('GET', '/api/posts');
  assert.equal(answer.status, 200, answer.text);
  return (JSON.parse(answer.text) as { readonly result: readonly Report[] }).result;
}

async function lastReport(): Promise<Report> {
  const [first] = await reports();
  assert(first !== undefined);
  return first;
}

function post(source: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const path = `/api/logs?source_name=${source}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return service.ask('POST', path, text, headers);
}

test('before the first post, the answer says since when none has arrived', async () => {
  const answer = JSON.parse((await service.ask('GET', '/api/posts')).text);
  assert.deepEqual(answer, {
    result: [],
    since: NOW,
    findings: [{ code: 'no_posts', message: `no post has arrived since ${NOW}` }],
  });
});

test('a post is reported with its last event, by which a query finds it', async () => {
  const events = [
    { event_message: 'a', metadata: { tenant: 'alpha' } },
    { id: 'an-id', event_message: 'b', timestamp: NOW_US - 5, metadata: { tenant: 'beta' } },
  ];
  await service.post('app.logs', events, NOW_US);
  const report = await lastReport();
  assert.equal(report.token?.name, 'private');
  assert.equal(report.receiver, '/api/logs');
  assert.equal(report.stored_events, 2);
  assert.deepEqual([report.last.status, report.last.code], [200, 'ok']);
  assert.match(report.last.from, /127\.0\.0\.1$/);
  assert.deepEqual(report.last_event, {
    source: 'app.logs',
    project: 'beta',
    id: 'an-id',
    timestamp: NOW_US - 5,
    stored_at: NOW,
  });
  assert.deepEqual(report.findings, []);
});

test('events that were refused, changed or belong to no project are counted, with the reason', async () => {
  const events = [
    { event_message: 'no project' },
    { event_message: 'no time', timestamp: 'yesterdayish', metadata: { tenant: 'alpha' } },
    'no event',
  ];
  assert.equal((await post('app.logs', events)).status, 406);
  const { findings, flawed_events } = await lastReport();
  assert.deepEqual(flawed_events, {
    refused: 1,
    without_project: 1,
    unreadable_timestamp: 1,
    repaired: 0,
  });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['last_post_refused', 'events_refused', 'events_without_project', 'timestamps_unreadable'],
  );
  const [, refused, withoutProject, unreadable] = findings.map(({ message }) => message);
  assert.equal(
    refused,
    '1 event refused, for example: an event must be an object; got another value',
  );
  assert.match(
    withoutProject!,
    /stored in app\.logs without a project in the field metadata\.tenant/,
  );
  assert.match(unreadable!, /such as "yesterdayish"/);
});

test('an event whose time is far from its arrival is found by another time range', async () => {
  const hourUs = 3_600_000_000;
  const event = { timestamp: NOW_US - 3 * hourUs, metadata: { tenant: 'alpha' } };
  await service.post('app.logs', [event], NOW_US);
  const codes = (await lastReport()).findings.map(({ code }) => code);
  assert.equal(codes.at(-1), 'timestamp_far');
  const { message } = (await lastReport()).findings.at(-1)!;
  assert.match(message, /3\.0 hours before its arrival/);
});

test('a token that may not post, a wrong one and none are reported by what they were answered', async () => {
  const cases: readonly (readonly [Readonly<Record<string, string>>, string | null, string])[] = [
    [{ 'X-API-KEY': queryToken }, 'reader', 'forbidden'],
    [{ 'X-API-KEY': 'not-a-token-of-this-service' }, null, 'unauthorized'],
  ];
  for (const [headers, name, code] of cases) {
    await post('app.logs', [], headers);
    const report = await lastReport();
    assert.equal(report.token?.name ?? null, name);
    assert.equal(report.last.code, code);
    assert.equal(report.findings[0]?.code, 'last_post_refused');
  }
});

test('a refusal stays in the report after posts that were stored', async () => {
  await post('nowhere.logs', []);
  await service.post('app.logs', [{ metadata: { tenant: 'alpha' } }], NOW_US);
  const { findings } = await lastReport();
  assert.equal(findings[0]?.code, 'posts_refused');
  assert.match(findings[0].message, /posts were refused, the last at .+ with 404 unknown_source: /);
});

test('receivers of other formats are reported by their path', async () => {
  const bulk = '{"index":{"_index":"app.logs"}}\n{"message":"a","metadata":{"tenant":"alpha"}}\n';
  const headers = { 'Content-Type': 'application/x-ndjson' };
  assert.equal((await service.ask('POST', '/app.logs/_bulk', bulk, headers)).status, 200);
  const report = await lastReport();
  assert.deepEqual([report.receiver, report.stored_events], ['/:index/_bulk', 1]);
});

test('only a token that may manage sees the reports', async () => {
  const { status } = await service.ask('GET', '/api/posts', undefined, { 'X-API-KEY': queryToken });
  assert.equal(status, 403);
});
