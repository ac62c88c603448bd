/**
 * The three endpoints again, as plain loops over the posted objects. It shares no code with the
 * engine and knows nothing of columns; when the two disagree, one of them misreads the contract.
 */
export type JsonObject = { readonly [key: string]: unknown };

export type Row = Readonly<Record<string, unknown>>;

type StoredEvent = {
  readonly id: string;
  readonly timestampUs: number;
  readonly message: string | null;
  readonly project: string | null;
  readonly elements: readonly JsonObject[];
  readonly arrival: number;
};

const DAY_US = 86_400_000_000;

/** The id of an event that brings none; the product's is random. */
const NEW_ID = 'a new id';

export class Oracle {
  readonly #events = new Map<string, StoredEvent[]>();
  #arrivals = 0;

  /** Takes events in, in order, as one POST at `nowUs` would. All must be acceptable. */
  post(source: string, events: readonly JsonObject[], nowUs: number): void {
    const stored = this.#eventsOf(source);
    for (const event of events) {
      const metadata = event['metadata'] ?? [];
      stored.push({
        id: textOrNull(event['id']) ?? NEW_ID,
        timestampUs: timestampOf(event['timestamp'], nowUs),
        message: textOrNull(event['event_message'] ?? event['message']),
        project: textOrNull(event['project']),
        elements: (Array.isArray(metadata) ? metadata : [metadata]) as JsonObject[],
        arrival: this.#arrivals++,
      });
    }
    this.#events.set(source, stored);
  }

  /** The rows of a saved query, by its name. */
  call(endpoint: string, parameters: Readonly<Record<string, string>>, nowUs: number): Row[] {
    switch (endpoint) {
      case 'logs.all':
        return this.#logsAll(parameters, nowUs);
      case 'functions.invocation-stats':
        return this.#invocationStats(parameters, nowUs);
      case 'usage.api-counts':
        return this.#apiCounts(parameters, nowUs);
      default:
        throw new Error(`the oracle does not know ${endpoint}`);
    }
  }

  #eventsOf(source: string): StoredEvent[] {
    return this.#events.get(source) ?? [];
  }

  #logsAll(parameters: Readonly<Record<string, string>>, nowUs: number): Row[] {
    const tier = parameters['project_tier'];
    const days = tier === 'PAYG' || tier === 'ENTERPRISE' ? 90 : tier === 'PRO' ? 7 : 1;
    const start = parameters['iso_timestamp_start'] ?? '';
    const end = parameters['iso_timestamp_end'] ?? '';
    const rows: { event: StoredEvent; row: Row }[] = [];
    for (const event of this.#eventsOf('cloudflare.logs.prod')) {
      if (event.project !== parameters['project']) continue;
      if (event.timestampUs <= nowUs - days * DAY_US) continue;
      if (start !== '' && event.timestampUs <= isoUs(start)!) continue;
      if (end !== '' && event.timestampUs > isoUs(end)!) continue;
      for (const _element of event.elements) {
        const row = {
          id: event.id,
          timestamp: event.timestampUs,
          event_message: event.message,
          metadata: event.elements.map(withListedRecords),
        };
        rows.push({ event, row });
      }
    }
    rows.sort(
      (left, right) =>
        right.event.timestampUs - left.event.timestampUs ||
        right.event.arrival - left.event.arrival,
    );
    return rows.slice(0, 100).map((item) => item.row);
  }

  #invocationStats(parameters: Readonly<Record<string, string>>, nowUs: number): Row[] {
    const { stepUs, windowUs } = INTERVALS.get(parameters['interval'] ?? '') ?? DAY_BY_HOUR;
    const first = truncate(nowUs - windowUs, stepUs);
    const last = truncate(nowUs, stepUs);
    const functionId = parameters['function_id'] ?? '';
    const buckets = new Map<number, { ids: number; errors: number; times: number[] }>();
    for (const event of this.#eventsOf('deno-relay-logs')) {
      const bucketUs = truncate(event.timestampUs, stepUs);
      if (bucketUs < first || bucketUs > last) continue;
      for (const element of event.elements) {
        if (asText(field(element, 'project_ref')) !== parameters['project']) continue;
        if (functionId !== '' && asText(field(element, 'function_id')) !== functionId) continue;
        for (const response of listOf(field(element, 'response'))) {
          const bucket = buckets.get(bucketUs) ?? { ids: 0, errors: 0, times: [] };
          buckets.set(bucketUs, bucket);
          bucket.ids += 1;
          const status = field(response, 'status_code');
          if (typeof status === 'number' && status >= 400) bucket.errors += 1;
          const time = field(element, 'execution_time_ms');
          if (typeof time === 'number') bucket.times.push(time);
        }
      }
    }
    return ascending(buckets).map(([bucketUs, bucket]) => {
      const sorted = bucket.times.toSorted((left, right) => left - right);
      const sum = sorted.reduce((total, time) => total + time, 0);
      return {
        timestamp: bucketUs,
        min_execution_time: sorted[0] ?? null,
        max_execution_time: sorted.at(-1) ?? null,
        avg_execution_time: sorted.length === 0 ? null : sum / sorted.length,
        p95_execution_time: quantile(sorted, 95),
        p99_execution_time: quantile(sorted, 99),
        count: bucket.ids,
        error_count: bucket.errors,
      };
    });
  }

  #apiCounts(parameters: Readonly<Record<string, string>>, nowUs: number): Row[] {
    const window = COUNT_WINDOWS.get(parameters['interval'] ?? '');
    if (window === undefined) throw new Error('the oracle takes hourly, daily or minutely');
    const expression = new RegExp(parameters['project'] ?? '', 'u');
    const buckets = new Map<number, number[]>();
    for (const event of this.#eventsOf('cloudflare.logs.prod')) {
      if (event.timestampUs < nowUs - window.windowUs) continue;
      for (const element of event.elements) {
        for (const request of listOf(field(element, 'request'))) {
          const url = asText(field(request, 'url'));
          if (url === undefined || !expression.test(url)) continue;
          const bucketUs = truncate(event.timestampUs, window.stepUs);
          const counts = buckets.get(bucketUs) ?? [0, 0, 0, 0];
          buckets.set(bucketUs, counts);
          const path = asText(field(request, 'path'));
          if (path === undefined) continue;
          for (const [index, word] of ['/rest', '/storage', '/auth', '/realtime'].entries()) {
            if (path.includes(word)) counts[index]! += 1;
          }
        }
      }
    }
    return ascending(buckets).map(([bucketUs, counts]) => ({
      timestamp: new Date(bucketUs / 1000).toISOString().slice(0, 19),
      total_rest_requests: counts[0],
      total_storage_requests: counts[1],
      total_auth_requests: counts[2],
      total_realtime_requests: counts[3],
    }));
  }
}

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
const HOUR_US = 60 * MINUTE_US;

const DAY_BY_HOUR = { windowUs: DAY_US, stepUs: HOUR_US };

const INTERVALS = new Map([
  ['5min', { windowUs: 5 * MINUTE_US, stepUs: SECOND_US }],
  ['15min', { windowUs: 15 * MINUTE_US, stepUs: MINUTE_US }],
  ['1hr', { windowUs: HOUR_US, stepUs: MINUTE_US }],
  ['1day', DAY_BY_HOUR],
  ['7day', { windowUs: 7 * DAY_US, stepUs: DAY_US }],
]);

const COUNT_WINDOWS = new Map([
  ['hourly', { windowUs: HOUR_US, stepUs: HOUR_US }],
  ['daily', { windowUs: 7 * DAY_US, stepUs: DAY_US }],
  ['minutely', { windowUs: 60 * MINUTE_US, stepUs: MINUTE_US }],
]);

/** Where a text is wanted, a number or boolean is its own; lists and records are none. */
function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function truncate(timestampUs: number, stepUs: number): number {
  return Math.floor(timestampUs / stepUs) * stepUs;
}

function ascending<T>(buckets: ReadonlyMap<number, T>): [number, T][] {
  return [...buckets].sort(([left], [right]) => left - right);
}

/** Element `percent` of 101: nearest rank, in whole numbers. */
function quantile(sorted: readonly number[], percent: number): number | null {
  if (sorted.length === 0) return null;
  const rank = Number((BigInt(percent) * BigInt(sorted.length) + 99n) / 100n);
  return sorted[Math.max(rank - 1, 0)]!;
}

/**
 * The value under a name: the exact key, else the first that differs only in case. A list of one map
 * is read as that map; nothing else has fields.
 */
function field(value: unknown, name: string): unknown {
  const record = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isRecord(record)) return null;
  if (Object.hasOwn(record, name)) return record[name];
  const similar = Object.keys(record).find((key) => key.toLowerCase() === name.toLowerCase());
  return similar === undefined ? null : record[similar];
}

/** A map counts as a list of itself; what is neither map nor list has no elements. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? [value] : [];
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each map that is a field's value becomes a list of one, all the way down. */
export function withListedRecords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withListedRecords);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, field]) => {
    const listed = withListedRecords(field);
    return [key, isRecord(field) ? [listed] : listed] as const;
  });
  return Object.fromEntries(entries);
}

function textOrNull(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A number, or a text of digits, tells its unit by how many digits stand before the point. */
function timestampOf(value: unknown, nowUs: number): number {
  if (typeof value === 'bigint' || (typeof value === 'string' && /^\d+$/.test(value))) {
    return unixUs(BigInt(value)) ?? nowUs;
  }
  if (typeof value === 'string') return isoUs(value) ?? nowUs;
  if (typeof value !== 'number') return nowUs;
  if (Number.isInteger(value)) return unixUs(BigInt(value)) ?? nowUs;
  const digits = String(Math.trunc(value)).length;
  return digits === 10 ? Math.round(value * 1e6) : digits === 13 ? Math.round(value * 1e3) : nowUs;
}

function unixUs(value: bigint): number | undefined {
  const text = String(value);
  if (text.length === 10) return Number(value * 1_000_000n);
  if (text.length === 13) return Number(value * 1000n);
  if (text.length === 16) return Number(value);
  return text.length === 19 ? Number(value / 1000n) : undefined;
}

/** Microseconds of an ISO text; without an offset it is UTC. */
function isoUs(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, date, time, fraction = '', offset = 'Z'] = match;
  const wholeMs = Date.parse(`${date}T${time}${offset}`);
  return Number.isNaN(wholeMs)
    ? undefined
    : wholeMs * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
