import { type Entry, isIn, or, type Truth, when } from './session-entries.ts';

/** A condition of a text, and what it means for one entry. */
export type Condition = { readonly sql: string; readonly holds: (entry: Entry) => Truth };

/** One of the nine logs, as its page asks for it. */
export type Log = {
  readonly table: string;
  readonly source: string;
  /** What its page unnests: the alias, the text behind UNNEST, and the path in an event. */
  readonly records: readonly (readonly [alias: string, array: string, path: string])[];
  /** What its page shows beside id, timestamp and message: the expression and the path. */
  readonly columns: readonly (readonly [expression: string, path: string])[];
  readonly filters: readonly Condition[];
  readonly error: Condition;
  readonly warning: Condition;
};

const NEVER: Condition = { sql: 'false', holds: () => false };

/** A number at a path within bounds, both included. */
function between(expression: string, path: string, low: number, high: number): Condition {
  return {
    sql: `${expression} between ${low} and ${high}`,
    holds: (entry) => when(entry.number(path), (value) => value >= low && value <= high),
  };
}

function oneOf(expression: string, path: string, list: readonly string[]): Condition {
  return {
    sql: `${expression} in (${list.map((text) => `'${text}'`).join(', ')})`,
    holds: (entry) => isIn(entry.text(path), list),
  };
}

function startsWith(expression: string, path: string, start: string): Condition {
  return {
    sql: `${expression} like '${start}%'`,
    holds: (entry) => when(entry.text(path), (text) => text.startsWith(start)),
  };
}

function either(left: Condition, right: Condition): Condition {
  return {
    sql: `(${left.sql} or ${right.sql})`,
    holds: (entry) => or(left.holds(entry), right.holds(entry)),
  };
}

const STATUS = 'metadata.response.status_code';
const PATH = 'metadata.request.path';
const METADATA = ['m', 'metadata', 'metadata'] as const;
const REQUEST = ['request', 'm.request', 'metadata.request'] as const;
const RESPONSE = ['response', 'm.response', 'metadata.response'] as const;

const serverErrors = between('response.status_code', STATUS, 500, 599);
const clientErrors = between('response.status_code', STATUS, 400, 499);

const level = (list: readonly string[]) => oneOf('m.level', 'metadata.level', list);
const severity = (list: readonly string[]) =>
  oneOf('parsed.error_severity', 'metadata.parsed.error_severity', list);

/** The status of the auth service, which may be a text: cast, and 0 where it is none. */
const authStatus = (low: number): Condition => ({
  sql: `ifnull(safe_cast(metadata.status as int64), 0) >= ${low}`,
  holds: (entry) => Number(entry.at('metadata.status') ?? 0) >= low,
});

export const LOGS: readonly Log[] = [
  {
    table: 'edge_logs',
    source: 'cloudflare.logs.prod',
    records: [METADATA, REQUEST, RESPONSE],
    columns: [
      ['request.method', 'metadata.request.method'],
      ['request.path', PATH],
      ['request.search', 'metadata.request.search'],
      ['response.status_code', STATUS],
    ],
    filters: [
      clientErrors,
      either(serverErrors, between('response.status_code', STATUS, 200, 299)),
      oneOf('request.method', 'metadata.request.method', ['POST', 'PATCH']),
      startsWith('request.path', PATH, '/auth'),
      either(startsWith('request.path', PATH, '/rest'), startsWith('path', PATH, '/storage')),
    ],
    error: serverErrors,
    warning: clientErrors,
  },
  {
    table: 'postgres_logs',
    source: 'postgres.logs',
    records: [METADATA, ['parsed', 'm.parsed', 'metadata.parsed']],
    columns: [
      ['parsed.error_severity', 'metadata.parsed.error_severity'],
      ['parsed.detail', 'metadata.parsed.detail'],
      ['parsed.hint', 'metadata.parsed.hint'],
    ],
    filters: [
      severity(['ERROR', 'FATAL', 'PANIC']),
      either(severity(['WARNING']), severity(['LOG'])),
      either(oneOf('parsed.application_name', 'metadata.parsed.application_name', ['pg_cron']), {
        sql: "event_message::text like '%cron job%'",
        holds: (entry) => entry.message.includes('cron job'),
      }),
    ],
    error: severity(['ERROR', 'FATAL', 'PANIC']),
    warning: severity(['WARNING']),
  },
  {
    table: 'function_edge_logs',
    source: 'deno-relay-logs',
    records: [METADATA, RESPONSE, REQUEST],
    columns: [
      ['m.function_id', 'metadata.function_id'],
      ['m.execution_time_ms', 'metadata.execution_time_ms'],
      ['request.method', 'metadata.request.method'],
      ['response.status_code', STATUS],
    ],
    filters: [
      serverErrors,
      oneOf('function_id', 'metadata.function_id', ['fn-hello']),
      oneOf('request.method', 'metadata.request.method', ['POST']),
    ],
    error: serverErrors,
    warning: clientErrors,
  },
  {
    table: 'function_logs',
    source: 'deno-subhosting-events',
    records: [['metadata', 'metadata', 'metadata']],
    columns: [
      ['metadata.event_type', 'metadata.event_type'],
      ['metadata.function_id', 'metadata.function_id'],
      ['metadata.level', 'metadata.level'],
    ],
    filters: [oneOf('metadata.level', 'metadata.level', ['error', 'warning'])],
    error: oneOf('metadata.level', 'metadata.level', ['error', 'fatal']),
    warning: oneOf('metadata.level', 'metadata.level', ['warning']),
  },
  {
    table: 'auth_logs',
    source: 'gotrue.logs.prod',
    records: [['metadata', 'metadata', 'metadata']],
    columns: [
      ['metadata.level', 'metadata.level'],
      ['metadata.status', 'metadata.status'],
      ['metadata.path', 'metadata.path'],
      ['metadata.msg as msg', 'metadata.msg'],
      ['metadata.error', 'metadata.error'],
    ],
    filters: [
      {
        sql: "ifnull(metadata.level, '') in ('error', 'fatal')",
        holds: (entry) => ['error', 'fatal'].includes(entry.text('metadata.level') ?? ''),
      },
      authStatus(500),
      startsWith('metadata.path', 'metadata.path', '/token'),
    ],
    error: either(oneOf('metadata.level', 'metadata.level', ['error', 'fatal']), authStatus(500)),
    warning: oneOf('metadata.level', 'metadata.level', ['warning']),
  },
  {
    table: 'realtime_logs',
    source: 'realtime.logs.prod',
    records: [METADATA],
    columns: [
      ['m.level', 'metadata.level'],
      ['m.external_id', 'metadata.external_id'],
    ],
    filters: [level(['error'])],
    error: level(['error']),
    warning: level(['warning']),
  },
  {
    table: 'storage_logs',
    source: 'storage.logs.prod.2',
    records: [METADATA],
    columns: [
      ['m.level', 'metadata.level'],
      ['m.tenantId', 'metadata.tenantId'],
    ],
    filters: [level(['error', 'warn'])],
    error: level(['error']),
    warning: level(['warn']),
  },
  {
    table: 'postgrest_logs',
    source: 'postgREST.logs.prod',
    records: [METADATA],
    columns: [
      ['identifier', 'identifier'],
      ['m.host', 'metadata.host'],
    ],
    filters: [oneOf('m.host', 'metadata.host', ['rest-1', 'default'])],
    error: NEVER,
    warning: NEVER,
  },
  {
    table: 'pgbouncer_logs',
    source: 'pgbouncer.logs.prod',
    records: [METADATA],
    columns: [['m.host', 'metadata.host']],
    filters: [oneOf('m.host', 'metadata.host', ['pool-1', 'pooler'])],
    error: NEVER,
    warning: NEVER,
  },
];

/** `from … cross join unnest(…) as …`, each on a line of its own. */
export function fromText({ table, records }: Log): string {
  const unnested = records.map(([alias, array]) => `\n  cross join unnest(${array}) as ${alias}`);
  return `from ${table}${unnested.join('')}`;
}

/** The entries a page of the log can show. */
export function shown(log: Log, entries: readonly Entry[]): Entry[] {
  return entries.filter((entry) => log.records.every(([, , path]) => entry.has(path)));
}
