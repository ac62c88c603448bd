import { deepEqual, ok } from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { JsonObject } from '../oracle/oracle.ts';
import { edge, invocation, NOW, us } from '../scripts/script.ts';
import { budgetOf } from '../support/budget.ts';
import { EngineUnderTest } from '../support/engine-under-test.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const EDGE = 'cloudflare.logs.prod';
const RELAY = 'deno-relay-logs';
const NOW_US = us(NOW);

let engine: EngineUnderTest;
/** The answers while nobody else has sent anything. */
let expected: readonly string[];
before(async () => {
  engine = await EngineUnderTest.start();
  await postAll(QUIET);
  expected = await answers();
  ok(!expected.includes('[]'), 'every call has rows');
});
after(() => engine?.close());

/** What project `alpha` has sent: of each kind some, on several days. */
const QUIET: Readonly<Record<string, readonly JsonObject[]>> = {
  [EDGE]: ['2026-01-10T08:00:00Z', '2026-01-15T11:10:00Z', '2026-01-15T11:10:01Z'].flatMap(
    (timestamp) => ['/rest/v1/a', '/auth/v1/b', '/'].map((path) => edge(timestamp, path)),
  ),
  [RELAY]: ['2026-01-10T08:00:00Z', '2026-01-15T11:10:00Z', '2026-01-15T11:58:01Z'].flatMap(
    (timestamp) =>
      [200, 500].map((status_code) =>
        invocation(timestamp, { execution_time_ms: status_code / 8, response: { status_code } }),
      ),
  ),
};

/** Every endpoint about `alpha`, over windows wide and narrow. */
const CALLS = [
  ...['FREE', 'ENTERPRISE'].map((project_tier) => ({
    endpoint: 'logs.all',
    parameters: { project: 'alpha', project_tier },
  })),
  ...['5min', '1hr', '1day', '7day'].flatMap((interval) => [
    { endpoint: 'functions.invocation-stats', parameters: { project: 'alpha', interval } },
    {
      endpoint: 'functions.invocation-stats',
      parameters: { project: 'alpha', interval, function_id: 'f1' },
    },
  ]),
  ...['hourly', 'daily', 'minutely'].flatMap((interval) => [
    { endpoint: 'usage.api-counts', parameters: { project: 'alpha', interval } },
    { endpoint: 'usage.api-counts', parameters: { project: '^https://alpha\\.', interval } },
  ]),
];

function hostileEdge(metadata: unknown, more: JsonObject = {}): JsonObject {
  return { ...edge('2026-01-15T11:10:00Z', '/', { project: 'hostile', metadata }), ...more };
}

function hostileInvocation(metadata: JsonObject, more: JsonObject = {}): JsonObject {
  const event = invocation('2026-01-15T11:10:00Z', { project_ref: 'hostile', ...metadata }, 'h');
  return { ...event, ...more };
}

/** A map of maps, `depth` levels deep, around `core`. */
function nested(depth: number, core: unknown): unknown {
  let value = core;
  for (let level = 0; level < depth; level++) value = { request: value };
  return value;
}

const HOSTILE: Readonly<Record<string, Readonly<Record<string, readonly JsonObject[]>>>> = {
  'other kinds under the same names': {
    [EDGE]: [7, 'text', true, null, [], [1], [[]], { url: 7 }, { url: { path: '/rest' } }].map(
      (request) => hostileEdge({ request, response: request }),
    ),
    [RELAY]: [
      hostileInvocation({ response: { status_code: '500' }, execution_time_ms: '7' }),
      hostileInvocation({ response: { status_code: { of: 500 } }, execution_time_ms: [1] }),
      hostileInvocation({ response: 'none', function_id: { f1: 1 }, execution_time_ms: true }),
      hostileInvocation({ project_ref: { alpha: 1 } }),
      hostileInvocation({ project_ref: ['alpha'] }),
      hostileInvocation({ project_ref: 7 }),
    ],
  },
  'names of columns inside metadata and beside it': {
    [EDGE]: [
      hostileEdge({ id: 'x', timestamp: 0, project: 'alpha', event_message: 1, metadata: {} }),
      hostileEdge({ Request: { url: 'https://gamma/rest' }, t: 1, m: 2, r: 3, bucket: 4 }),
      hostileEdge([], { m: 'alpha', r: 1, request: { url: 7 }, Project: 'alpha', Timestamp: 1 }),
    ],
    [RELAY]: [
      hostileInvocation({ id: null, timestamp: 'soon', metadata: { project_ref: 'alpha' } }),
      hostileInvocation({}, { project_ref: 'alpha', project: 'alpha', response: [{}] }),
    ],
  },
  'keys of objects and prototypes': {
    [EDGE]: ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'a.b', '0'].map((key) =>
      hostileEdge(
        Object.fromEntries([
          [key, { [key]: 1 }],
          ['request', { [key]: [] }],
        ]),
      ),
    ),
    [RELAY]: [hostileInvocation(JSON.parse('{"__proto__":{"project_ref":"alpha"}}'))],
  },
  'five thousand keys, each once': {
    [EDGE]: Array.from({ length: 50 }, (_, event) =>
      hostileEdge(
        Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${event} ${key}`, { key }])),
      ),
    ),
    [RELAY]: Array.from({ length: 50 }, (_, event) =>
      hostileInvocation(
        Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${event} ${key}`, key])),
      ),
    ),
  },
  'values of great depth and great length': {
    [EDGE]: [
      hostileEdge({ request: nested(1_000, { url: 'x' }) }),
      hostileEdge({ request: nested(31, [nested(40, 1)]) }),
      hostileEdge({ request: { url: 'x'.repeat(200_000), path: '/rest'.repeat(20_000) } }),
    ],
    [RELAY]: [
      hostileInvocation({ response: nested(1_000, 500) }),
      hostileInvocation({ function_id: 'f1'.repeat(50_000) }),
    ],
  },
  'numbers at the end of their range': {
    [EDGE]: [hostileEdge({ request: { url: 2 ** 53 }, n: [-(2n ** 63n), 2n ** 64n, 1e308] })],
    [RELAY]: [2n ** 63n - 1n, -(2n ** 63n), 10n ** 30n, 1e308, -1e308, 5e-324].map((number) =>
      hostileInvocation({ execution_time_ms: number, response: { status_code: number } }),
    ),
  },
  'thousands of events of its own': {
    [EDGE]: Array.from({ length: 2_500 }, (_, n) => hostileEdge({ n }, { id: `h${n}` })),
    [RELAY]: Array.from({ length: 2_500 }, (_, n) =>
      hostileInvocation({ execution_time_ms: n, function_id: `h${n}` }),
    ),
  },
};

/** When all that has come in is sealed: at the end, and before that or not. */
const SEALINGS = {
  open: { before: false, after: false },
  sealed: { before: false, after: true },
  'sealed apart': { before: true, after: true },
  'open beside sealed': { before: true, after: false },
};

async function postAll(load: Readonly<Record<string, readonly JsonObject[]>>): Promise<void> {
  for (const [source, events] of Object.entries(load)) await engine.post(source, events, NOW_US);
}

async function answers(): Promise<string[]> {
  const texts: string[] = [];
  for (const { endpoint, parameters } of CALLS) {
    texts.push(await engine.callText(endpoint, parameters, NOW_US));
  }
  return texts;
}

/** How many of the two orders, before its own events and after, are tried; of one the next case has the other. */
const ORDERS = budgetOf('WEIR_ISOLATION_ORDERS', { fast: 1, all: 2 });

suite('another project changes no byte of an answer', () => {
  let caseCount = 0;
  for (const [what, load] of Object.entries(HOSTILE)) {
    // By an odd number of states in between, each state has both orders.
    caseCount++;
    for (const [state, seal] of Object.entries(SEALINGS)) {
      const isFirstNow = caseCount++ % 2 === 0;
      for (const isFirst of [isFirstNow, !isFirstNow].slice(0, ORDERS)) {
        test(`${what}, ${isFirst ? 'before' : 'after'} its own events, ${state}`, async () => {
          engine.clear();
          await postAll(isFirst ? load : QUIET);
          if (seal.before) await engine.seal();
          await postAll(isFirst ? QUIET : load);
          if (seal.after) await engine.seal();
          deepEqual(await answers(), expected);
        });
      }
    }
  }

  test('all of these at once, over HTTP', async () => {
    const service = await ServiceUnderTest.start();
    try {
      const texts = () =>
        Promise.all(
          CALLS.map(({ endpoint, parameters }) => service.callText(endpoint, parameters)),
        );
      for (const [source, events] of Object.entries(QUIET)) {
        await service.post(source, events, NOW_US);
      }
      const alone = await texts();
      for (const load of Object.values(HOSTILE)) {
        for (const [source, events] of Object.entries(load)) {
          await service.post(source, events, NOW_US);
        }
        deepEqual(await texts(), alone);
      }
    } finally {
      await service.stop();
    }
  });
});
