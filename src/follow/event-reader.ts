import { QueryError, type QueryErrorCode } from '../../engine/columns.ts';
import {
  type ParameterDeclaration,
  type PreparedQuery,
  type QueryAnswer,
  type Reach,
  reachText,
  type Tenant,
} from '../../engine/index.ts';
import type { Source } from '../../ingest/source.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { SharedRuns } from '../call/shared-run.ts';
import { fromQueryError } from '../errors.ts';
import { FOLLOWED_PAGE_ROWS } from '../limits.ts';
import type { PublishedEvents } from '../store/published-events.ts';
import type { EventIds } from './event-ids.ts';
import { createEventPage, type EventPage } from './event-page.ts';

/** The events that a follower wants and may see. */
export type FollowedEvents = {
  readonly source: Source;
  /** If given, only events of this project. */
  readonly project?: string | undefined;
  /** If given, only events with this timestamp or a later one; microseconds since the epoch. */
  readonly sinceUs?: number | undefined;
  /** Conditions in SQL over the table `t`, which all must hold. */
  readonly conditions?: readonly string[];
  readonly reach: Reach;
  /** The tenant whose turns and time the queries use. */
  readonly tenant: Tenant;
  /** Called before each part is sent; false ends the stream. Without it, the stream never ends so. */
  readonly mayGoOn?: () => boolean;
};

const PARAMETERS: readonly ParameterDeclaration[] = [
  { name: 'after', type: { kind: 'INT64' } },
  { name: 'end', type: { kind: 'INT64' } },
  { name: 'since', type: { kind: 'TIMESTAMP' } },
  { name: 'project', type: { kind: 'STRING' } },
];

/** Codes of a query that may succeed with fewer rows. */
const SIZE_CODES: readonly QueryErrorCode[] = ['query_limit', 'answer_too_large'];

/** If the answer of a part is too large, the part is read in pages smaller by this factor. */
const SMALLER_PAGE_PARTS = 8;

/**
 * Reads events of a source in the order of publication, page by page, by queries of its own. Followers of one tenant at
 * the same position share a page. A query is cancelled when no follower waits for it.
 */
export class EventReader {
  readonly #engine: Pick<QueryEngine, 'run'>;
  readonly #events: PublishedEvents;
  readonly #ids: EventIds;
  readonly #nowUs: () => number;
  readonly #pageRows: number;
  readonly #queries: Queries = new Map();
  /** Of searches, which nobody else may make: they are kept as long as their stream. */
  readonly #ofSearches = new WeakMap<FollowedEvents, Queries>();
  /** Pages, and starts of followers, that are being read. */
  readonly #pages = new SharedRuns<ReadPage>();
  readonly #starts = new SharedRuns<number>();

  constructor(parts: {
    readonly engine: Pick<QueryEngine, 'run'>;
    readonly events: PublishedEvents;
    readonly ids: EventIds;
    readonly nowUs: () => number;
  }) {
    this.#engine = parts.engine;
    this.#events = parts.events;
    this.#ids = parts.ids;
    this.#nowUs = parts.nowUs;
    this.#pageRows = parts.events.pageRows ?? FOLLOWED_PAGE_ROWS;
  }

  /**
   * Reads the first events after a number, and the number up to which there are no others.
   *
   * @throws ServiceError if a query fails, and `query_cancelled` soon after `cancelled`.
   */
  read(events: FollowedEvents, after: number, cancelled: AbortSignal): Promise<ReadPage> {
    return shareRun(this.#pages, [...ofEvents(events), after], cancelled, (signal) =>
      this.#read(events, { after, rowsMax: this.#pageRows, signal }),
    );
  }

  /**
   * The number that precedes the last `count` events, or all events if there are fewer.
   *
   * @throws QueryError if a query fails, and `query_cancelled` soon after `cancelled`.
   */
  async lastStart(events: FollowedEvents, count: number, cancelled: AbortSignal): Promise<number> {
    const end = this.#events.lastNumber(events.source.name);
    if (count === 0) return end;
    return shareRun(this.#starts, [...ofEvents(events), end, count], cancelled, (signal) =>
      this.#findLastStart(events, { count, end, signal }),
    );
  }

  async #findLastStart(
    events: FollowedEvents,
    {
      count,
      end,
      signal,
    }: { readonly count: number; readonly end: number; readonly signal: AbortSignal },
  ): Promise<number> {
    for (let parts = seesAll(events) ? 1 : LAST_PARTS; ; parts *= LAST_PARTS_GROWTH) {
      const after = Math.max(0, end - count * parts);
      const page = { after, end, rowsMax: count, signal };
      const answer = await this.#run(events, page, 'newest first');
      const oldest = lastArrival(answer.json);
      answer.release();
      if (answer.rowCount === count || after === 0) return oldest ?? end;
    }
  }

  async #read(events: FollowedEvents, wanted: Omit<WantedPage, 'end'>): Promise<ReadPage> {
    const { after, rowsMax, signal } = wanted;
    const { source, sinceUs } = events;
    let end: number;
    let answer: QueryAnswer;
    try {
      end = await this.#events.pageEnd({ source: source.name, after, sinceUs }, signal);
      answer = await this.#run(events, { ...wanted, end }, 'oldest first');
    } catch (error) {
      const isTooLarge = error instanceof QueryError && SIZE_CODES.includes(error.code);
      if (!isTooLarge || rowsMax === 1) throw asServiceError(error);
      return this.#read(events, { ...wanted, rowsMax: Math.ceil(rowsMax / SMALLER_PAGE_PARTS) });
    }
    try {
      const page = await createEventPage(answer.json, (number) =>
        this.#ids.createId(source.name, number),
      );
      const isWhole = answer.rowCount < rowsMax;
      return { ...page, through: isWhole ? end : (page.lastNumber ?? end) };
    } finally {
      answer.release();
    }
  }

  #run(
    events: FollowedEvents,
    { after, end, rowsMax, signal }: WantedPage,
    order: PageOrder,
  ): Promise<QueryAnswer> {
    return this.#engine.run(this.#getQuery(events, order), {
      parameters: new Map<string, string | number | null>([
        ['after', after - 1],
        ['end', end],
        ['since', events.sinceUs ?? null],
        ['project', events.project ?? null],
      ]),
      nowUs: this.#nowUs(),
      rowsMax,
      reach: events.reach,
      arrivalAfter: after - 1,
      arrivalEnd: end,
      tenant: events.tenant,
      signal,
    });
  }

  #getQuery(events: FollowedEvents, order: PageOrder): PreparedQuery {
    const text = formatQuery(events, order);
    const queries = this.#findQueries(events);
    let query = queries.get(text);
    if (query === undefined) {
      query = this.#events.prepare(text, PARAMETERS);
      queries.set(text, query);
    }
    return query;
  }

  #findQueries(events: FollowedEvents): Queries {
    if (!events.conditions?.length) return this.#queries;
    const queries: Queries = this.#ofSearches.get(events) ?? new Map();
    this.#ofSearches.set(events, queries);
    return queries;
  }
}

/** Waits for a run that followers with the same `wanted` share; begins it where there is none. */
function shareRun<Answer>(
  runs: SharedRuns<Answer>,
  wanted: readonly unknown[],
  cancelled: AbortSignal,
  read: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const key = JSON.stringify(wanted);
  const end = (): void => {};
  const run =
    runs.find(key) ??
    runs.begin(key, (signal) => {
      const answer = read(signal);
      return { answer, ended: answer.then(end, end) };
    });
  return run.wait(cancelled);
}

/** What followers must have in common to share a run. */
function ofEvents(events: FollowedEvents): readonly unknown[] {
  const { source, project, sinceUs, conditions, reach, tenant } = events;
  const which = [source.name, project ?? null, sinceUs ?? null, conditions ?? []];
  return [...which, reachText(reach), tenant];
}

/** Prepared queries by their texts. */
type Queries = Map<string, PreparedQuery>;

/** The events with the numbers (after, end]. */
type WantedPage = {
  readonly after: number;
  readonly end: number;
  readonly rowsMax: number;
  /** Aborted when no follower waits for the page. */
  readonly signal: AbortSignal;
};

/** For newest first, only the arrival numbers are read. */
type PageOrder = 'oldest first' | 'newest first';

export type ReadPage = EventPage & {
  /** All wanted events up to this number are in this page or earlier ones. */
  readonly through: number;
};

/**
 * The last events of some projects are first searched among this many times as many recent events of all projects. To
 * search all events of a large source for one takes a worker as long as a page of statistics.
 */
const LAST_PARTS = 16;

/** The factor by which more events are searched if they are not among these. */
const LAST_PARTS_GROWTH = 256;

/** Whether every event of the source is wanted and may be seen. */
function seesAll({ project, sinceUs, conditions, reach }: FollowedEvents): boolean {
  const isWhole = project === undefined && sinceUs === undefined && !conditions?.length;
  return isWhole && reach.projects === 'all';
}

/**
 * The query of a page. The rule of the source determines an event's project: its column, or a field of its metadata,
 * whose records are then searched one by one.
 */
function formatQuery(events: FollowedEvents, order: PageOrder): string {
  const { source, project, sinceUs } = events;
  const isNewestFirst = order === 'newest first';
  const columns = isNewestFirst
    ? ''
    : ', t.id, t.timestamp, t.event_message, t.project, t.metadata';
  const [first, ...rest] = source.projectPath;
  const unnests: string[] = [];
  let owner = 't';
  const conditions = ['_arrival > @after', '_arrival < @end'];
  if (sinceUs !== undefined) conditions.push('t.timestamp >= @since');
  if (project !== undefined) {
    let field = first!;
    for (const name of rest) {
      const record = `r${unnests.length}`;
      unnests.push(` CROSS JOIN UNNEST(${owner}.\`${field}\`) AS ${record}`);
      owner = record;
      field = name;
    }
    conditions.push(`${owner}.\`${field}\` = @project`);
  }
  conditions.push(...(events.conditions ?? []).map((condition) => `(${condition})`));
  const distinct = isNewestFirst && unnests.length > 0 ? 'DISTINCT ' : '';
  return `SELECT ${distinct}_arrival${columns} FROM \`${source.name}\` AS t${unnests.join('')}
WHERE ${conditions.join(' AND ')}
ORDER BY _arrival${isNewestFirst ? ' DESC' : ''}`;
}

/** The arrival number of the last row, without reading the others; `undefined` if there are no rows. */
function lastArrival(rows: Uint8Array): number | undefined {
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.length);
  const row = bytes.toString('latin1', bytes.lastIndexOf('{'), bytes.lastIndexOf('}') + 1);
  return row === '' ? undefined : (JSON.parse(row) as { _arrival: number })._arrival;
}

function asServiceError(error: unknown): unknown {
  return error instanceof QueryError ? fromQueryError(error) : error;
}
