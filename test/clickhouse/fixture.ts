import { NOW_US } from '../../bench/workload/clock.ts';
import { Tenants } from '../../bench/workload/tenants.ts';
import { FLOATS_SOURCE, type Kind, ndjson, sourceOf } from '../../bench/workload/workload.ts';
import { must } from '../../engine/assert.ts';
import { SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { type EventValue, jsonOf } from '../column/batch-of.ts';
import { BothStores } from './both-stores.ts';

const EVENTS_PER_KIND = 400;
const ODD_EVENTS = 150;
const POST_EVENTS = 100;
const PROJECT_COUNT = 6;

const KINDS: readonly Kind[] = [
  ...(['lean', 'invocations', 'floats', 'auth', 'storage', 'postgres', 'pooler', 'full'] as const),
];

const TENANTS = new Tenants(PROJECT_COUNT);

/** The project with most events. */
export const HOT_PROJECT = TENANTS.hot.ref;

/** A few thousand events of every source that the built-in texts read, and among them such as senders should not send. */
export async function filledStores(): Promise<BothStores> {
  const directory = new SourceDirectory(sourcesFrom(FLOATS_SOURCE).sources);
  const sourceNamed = (name: string) => must(directory.findByName(name));
  const stores = new BothStores(directory.sources);
  for (const kind of KINDS) {
    const of = { tenants: TENANTS, eventCount: EVENTS_PER_KIND, perText: POST_EVENTS };
    for (const { text } of ndjson(kind, of)) {
      const events = text.trimEnd().split('\n');
      await stores.post(sourceNamed(sourceOf(kind)), `[${events.join(',')}]`, NOW_US);
    }
  }
  const random = new Random(1);
  for (const source of ['cloudflare.logs.prod', 'deno-relay-logs', 'storage.logs.prod.2']) {
    const events = Array.from({ length: ODD_EVENTS }, (_, index) => oddEvent(random, index));
    await stores.post(sourceNamed(source), jsonOf(events, false), NOW_US);
  }
  return stores;
}

/** Values of all kinds under one name. */
const ODD: readonly EventValue[] = [
  ...[null, true, false, 0, -1, 1.5, -0.25, 1e-7, 123456.789, 200, 404, 503, 2 ** 53 - 1],
  ...[2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, 2n ** 64n - 1n],
  ...[
    '',
    'x',
    '200',
    'é',
    '🦊',
    'it\'s "quoted" \\ and\nbroken\u0000',
    '/rest/v1/x',
    'true',
    'null',
  ],
  ...[[], {}, [1, 'x', null, [2]], [{ a: 1 }], { a: { b: [{ c: null }] } }, [{ a: 1 }, { a: 2 }]],
];

/** Of these no number is a double that is no integer, so that sums do not differ in their last digits. */
const AMOUNTS: readonly EventValue[] = [
  0,
  5,
  17,
  17,
  250,
  30_000,
  null,
  '12',
  true,
  2n ** 53n + 1n,
];

function oddEvent(random: Random, index: number): EventValue {
  const project = random.pick([HOT_PROJECT, TENANTS.tiny.ref, 'nobody', null]);
  const count = random.pick([0, 1, 1, 1, 2, 3]);
  const metadata = Array.from({ length: count }, () => oddRecord(random, project));
  return {
    id: `odd-${index}`,
    timestamp: NOW_US - random.below(26 * 3_600_000) * 1_000 - random.below(1_000),
    event_message: random.pick(['GET | 200', '', 'ünïcode', null]),
    project,
    identifier: random.pick(ODD),
    metadata: count === 1 && random.below(2) === 0 ? metadata[0]! : metadata,
  };
}

function oddRecord(random: Random, project: string | null): EventValue {
  const fields: readonly (readonly [string, EventValue])[] = [
    ['project_ref', random.below(4) === 0 ? random.pick(ODD) : project],
    ['project', random.below(4) === 0 ? random.pick(ODD) : project],
    ['function_id', random.pick(['f', 'g', null, 7])],
    ['execution_time_ms', random.pick(AMOUNTS)],
    ['responseTime', random.pick(AMOUNTS)],
    ['size', random.pick([1, 2, 3, null, 'x'])],
    ['path', random.pick(ODD)],
    ['region', random.pick(['r', 'R', null, 1])],
    ['bucket', random.pick(['b', 2, null])],
    [random.pick(['response', 'Response']), oddResponses(random)],
    ['request', oddRequests(random, project)],
    ['odd', random.pick(ODD)],
    ['ODD', random.pick(ODD)],
    ["it's", random.pick(ODD)],
  ];
  // A record has some of them, in any order.
  const kept = fields.filter(() => random.below(6) > 0);
  return new Map(random.below(2) === 0 ? kept : kept.toReversed());
}

function oddResponses(random: Random): EventValue {
  const response = () => ({ status_code: random.pick([200, 404, 500, '500', 1.5, null, true]) });
  return random.pick<() => EventValue>([
    response,
    () => [response()],
    () => [response(), response()],
    () => [],
    () => null,
    () => 7,
    () => [response(), 7, null],
  ])();
}

function oddRequests(random: Random, project: string | null): EventValue {
  const path = random.pick(['/rest/v1/x', '/auth/v1/token', '/storage/v1/a', '/realtime', null, 5]);
  const request = {
    method: random.pick(['GET', 'POST', null]),
    url: random.pick([`https://${project}.example.com${path}`, project, null, 12]),
    path,
  };
  return random.pick<EventValue>([request, [request], [request, request], []]);
}
