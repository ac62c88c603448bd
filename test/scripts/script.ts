import type { JsonObject, Row } from '../oracle/oracle.ts';

/** Some events, some calls at a fixed time, and the rows they must give. */
export type Script = {
  /** A sentence about behaviour: the test's name. */
  readonly name: string;
  /** The clock of arriving events and of every call; ISO 8601. `NOW` unless given. */
  readonly now?: string;
  /** Events by source, posted in this order. */
  readonly load: Readonly<Record<string, readonly JsonObject[]>>;
  readonly calls: readonly ScriptCall[];
};

type ScriptCall = {
  readonly endpoint: 'logs.all' | 'functions.invocation-stats' | 'usage.api-counts';
  readonly parameters: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
};

export const NOW = '2026-01-15T12:00:00.000Z';

/** Microseconds of an ISO text in UTC with up to six digits of fraction. */
export function us(iso: string): number {
  const [whole, fraction = ''] = iso.replace('Z', '').split('.') as [string, string?];
  return Date.parse(`${whole}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}

/** An edge request with as little around its path as the queries need. */
export function edge(
  timestamp: string,
  path: string,
  more: { readonly project?: string; readonly id?: string; readonly metadata?: unknown } = {},
): JsonObject {
  const project = more.project ?? 'alpha';
  const request = { method: 'GET', path, url: `https://${project}.supabase.co${path}` };
  return {
    id: more.id ?? `${timestamp} ${path}`,
    timestamp,
    event_message: `GET ${path}`,
    project,
    metadata: more.metadata ?? { request, response: { status_code: 200 } },
  };
}

/** One invocation of a function; `metadata` replaces or adds fields. */
export function invocation(
  timestamp: string,
  metadata: JsonObject = {},
  id: string = `${timestamp} ${JSON.stringify(metadata)}`,
): JsonObject {
  return {
    id,
    timestamp,
    event_message: 'POST | 200',
    metadata: {
      project_ref: 'alpha',
      function_id: 'f1',
      execution_time_ms: 10,
      response: { status_code: 200 },
      ...metadata,
    },
  };
}
