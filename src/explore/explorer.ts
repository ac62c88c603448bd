import { must } from '../../engine/columns.ts';
import type { HeldSnapshot, QueryAnswer, SnapshotScope } from '../../engine/index.ts';
import type { Source } from '../../ingest/source.ts';
import { ServiceError } from '../errors.ts';
import {
  EXPLORE_HISTOGRAM_ROWS_MAX,
  EXPLORE_ROWS_LINE_BYTES,
  EXPLORE_WHERE_LENGTH_MAX,
} from '../limits.ts';
import { formatCursor } from './explore-cursor.ts';
import type { ExploreRequest } from './explore-request.ts';
import { type ExploredRows, joinInLists, takeRows } from './explore-rows.ts';
import {
  checkCondition,
  type ExploredEvents,
  formatHistogram,
  formatList,
  formatOlder,
  formatProject,
  formatSeries,
  type HistogramSeries,
} from './explore-sql.ts';
import { findField, type KnownField } from './field-path.ts';
import { HistogramSlices } from './histogram-slices.ts';
import { parseFieldPath, parseSearch, type SearchTerm } from './search.ts';
import { formatConditions } from './search-condition.ts';
import { chooseBucketUs } from './time-buckets.ts';

/** What exploring needs of the service, for one caller. */
export type ExploreTools = {
  /** @throws ServiceError if the text does not bind. */
  readonly check: (sql: string) => Promise<void>;
  /** Runs a text as a call of the caller, with the limits of a call; on what is there now, if there is no snapshot. */
  readonly run: (
    sql: string,
    options: { readonly rowsMax: number; readonly snapshot?: HeldSnapshot | undefined },
  ) => Promise<QueryAnswer>;
  /** The only project in reach of the caller, if there is just one. */
  readonly onlyProject?: string | undefined;
  readonly takeSnapshot: (scope: SnapshotScope) => HeldSnapshot;
  /** The fields of the events of a snapshot that the caller may see. */
  readonly findFields: (
    request: ExploreRequest,
    source: Source,
    snapshot: HeldSnapshot,
  ) => Promise<readonly KnownField[]>;
  readonly nowMs: () => number;
  /** Milliseconds that all of it may take. */
  readonly msMax: number;
};

/** A line of the answer in parts, without its end. */
export type ExploreLine = readonly (string | Uint8Array)[];

/**
 * Explores events of a source: a list and its histogram, from one snapshot. The rows come first, then the buckets of one
 * slice of the window after the other, the newest first. The snapshot is released when the last line was taken, and when
 * nobody takes any more.
 *
 * @throws ServiceError: before the first line for what is wrong with the request, later for what goes wrong in a run.
 */
export async function* explore(
  request: ExploreRequest,
  source: Source,
  tools: ExploreTools,
): AsyncGenerator<ExploreLine> {
  const snapshot = takeSnapshot(request, source, tools);
  try {
    yield* new Exploration(request, source, snapshot, tools).lines();
  } finally {
    snapshot.release();
  }
}

function takeSnapshot(
  request: ExploreRequest,
  source: Source,
  tools: Pick<ExploreTools, 'takeSnapshot' | 'onlyProject'>,
): HeldSnapshot {
  return tools.takeSnapshot({
    source: source.name,
    projectKey: request.project ?? tools.onlyProject,
    timestampUsStart: -Infinity,
    timestampUsEnd: request.window.toUs,
  });
}

/** The conditions of a request; names of fields are looked up in what is there now. @throws ServiceError */
export async function findWalkedEvents(
  request: ExploreRequest,
  source: Source,
  tools: ExploreTools,
): Promise<ExploredEvents> {
  const findFields = async (): Promise<readonly KnownField[]> => {
    const snapshot = takeSnapshot(request, source, tools);
    try {
      return await tools.findFields(request, source, snapshot);
    } finally {
      snapshot.release();
    }
  };
  return (await findEvents({ ...request, by: undefined }, source, findFields)).events;
}

/** The conditions of a request, and the field of its histogram's series. @throws ServiceError */
async function findEvents(
  { search, where, by, project }: ExploreRequest,
  source: Source,
  findFields: () => Promise<readonly KnownField[]>,
): Promise<{ events: ExploredEvents; by: KnownField | undefined }> {
  if (where !== undefined) checkCondition(where, EXPLORE_WHERE_LENGTH_MAX);
  const byPath = by === undefined ? undefined : parseFieldPath('by', by);
  const terms = parseSearch(search);
  const known = needsFields(terms, byPath) ? await findFields() : [];
  const conditions = [
    ...(project === undefined ? [] : [formatProject(source.projectPath, project)]),
    ...formatConditions(search, terms, known),
    ...(where === undefined ? [] : [`(\n${where}\n)`]),
  ];
  const field = byPath === undefined ? undefined : findField(byPath, known);
  if (typeof field === 'string') {
    throw new ServiceError('invalid_parameter', `by: ${field}`, { parameter: 'by' });
  }
  return { events: { source: source.name, conditions }, by: field };
}

/** One request, and what has come of it. */
class Exploration {
  readonly #request: ExploreRequest;
  readonly #source: Source;
  readonly #snapshot: HeldSnapshot;
  readonly #tools: ExploreTools;
  readonly #endMs: number;
  readonly #lostDays = new Set<number>();

  constructor(
    request: ExploreRequest,
    source: Source,
    snapshot: HeldSnapshot,
    tools: ExploreTools,
  ) {
    this.#request = request;
    this.#source = source;
    this.#snapshot = snapshot;
    this.#tools = tools;
    this.#endMs = tools.nowMs() + tools.msMax;
  }

  async *lines(): AsyncGenerator<ExploreLine> {
    const { window, buckets, start } = this.#request;
    const { events, by } = await findEvents(this.#request, this.#source, () =>
      this.#tools.findFields(this.#request, this.#source, this.#snapshot),
    );
    const listSql = formatList(events, window, this.#request);
    const bucketUs = buckets === undefined ? undefined : chooseBucketUs(window, buckets);
    const histogram =
      bucketUs === undefined ? undefined : new Histogram(events, window, bucketUs, by);
    const texts = {
      list_sql: listSql,
      series_sql: histogram?.seriesSql ?? null,
      histogram_sql: histogram?.shownSql ?? null,
    };
    for (const sql of Object.values(texts)) if (sql !== null) await this.#tools.check(sql);
    const bounds = {
      from: Number.isFinite(window.fromUs) ? window.fromUs : null,
      to: Number.isFinite(window.toUs) ? window.toUs : null,
      bucket_us: bucketUs ?? null,
    };
    yield [JSON.stringify({ type: 'query', ...texts, ...bounds })];

    const rowCount = yield* this.#list(listSql);
    if (histogram !== undefined) yield* this.#count(histogram);
    const isOlderWanted = rowCount === 0 && start === undefined;
    const older = isOlderWanted ? await this.#findOlder(events) : null;
    yield [JSON.stringify({ type: 'end', older, lost_days: [...this.#lostDays].sort() })];
  }

  /** The rows in lines, of which the last says where the list goes on. It returns how many there are. */
  async *#list(sql: string): AsyncGenerator<ExploreLine, number> {
    const { rows, next } = await this.#readRows(sql);
    let last: Buffer | undefined;
    for (const list of joinInLists(rows, EXPLORE_ROWS_LINE_BYTES)) {
      if (last !== undefined) yield ['{"type":"rows","rows":', last, '}'];
      last = list;
    }
    const nextText = JSON.stringify(next === undefined ? null : formatCursor(next));
    yield ['{"type":"rows","rows":', must(last), `,"next":${nextText}}`];
    return rows.length;
  }

  async #readRows(sql: string): Promise<ExploredRows> {
    const { limit, start } = this.#request;
    const answer = await this.#run(sql, limit + (start?.cursor.seenCount ?? 0));
    try {
      return await takeRows(answer.json, { start, limit });
    } finally {
      answer.release();
    }
  }

  async *#count(histogram: Histogram): AsyncGenerator<ExploreLine> {
    if (histogram.seriesSql !== null) {
      const rows = await this.#rows<{ series: string }>(histogram.seriesSql);
      const values = rows.map(({ series }) => series);
      histogram.chooseSeries(values);
      const sql = histogram.shownSql;
      yield [JSON.stringify({ type: 'series', series: values, histogram_sql: sql })];
    }
    const { nowMs } = this.#tools;
    const { slices } = histogram;
    for (let slice = slices.next(); slice !== undefined; slice = slices.next()) {
      const startMs = nowMs();
      const rows = await this.#rows<BucketRow>(histogram.sqlOf(slice));
      slices.note(nowMs() - startMs);
      const buckets = rows.map(({ start, series = null, is_other, count }) => ({
        ...{ start, series },
        ...(is_other === true ? { is_other } : {}),
        count,
      }));
      yield [JSON.stringify({ type: 'buckets', buckets, share: slices.share })];
    }
  }

  async #findOlder(events: ExploredEvents): Promise<number | null> {
    const { window } = this.#request;
    if (!Number.isFinite(window.fromUs)) return null;
    const [row] = await this.#rows<{ timestamp: number }>(formatOlder(events, window));
    return row?.timestamp ?? null;
  }

  async #rows<Row>(sql: string): Promise<readonly Row[]> {
    const answer = await this.#run(sql, EXPLORE_HISTOGRAM_ROWS_MAX);
    try {
      return JSON.parse(Buffer.from(answer.json).toString()) as Row[];
    } finally {
      answer.release();
    }
  }

  async #run(sql: string, rowsMax: number): Promise<QueryAnswer> {
    const { run, nowMs, msMax } = this.#tools;
    if (nowMs() > this.#endMs) {
      const message = `a list and its histogram may take ${msMax} ms; these did not end in that time`;
      throw new ServiceError('query_timeout', message);
    }
    const answer = await run(sql, { rowsMax, snapshot: this.#snapshot });
    for (const day of answer.lostDays) this.#lostDays.add(day);
    return answer;
  }
}

type BucketRow = {
  readonly start: number;
  readonly series?: string | null;
  readonly is_other?: boolean;
  readonly count: number;
};

/** The texts of a histogram. Its series are chosen once for the whole window, before any bucket is counted. */
class Histogram {
  readonly slices: HistogramSlices;
  readonly #events: ExploredEvents;
  readonly #window: ExploreRequest['window'];
  readonly #bucketUs: number;
  readonly #by: KnownField | undefined;
  #series: HistogramSeries | undefined;

  constructor(
    events: ExploredEvents,
    window: ExploreRequest['window'],
    bucketUs: number,
    by: KnownField | undefined,
  ) {
    this.#events = events;
    this.#window = window;
    this.#bucketUs = bucketUs;
    this.#by = by;
    this.slices = new HistogramSlices(window, bucketUs);
  }

  /** The text that finds the series; null if there are none. */
  get seriesSql(): string | null {
    return this.#by === undefined ? null : formatSeries(this.#events, this.#window, this.#by);
  }

  chooseSeries(values: readonly string[]): void {
    if (this.#by !== undefined) this.#series = { field: this.#by, values };
  }

  /** The text over the whole window; null before its series are chosen. */
  get shownSql(): string | null {
    const isChosen = this.#by === undefined || this.#series !== undefined;
    return isChosen ? this.sqlOf(this.#window) : null;
  }

  /** The text over a slice. */
  sqlOf(slice: ExploreRequest['window']): string {
    return formatHistogram(this.#events, slice, {
      bucketUs: this.#bucketUs,
      series: this.#series,
    });
  }
}

/** Whether names of fields have to be looked up. */
function needsFields(terms: readonly SearchTerm[], by: readonly string[] | undefined): boolean {
  return by !== undefined || terms.some(({ kind }) => kind === 'field');
}
