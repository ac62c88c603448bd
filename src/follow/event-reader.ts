import type { PreparedQuery, QueryAnswer } from '../../engine/engine.ts';
import type { ParameterDeclaration } from '../../engine/plan/logical-plan.ts';
import { type Reach, reachText } from '../../engine/plan/reach.ts';
import { QueryError } from '../../engine/query-error.ts';
import type { Source } from '../../ingest/source.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { fromQueryError } from '../errors.ts';
import { FOLLOWED_PAGE_ROWS } from '../limits.ts';
import type { PublishedEvents } from '../store/published-events.ts';
import { type EventPage, eventPageOf } from './event-page.ts';

/** Which events a follower wants, and may have. */
export type FollowedEvents = {
  readonly source: Source;
  /** Of this project alone. */
  readonly project?: string | undefined;
  /** Microseconds since the epoch: none whose timestamp is before. */
  readonly sinceUs?: number | undefined;
  readonly reach: Reach;
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
 * its own. Followers that stand at the same place get one page together.
 */
export class EventReader {
  readonly #engine: Pick<QueryEngine, 'run'>;
  readonly #events: PublishedEvents;
  readonly #nowUs: () => number;
  readonly #pageRows: number;
  readonly #queries = new Map<string, PreparedQuery>();
  /** Pages that are being read. */
  readonly #pages = new Map<string, Promise<ReadPage>>();

  constructor(parts: {
    readonly engine: Pick<QueryEngine, 'run'>;
    readonly events: PublishedEvents;
    readonly nowUs: () => number;
    /** Events of a page, at most; for tests. */
    readonly pageRows?: number;
  }) {
    this.#engine = parts.engine;
    this.#events = parts.events;
    this.#nowUs = parts.nowUs;
    this.#pageRows = parts.pageRows ?? FOLLOWED_PAGE_ROWS;
  }

  /**
   * The first events behind an id, and the id up to which there are no others.
   *
   * @throws ServiceError for what goes wrong with a query.
   */
  read(events: FollowedEvents, after: number): Promise<ReadPage> {
    const { source, project, sinceUs, reach } = events;
    const wanted = [source.name, project ?? null, sinceUs ?? null, reachText(reach), after];
    const key = JSON.stringify(wanted);
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = this.#read(events, after, this.#pageRows).finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return page;
  }

  /**
   * The id behind which the last `count` events are, or all if there are fewer.
   *
   * @throws ServiceError for what goes wrong with a query.
   */
  async lastStart(events: FollowedEvents, count: number): Promise<number> {
    const end = this.#events.lastId(events.source.name);
    if (count === 0) return end;
    // The last ones are mostly among so many of all projects; where they are not, all are looked at.
    for (const after of [Math.max(0, end - count * LAST_PARTS), 0]) {
      const answer = await this.#run(events, { after, rowsMax: count, isNewestFirst: true });
      const rows = Buffer.from(answer.json).toString();
      answer.release();
      const ids = (JSON.parse(rows) as { readonly _arrival: number }[]).map((row) => row._arrival);
      if (ids.length === count || after === 0) return ids.at(-1) ?? end;
    }
    return end;
  }

  async #read(events: FollowedEvents, after: number, rowsMax: number): Promise<ReadPage> {
    // What is published from here on may be in the answer, or not.
    const end = this.#events.lastId(events.source.name);
    let answer: QueryAnswer;
    try {
      answer = await this.#run(events, { after, rowsMax, isNewestFirst: false });
    } catch (error) {
      const isTooLarge = error instanceof QueryError && error.code === 'query_limit';
      if (!isTooLarge || rowsMax === 1) throw asServiceError(error);
      return this.#read(events, after, Math.ceil(rowsMax / SMALLER_PAGE_PARTS));
    }
    try {
      const page = await eventPageOf(answer.json);
      const isWhole = answer.rowCount < rowsMax;
      const through = isWhole ? Math.max(end, page.lastId ?? 0) : (page.lastId ?? end);
      return { ...page, through };
    } finally {
      answer.release();
    }
  }

  #run(
    events: FollowedEvents,
    page: { readonly after: number; readonly rowsMax: number; readonly isNewestFirst: boolean },
  ): Promise<QueryAnswer> {
    const { after, rowsMax, isNewestFirst } = page;
    return this.#engine.run(this.#queryOf(textOf(events, isNewestFirst)), {
      parameters: new Map<string, string | number | null>([
        ['after', after - 1],
        ['since', events.sinceUs ?? null],
        ['project', events.project ?? null],
      ]),
      nowUs: this.#nowUs(),
      rowsMax,
      reach: events.reach,
      arrivalAfter: after - 1,
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

export type ReadPage = EventPage & {
  /** All events up to this id are in this page or those before it, or are not wanted. */
  readonly through: number;
};

/** How many times as many events of all projects are looked at for the last ones of some. */
const LAST_PARTS = 16;

/**
 * The query of a page. What an event's project is says the rule of its source: its own column, or a
 * field of its metadata, whose records are then looked at one by one.
 */
function textOf({ source, project, sinceUs }: FollowedEvents, isNewestFirst: boolean): string {
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

function asServiceError(error: unknown): unknown {
  return error instanceof QueryError ? fromQueryError(error) : error;
}
