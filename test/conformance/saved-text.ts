import {
  arrayOf,
  FLOAT64,
  INT64,
  type SqlType,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import type { EventValue, TestEvent } from '../column/batch-of.ts';
import { readText } from '../support/source-files.ts';
import type { CaseParameter } from './case-file.ts';
import { type DataTable, record } from './data-tables.ts';

/** One call of a built-in definition over random rows. */
type SavedCall = {
  /** Seed, definition and parameters: tells it from all others. */
  readonly key: string;
  readonly definition: DefinitionName;
  readonly parameters: readonly CaseParameter[];
};

export type SavedDataSet = {
  readonly nowUs: number;
  readonly tables: readonly DataTable[];
  readonly calls: readonly SavedCall[];
};

export type DefinitionName = keyof typeof PARAMETERS;

const PARAMETERS = {
  'logs.all': {
    project: STRING,
    project_tier: STRING,
    iso_timestamp_start: TIMESTAMP,
    iso_timestamp_end: TIMESTAMP,
  },
  'functions.invocation-stats': { project: STRING, function_id: STRING, interval: STRING },
  'usage.api-counts': { project: STRING, interval: STRING },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SqlType>>>>;

export function definitionText(name: DefinitionName): string {
  return readText(`src/endpoints/${name}.sql`);
}

/** Fixed, so that the golden file stays good. */
const SEEDS = [1, 2, 3, 4, 5, 6];
const ROWS_MAX = 90;

const EDGE = 'cloudflare.logs.prod';
const FUNCTIONS = 'deno-relay-logs';
/** `logs.all` names these, too, and gives no row of them. */
const OTHERS = [
  ...['postgres.logs', 'deno-subhosting-events', 'gotrue.logs.prod', 'realtime.logs.prod'],
  ...['storage.logs.prod.2', 'postgREST.logs.prod', 'pgbouncer.logs.prod'],
];

/** Every field that one of the texts reads, in any source. */
const ELEMENT = record({
  project: STRING,
  project_ref: STRING,
  function_id: STRING,
  execution_time_ms: FLOAT64,
  response: arrayOf(record({ status_code: INT64 })),
  request: arrayOf(record({ url: STRING, path: STRING })),
});

export function savedDataSets(): readonly SavedDataSet[] {
  return SEEDS.map((seed) => {
    const random = new Random(seed);
    const nowUs = Date.UTC(2026, 0, 10 + random.below(20)) * 1000 + random.below(86_400_000_000);
    const times = new Times(random, nowUs);
    const rows = (source: string, event: (random: Random) => EventValue): DataTable => ({
      name: source,
      element: ELEMENT,
      events: Array.from({ length: ROWS_MAX }, (_, index) => ({
        ...eventAt(random, times.next(), `${source.slice(0, 1)}${index}`),
        metadata: event(random),
      })),
    });
    const tables = [
      rows(EDGE, edgeMetadata),
      rows(FUNCTIONS, functionMetadata),
      ...OTHERS.map((name) => ({ name, element: ELEMENT, events: [] })),
    ];
    return { nowUs, tables, calls: callsOf(seed, random, nowUs) };
  });
}

const PROJECTS = ['alpha', 'beta', 'alpha-2'];
const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;

/** Times no two of which are equal: inside each window, around its edges, and beyond now. */
class Times {
  readonly #random: Random;
  readonly #nowUs: number;
  readonly #taken = new Set<number>();

  constructor(random: Random, nowUs: number) {
    this.#random = random;
    this.#nowUs = nowUs;
  }

  next(): number {
    for (;;) {
      const us = this.#any();
      if (this.#taken.has(us)) continue;
      this.#taken.add(us);
      return us;
    }
  }

  #any(): number {
    const random = this.#random;
    const windowUs = random.pick([
      ...[5 * MINUTE_US, 15 * MINUTE_US, 60 * MINUTE_US],
      ...[DAY_US, 7 * DAY_US, 90 * DAY_US],
    ]);
    if (random.below(3) > 0) return this.#nowUs - Math.floor(random.next() * windowUs);
    const unitUs = random.pick([1_000_000, MINUTE_US, 60 * MINUTE_US, DAY_US]);
    const edgeUs = random.pick([
      this.#nowUs,
      this.#nowUs - windowUs,
      Math.floor((this.#nowUs - windowUs) / unitUs) * unitUs,
      Math.floor(this.#nowUs / unitUs) * unitUs,
    ]);
    return edgeUs + random.below(5) - 2;
  }
}

function eventAt(random: Random, timestampUs: number, id: string): TestEvent {
  const project = random.below(10) === 0 ? null : random.pick(PROJECTS);
  return { id, timestampUs, event_message: `message of ${id}`, project };
}

/** None, one or several elements, mostly one. */
function several(random: Random, element: () => EventValue): EventValue[] {
  const count = random.pick([0, 1, 1, 1, 1, 1, 2, 3]);
  return Array.from({ length: count }, element);
}

function edgeMetadata(random: Random): EventValue {
  const paths = ['/rest/v1/a', '/auth/v1', '/storage/rest', '/realtime', '/', '/rest/auth/storage'];
  return several(random, () => ({
    request: several(random, () => ({
      url: maybe(random, `https://${random.pick(PROJECTS)}.example.co${random.pick(paths)}`),
      path: maybe(random, random.pick(paths)),
    })),
  }));
}

function functionMetadata(random: Random): EventValue {
  return several(random, () => ({
    project_ref: maybe(random, random.pick(PROJECTS)),
    function_id: maybe(random, random.pick(['f1', 'f2'])),
    // Quarters add up without rounding, in any order.
    execution_time_ms: maybe(random, random.below(4000) / random.pick([1, 4])),
    response: several(random, () => ({
      status_code: maybe(random, random.pick([200, 204, 301, 399, 400, 404, 500, 599])),
    })),
  }));
}

function maybe<T extends EventValue>(random: Random, value: T): T | null {
  return random.below(12) === 0 ? null : value;
}

function callsOf(seed: number, random: Random, nowUs: number): readonly SavedCall[] {
  const call = (definition: DefinitionName, values: Readonly<Record<string, unknown>>) => {
    const parameters = Object.entries(PARAMETERS[definition]).map(([name, type]) => ({
      name,
      type,
      value: (values[name] ?? null) as CaseParameter['value'],
    }));
    const key = `seed ${seed}: ${definition} ${JSON.stringify(values)}`;
    return { key, definition, parameters };
  };
  const project = random.pick(PROJECTS);
  const expression = random.pick(['alpha', '^https://al.ha', '(beta|alpha-2)', 'example', 'none']);
  const time = () => nowUs - Math.floor(random.next() * 8 * DAY_US);
  return [
    ...['5min', '15min', '1hr', '1day', '7day', '2min', undefined].map((interval) =>
      call('functions.invocation-stats', {
        project,
        function_id: random.pick([undefined, '', 'f1', 'f2']),
        interval,
      }),
    ),
    ...['minutely', 'hourly', 'daily'].map((interval) =>
      call('usage.api-counts', { project: expression, interval }),
    ),
    ...['FREE', 'PRO', 'PAYG', 'ENTERPRISE', 'pro', undefined].map((project_tier) =>
      call('logs.all', {
        project,
        project_tier,
        iso_timestamp_start: random.pick([undefined, undefined, time()]),
        iso_timestamp_end: random.pick([undefined, undefined, time()]),
      }),
    ),
  ];
}
