import { ask } from './client.ts';
import { askLines } from './line-stream.ts';

export type LogEvent = {
  readonly id: string;
  /** Microseconds since the epoch. */
  readonly timestamp: number;
  readonly event_message: string | null;
  readonly project: string | null;
  readonly metadata: unknown;
  /** Where events of several sources are in one list. */
  readonly source?: string;
};

/** Identifies an event of a source, and its place in the list. */
export type EventKey = Pick<LogEvent, 'timestamp' | 'id'>;

/** What is to be explored, as `POST /api/explore` takes it. */
export type ExploreRequest = {
  readonly source: string;
  readonly project?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly search?: string | undefined;
  readonly by?: string | undefined;
  readonly buckets?: number;
  readonly limit?: number;
  readonly before?: string | EventKey;
  readonly after?: string | EventKey;
  readonly histogram?: boolean;
};

/** What is run, and over which time. */
export type ExploreQuery = {
  readonly list_sql: string;
  readonly histogram_sql: string | null;
  /** Microseconds; null without a bound. */
  readonly from: number | null;
  readonly to: number | null;
  readonly bucket_us: number | null;
};

/** How many events of one series are in a bucket of time. */
export type Bucket = {
  readonly start: number;
  /** Null for events without the field, and for the values that have no series of their own. */
  readonly series: string | null;
  readonly is_other?: boolean;
  readonly count: number;
};

type ExploreLine =
  | ({ readonly type: 'query' } & ExploreQuery)
  | {
      readonly type: 'rows';
      readonly rows: readonly LogEvent[];
      /** Absent where another line of rows follows. */
      readonly next?: string | null;
    }
  | {
      readonly type: 'series';
      readonly series: readonly string[];
      readonly histogram_sql: string;
    }
  | { readonly type: 'buckets'; readonly buckets: readonly Bucket[]; readonly share: number }
  | {
      readonly type: 'end';
      readonly older: number | null;
      readonly lost_days: readonly number[];
    }
  | { readonly type: 'error'; readonly error: { readonly code: string; readonly message: string } };

/** A list of events and its histogram, line by line. */
export function explore(request: ExploreRequest, signal: AbortSignal): AsyncGenerator<ExploreLine> {
  return askLines<ExploreLine>('api/explore', { method: 'POST', json: request, signal });
}

export type NamedSource = {
  readonly name: string;
  /** Only tokens that may manage see it. */
  readonly events?: number;
};

/** The sources in reach. The profile `supabase` lists them without an object around. */
export async function loadSources(signal: AbortSignal): Promise<readonly NamedSource[]> {
  const answer = await ask<{ result: NamedSource[] } | NamedSource[]>('api/sources', { signal });
  return 'result' in answer ? answer.result : answer;
}

export type FieldInfo = {
  /** The path that a search uses. */
  readonly path: string;
  readonly keys: readonly string[];
  readonly kinds: readonly string[];
  /** In how many events it is. */
  readonly events: number;
  readonly distinct: number;
  readonly distinct_is_exact: boolean;
  readonly top: readonly {
    readonly value: string | number | boolean | null;
    readonly count: number;
  }[];
  readonly top_is_exact: boolean;
};

export type FieldsAnswer = {
  readonly events: number;
  readonly fields: readonly FieldInfo[];
  /** Whether there are more than are listed. */
  readonly is_cut: boolean;
};

/** The fields of the events of a window, with their most frequent values. */
export function loadFields(
  of: Pick<ExploreRequest, 'source' | 'project' | 'from' | 'to'>,
  signal: AbortSignal,
): Promise<FieldsAnswer> {
  const { source, ...query } = of;
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const path = `api/sources/${encodeURIComponent(source)}/fields`;
  return ask<FieldsAnswer>(`${path}?${new URLSearchParams(given)}`, { signal });
}
