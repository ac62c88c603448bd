import type { QueryAnswer } from '../../engine/engine.ts';
import type { ParameterDeclaration } from '../../engine/plan/logical-plan.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { type Reach, reachText } from '../../engine/plan/reach.ts';
import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Source } from '../../ingest/source.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { SharedRuns } from '../call/shared-run.ts';
import { fromQueryError } from '../errors.ts';
import { FOLLOWED_PAGE_ROWS } from '../limits.ts';
import type { PublishedEvents } from '../store/published-events.ts';
import type { EventIds } from './event-ids.ts';
import { type EventPage, eventPageOf } from './event-page.ts';

/** Which events a follower wants, and may have. */
export type FollowedEvents = {
  readonly source: Source;
  /** Of this project alone. */
  readonly project?: string | undefined;
  /** Microseconds since the epoch: none whose timestamp is before. */
  readonly sinceUs?: number | undefined;
  readonly reach: Reach;
  /** Whose turns and time its queries take. */
  readonly tenant: Tenant;
  /** Asked before each part that is sent; with false no more is. Absent: it always may. */
  readonly mayGoOn?: () => boolean;
};

const PARAMETERS: readonly ParameterDeclaration[] = [
  { name: 'after', type: { kind: 'INT64' } },
  { name: 'since', type: { kind: 'TIMESTAMP' } },
  { name: 'project', type: { kind: 'STRING' } },
];

/** A part of the answer that makes its query too large is asked for in pages of so many times less. */
const SMALLER_PAGE_PARTS = 8;

/**
 * Reads events of a source in the order in which they were published, page by page, by queries of
 * its own. Followers of one tenant that stand at the same place get one page together. A query that nobody waits for any
 * more is cancelled.
 */
export class EventReader {
  readonly #engine: Pick<QueryEngine, 'run'>;
  readonly #events: PublishedEvents;
  readonly #ids: EventIds;
  readonly #nowUs: () => number;
  readonly #pageRows: number;
  readonly #queries = new Map<string, PreparedQuery>();
  /** Pages that are being read. */
  readonly #pages = new SharedRuns<ReadPage>();

  constructor(parts: {
    readonly engine: Pick<QueryEngine, 'run'>;
    readonly events: PublishedEvents;
    readonly ids: EventIds;
    readonly nowUs: () => number;
    /** Events of a page, at most; for tests. */
    readonly pageRows?: number;
  }) {
    this.#engine = parts.engine;
    this.#events = parts.events;
    this.#ids = parts.ids;
    this.#nowUs = parts.nowUs;
    this.#pageRows = parts.pageRows ?? FOLLOWED_PAGE_ROWS;
  }

  /**
   * The first events after a number, and the number up to which there are no others.
   *
   * @throws ServiceError for what goes wrong with a query, and `query_cancelled` soon after `cancelled`.
   */
  read(events: FollowedEvents, after: number, cancelled: AbortSignal): Promise<ReadPage> {
    const { source, project, sinceUs, reach, tenant } = events;
    const wanted = [source.name, project ?? null, sinceUs ?? null, reachText(reach), after, tenant];
    const key = JSON.stringify(wanted);
    const page =
      this.#pages.find(key) ??
      this.#pages.begin(key, (signal) => {
        const answer = this.#read(events, { after, rowsMax: this.#pageRows, signal });
        const end = (): void => {};
        return { answer, ended: answer.then(end, end) };
      });
    return page.wait(cancelled);
  }

  /**
   * The number after which the last `count` events are, or all if there are fewer.
   *
   * @throws QueryError for what goes wrong with a query, and `query_cancelled` soon after `cancelled`.
   */
  async lastStart(events: FollowedEvents, count: number, cancelled: AbortSignal): Promise<number> {
    const end = this.#events.lastNumber(events.source.name);
    if (count === 0) return end;
    // The last ones are mostly among so many of all projects; where they are not, all are looked at.
    for (const after of [Math.max(0, end - count * LAST_PARTS), 0]) {
      const page = { after, rowsMax: count, signal: cancelled };
      const answer = await this.#run(events, page, 'newest first');
      const oldest = lastArrival(answer.json);
      answer.release();
      if (answer.rowCount === count || after === 0) return oldest ?? end;
    }
    return end;
  }

  async #read(events: FollowedEvents, wanted: WantedPage): Promise<ReadPage> {
    // What is published from here on may be in the answer, or not.
    const end = this.#events.lastNumber(events.source.name);
    const { rowsMax } = wanted;
    let answer: QueryAnswer;
    try {
      answer = await this.#run(events, wanted, 'oldest first');
    } catch (error) {
      const isTooLarge = error instanceof QueryError && error.code === 'query_limit';
      if (!isTooLarge || rowsMax === 1) throw asServiceError(error);
      return this.#read(events, { ...wanted, rowsMax: Math.ceil(rowsMax / SMALLER_PAGE_PARTS) });
    }
    try {
      const page = await eventPageOf(answer.json, (number) =>
        this.#ids.idOf(events.source.name, number),
      );
      const isWhole = answer.rowCount < rowsMax;
      const through = isWhole ? Math.max(end, page.lastNumber ?? 0) : (page.lastNumber ?? end);
      return { ...page, through };
    } finally {
      answer.release();
    }
  }

  #run(
    events: FollowedEvents,
    { after, rowsMax, signal }: WantedPage,
    order: PageOrder,
  ): Promise<QueryAnswer> {
    return this.#engine.run(this.#queryOf(textOf(events, order)), {
      parameters: new Map<string, string | number | null>([
        ['after', after - 1],
        ['since', events.sinceUs ?? null],
        ['project', events.project ?? null],
      ]),
      nowUs: this.#nowUs(),
      rowsMax,
      reach: events.reach,
      arrivalAfter: after - 1,
      tenant: events.tenant,
      signal,
    });
  }

  #queryOf(text: string): PreparedQuery {
    let query = this.#queries.get(text);
    if (query === undefined) {
      query = this.#events.prepare(text, PARAMETERS);
      this.#queries.set(text, query);
    }
    return query;
  }
}

type WantedPage = {
  readonly after: number;
  readonly rowsMax: number;
  /** Aborted when nobody waits for the page any more. */
  readonly signal: AbortSignal;
};

/** Newest first, only the arrivals are read. */
type PageOrder = 'oldest first' | 'newest first';

export type ReadPage = EventPage & {
  /** All events up to this number are in this page or those before it, or are not wanted. */
  readonly through: number;
};

/** How many times as many events of all projects are looked at for the last ones of some. */
const LAST_PARTS = 16;

/**
 * The query of a page. What an event's project is says the rule of its source: its own column, or a
 * field of its metadata, whose records are then looked at one by one.
 */
function textOf({ source, project, sinceUs }: FollowedEvents, order: PageOrder): string {
  const isNewestFirst = order === 'newest first';
  const columns = isNewestFirst
    ? ''
    : ', t.id, t.timestamp, t.event_message, t.project, t.metadata';
  const [first, ...rest] = source.projectPath;
  const unnests: string[] = [];
  let owner = 't';
  const conditions = ['_arrival > @after'];
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
  const distinct = isNewestFirst && unnests.length > 0 ? 'DISTINCT ' : '';
  return `SELECT ${distinct}_arrival${columns} FROM \`${source.name}\` AS t${unnests.join('')}
WHERE ${conditions.join(' AND ')}
ORDER BY _arrival${isNewestFirst ? ' DESC' : ''}`;
}

/** Of the last row; those before it are not read. `undefined` where there are no rows. */
function lastArrival(rows: Uint8Array): number | undefined {
  const bytes = Buffer.from(rows.buffer, rows.byteOffset, rows.length);
  const row = bytes.toString('latin1', bytes.lastIndexOf('{'), bytes.lastIndexOf('}') + 1);
  return row === '' ? undefined : (JSON.parse(row) as { _arrival: number })._arrival;
}

function asServiceError(error: unknown): unknown {
  return error instanceof QueryError ? fromQueryError(error) : error;
}
