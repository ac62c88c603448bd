import type { Random } from '../../src/demo/traffic/random.ts';
import type { JsonObject } from '../oracle/oracle.ts';
import { randomEvents } from '../random-sql/events.ts';
import { edge, invocation, us } from '../scripts/script.ts';

/** A tenant: its project key, and a text that stands in each of its rows and in no one else's. */
export type Tenant = { readonly key: string; readonly mark: string };

/** An event on its way to a source; `owner` is the project key it has, `undefined` where it is nobody's. */
export type TenantEvent = {
  readonly source: string;
  readonly owner: string | undefined;
  readonly event: JsonObject;
};

/** After most events, and before the last. */
export const NOW_US = us('2026-01-16T12:00:00Z');

/** What queries of `randomQuery` read. */
export const LOGS = 'logs';
export const EDGE = 'cloudflare.logs.prod';
const RELAY = 'deno-relay-logs';
const REALTIME = 'realtime.logs.prod';

/** Keys that begin, end or are written like others, and what may mean something to whoever compares badly. */
const ODD_KEYS = [
  'a',
  'A',
  'aa',
  'ab',
  'a.',
  '.*',
  'é',
  'null',
  'undefined',
  ' a',
  '%',
  "a'b",
  '__proto__',
];

export function tenantsOf(count: number): readonly Tenant[] {
  return Array.from({ length: count }, (_, index) => ({
    key: ODD_KEYS[index] ?? `tenant${index}`,
    mark: `zqx${index}xqz`,
  }));
}

/** Events of all tenants and of none, in the order of a busy day. */
export function tenantEvents(random: Random, tenants: readonly Tenant[]): readonly TenantEvent[] {
  const events = tenants.flatMap((tenant) => [
    ...logEvents(random, tenant),
    ...edgeEvents(random, tenant, random.pick(tenants)),
    ...relayEvents(random, tenant, random.pick(tenants)),
    ...realtimeEvents(random, tenant),
    ...nobodysEvents(random, tenant, random.pick(tenants)),
  ]);
  return shuffled(random, events);
}

function logEvents(random: Random, { key, mark }: Tenant): readonly TenantEvent[] {
  const events = randomEvents(random, { count: 4 + random.below(8), isMixed: true });
  return events.map(({ id, timestampUs, event_message, metadata }) => ({
    source: LOGS,
    owner: key,
    event: {
      id: `${mark} ${id}`,
      timestamp: timestampUs,
      event_message: random.pick([event_message ?? '', `${mark} ${event_message}`]),
      project: key,
      ...(metadata === undefined ? {} : { metadata }),
    } as JsonObject,
  }));
}

function edgeEvents(random: Random, { key, mark }: Tenant, other: Tenant): readonly TenantEvent[] {
  const paths = ['/rest/v1/a', '/auth/v1/b', '/storage/c', '/realtime/rest'];
  return Array.from({ length: 2 + random.below(6) }, (_, index) => {
    const path = random.pick(paths);
    // Whose name stands in an event does not make it theirs.
    const url = `https://${random.pick([key, other.key])}.example.co${path}?of=${mark}`;
    const request = { method: 'GET', path, url };
    const at = timeText(random);
    const metadata = { request, response: { status_code: 200 }, project: other.key };
    const event = edge(at, path, { project: key, id: `${mark} edge ${index}`, metadata });
    return { source: EDGE, owner: key, event };
  });
}

function relayEvents(random: Random, { key, mark }: Tenant, other: Tenant): readonly TenantEvent[] {
  return Array.from({ length: 2 + random.below(6) }, (_, index) => {
    const metadata = {
      project_ref: key,
      function_id: random.pick(['f1', 'f2', other.key]),
      execution_time_ms: random.below(500),
      response: { status_code: random.pick([200, 404, 500]) },
      deployment: mark,
    };
    const event = {
      ...invocation(timeText(random), metadata, `${mark} call ${index}`),
      project: other.key,
    };
    return { source: RELAY, owner: key, event };
  });
}

/** With several elements of metadata, all of one project. */
function realtimeEvents(random: Random, { key, mark }: Tenant): readonly TenantEvent[] {
  return Array.from({ length: 1 + random.below(4) }, (_, index) => ({
    source: REALTIME,
    owner: key,
    event: {
      id: `${mark} rt ${index}`,
      timestamp: timeText(random),
      event_message: mark,
      metadata: Array.from({ length: 1 + random.below(2) }, (_, n) => ({ project: key, n, mark })),
    },
  }));
}

/** Of several projects, of none, and of metadata too deep to tell. */
function nobodysEvents(
  random: Random,
  { key, mark }: Tenant,
  other: Tenant,
): readonly TenantEvent[] {
  const at = timeText(random);
  const of = (source: string, id: string, more: JsonObject): TenantEvent => ({
    source,
    owner: undefined,
    event: { id: `${mark} ${id}`, timestamp: at, event_message: mark, ...more },
  });
  const both = [
    { project: key, project_ref: key, mark },
    { project: `${other.key}?`, mark },
  ];
  return [
    of(LOGS, 'none', { metadata: { s: mark, project: key } }),
    of(EDGE, 'null', { project: null, metadata: { request: { url: mark, path: '/rest' } } }),
    of(REALTIME, 'mixed', { metadata: both, project: key }),
    of(RELAY, 'mixed', { metadata: both, project: key }),
    of(RELAY, 'kind', { metadata: { project_ref: [key], function_id: 'f1', mark }, project: key }),
  ];
}

function timeText(random: Random): string {
  const minute = String(random.below(60)).padStart(2, '0');
  return `2026-01-${random.pick(['14', '15', '16'])}T11:${minute}:00Z`;
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last--) {
    const at = random.below(last + 1);
    [all[last], all[at]] = [all[at]!, all[last]!];
  }
  return all;
}
