import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { us } from '../scripts/script.ts';
import { makeToken } from '../support/granted.ts';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';
import {
  EDGE,
  LOGS,
  type Tenant,
  type TenantEvent,
  tenantEvents,
  tenantsOf,
} from './tenant-events.ts';

const NOW_US = us('2026-01-16T12:00:00Z');
const RELAY = 'deno-relay-logs';
const SOURCES = [LOGS, EDGE, RELAY, 'realtime.logs.prod'];
const WINDOWS = [
  { from: '2026-01-14T00:00:00Z', to: '2026-01-16T12:00:00Z' },
  { from: '2026-01-15T11:10:00Z', to: '2026-01-16T11:40:00Z' },
];

type Request = {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** Whether it names a project of somebody else. */
  readonly isForeign?: boolean;
};

/** What a caller asks who has `own` and would like to see what `other` has. */
function requestsOf(own: Tenant, other: Tenant): readonly Request[] {
  return SOURCES.flatMap((source) =>
    WINDOWS.flatMap((window) => [
      ...fieldsRequests(source, window, { own, other }),
      ...exploreRequests(source, window, { own, other }),
    ]),
  );
}

type Names = { readonly own: Tenant; readonly other: Tenant };

function fieldsRequests(source: string, window: object, { own, other }: Names): Request[] {
  const of = (more: object): Request => ({
    method: 'GET',
    path: `/api/sources/${source}/fields?${new URLSearchParams({ ...window, ...more })}`,
  });
  return [of({}), of({ project: own.key }), { ...of({ project: other.key }), isForeign: true }];
}

function exploreRequests(source: string, window: object, { own, other }: Names): Request[] {
  const name = `'${other.key.replaceAll("'", "\\'")}'`;
  const orders = [
    {},
    { project: own.key },
    { limit: 2 },
    { by: 'project' },
    { by: 'metadata.deployment' },
    { by: 'metadata.mark' },
    { by: 'metadata.response.status_code' },
    { search: other.mark },
    { search: `metadata.mark:${other.mark}` },
    { search: `-deployment:${own.mark}` },
    { search: '/zqx[0-9]+xqz/' },
    { where: `t.project = ${name} OR TRUE` },
    { where: `EXISTS(SELECT 1 FROM \`${EDGE}\` AS o WHERE o.project != t.project)` },
    { where: `(SELECT COUNT(*) FROM \`${RELAY}\`) > 20` },
  ];
  const of = (order: object): Request => ({
    ...{ method: 'POST', path: '/api/explore', body: { source, ...window, ...order } },
  });
  return [...orders.map(of), { ...of({ project: other.key }), isForeign: true }];
}

async function ask(service: ServiceUnderTest, { method, path, body }: Request, token: string) {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const answer = await service.ask(method, path, sent, { 'X-API-KEY': token });
  return { status: answer.status, text: answer.text };
}

/** An answer without what says nothing: the id of the request. */
function comparable({ status, text }: { readonly status: number; readonly text: string }) {
  const values = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const value of values) {
    delete value.error?.request_id;
  }
  return { status, values };
}

async function serve(events: readonly TenantEvent[]): Promise<ServiceUnderTest> {
  const service = await ServiceUnderTest.start({ SOURCES: LOGS });
  const half = Math.floor(events.length / 2);
  for (const [index, part] of [events.slice(0, half), events.slice(half)].entries()) {
    for (const name of SOURCES) {
      const posted = part.flatMap(({ source, event }) => (source === name ? [event] : []));
      if (posted.length > 0) await service.post(name, posted, NOW_US);
    }
    // The first half is stored in files, the second is not.
    if (index === 0) await service.storeAll();
  }
  return service;
}

test('a token bound to projects explores, and is told of fields, as if there were no others', async (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const random = new Random(seed);
  const tenants = tenantsOf(8);
  const events = tenantEvents(random, tenants);
  const shared = await serve(events);
  const counts = { requests: 0, refused: 0, foreignToAll: 0, own: 0 };
  try {
    for (const [number, owners] of [[0], [5, 0]].entries()) {
      const own = owners.map((index) => tenants[index]!);
      const projects = own.map(({ key }) => key);
      const foreign = tenants.filter((tenant) => !own.includes(tenant));
      const order = { scopes: ['explore'], projects } as const;
      const { token } = await makeToken(shared, `bound ${number}`, order);
      const alone = await serve(events.filter(({ owner }) => projects.includes(owner ?? '')));
      try {
        const other = random.pick(foreign);
        for (const request of requestsOf(own[0]!, other)) {
          const what = `${JSON.stringify(request)} of ${JSON.stringify(projects)}`;
          const everything = await ask(shared, request, TOKEN);
          const answer = await ask(shared, request, token);
          counts.requests += 1;
          if (request.isForeign === true) {
            equal(answer.status, 403, what);
            deepEqual(marksIn(answer.text, tenants), [], what);
            counts.refused += 1;
            continue;
          }
          const expected = await ask(alone, request, TOKEN);
          deepEqual(comparable(answer), comparable(expected), what);
          counts.foreignToAll += Number(marksIn(everything.text, foreign).length > 0);
          counts.own += Number(answer.status === 200 && marksIn(answer.text, own).length > 0);
        }
      } finally {
        await alone.stop();
      }
    }
    context.diagnostic(JSON.stringify(counts));
    ok(counts.foreignToAll > counts.requests / 4, 'whoever sees all is told of the others');
    ok(counts.own > counts.requests / 4, 'bound tokens are told of what is theirs');
  } finally {
    await shared.stop();
  }
});

function marksIn(text: string, tenants: readonly Tenant[]): readonly string[] {
  return tenants.flatMap(({ mark }) => (text.includes(mark) ? [mark] : []));
}
