import type { ClickHouseClient } from '@clickhouse/client';
import { QueryError, type SourceSchema } from '../../../engine/columns.ts';
import { optimize, PASSES, type PreparedQuery } from '../../../engine/index.ts';
import { yieldToEventLoop } from '../../../ingest/event-loop.ts';
import { RetryWait } from '../../../ingest/retry-wait.ts';
import type { SavedQueries } from '../../store/backend.ts';
import { readRows } from '../client.ts';
import { EVENTS_TABLE } from '../schema.ts';
import { changedNames, ONE_SERVER, storedName, type TableLayout } from '../table-layout.ts';
import {
  FIELD_COLUMN_START,
  type FieldColumn,
  type FieldPath,
  fieldColumnOf,
  keyOf,
  quoted,
} from './field-path.ts';
import { type FindField, fieldPathsOf } from './field-plan.ts';

/**
 * Columns of fields in the table, those of other services and of earlier definitions among them. ClickHouse computes
 * each for every event that comes in, and a part has two files for each.
 */
const FIELD_COLUMNS_MAX = 100;

/** Columns of one statement: ClickHouse reads statements of at most 262,144 bytes. */
const COLUMNS_PER_STATEMENT = 10;

/** After so many seconds the table is looked at again: others may have changed it. */
const LOOK_TICKS = 60;

/** So long after the start the table is changed first: inserts wait meanwhile, and at a start much is to be sent. */
const FIRST_CHANGE_TICKS = 10;

/** A failed step is tried again after two seconds, then after twice the time, up to a minute. */
const RETRY_TICKS_MAX = 60;

export type FieldColumnsOptions = {
  /** May change the table. */
  readonly client: ClickHouseClient;
  readonly makeTable: () => Promise<TableLayout>;
  readonly sources: readonly SourceSchema[];
  /** Called once when a step fails, until one succeeds. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Keeps columns in the table of events for the fields that saved queries read. A column is added, and ClickHouse fills it
 * from the events that it has; none is ever dropped, for another service may read it.
 */
export class FieldColumns {
  readonly #options: FieldColumnsOptions;
  readonly #retry = new RetryWait(RETRY_TICKS_MAX);
  #queries: SavedQueries | undefined;
  /** What is read of the queries of this version. */
  #wanted: readonly { readonly key: string; readonly column: FieldColumn }[] = [];
  #wantedVersion: number | undefined;
  /** Names of wanted columns that the table has, by the paths that they hold. */
  #names: ReadonlyMap<string, string> = new Map();
  #ticksToLook = 0;
  #ticksToChange = FIRST_CHANGE_TICKS;
  #underWay: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: FieldColumnsOptions) {
    this.#options = options;
  }

  /** Finds the column of a path. */
  readonly find: FindField = (path) =>
    this.#names.size === 0 ? undefined : this.#names.get(keyOf(path));

  /** Keeps the columns of these queries from now on. */
  follow(queries: SavedQueries): void {
    this.#queries = queries;
  }

  /** A column that was found is not there any more: no column is used until the table has been looked at. */
  forget(): void {
    this.#names = new Map();
    this.#ticksToLook = 0;
  }

  /** Must be called about once a second. */
  tick(): void {
    this.#retry.tick();
    this.#ticksToLook = Math.max(0, this.#ticksToLook - 1);
    this.#ticksToChange = Math.max(0, this.#ticksToChange - 1);
    const isChanged = this.#queries?.version !== this.#wantedVersion;
    if (this.#retry.isWaiting || (!isChanged && this.#ticksToLook > 0)) return;
    this.#underWay ??= this.#update().finally(() => {
      this.#underWay = undefined;
    });
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#options.client.close();
  }

  async #update(): Promise<void> {
    try {
      await this.#readQueries();
      this.#ticksToLook = LOOK_TICKS;
      const layout = await this.#options.makeTable();
      const present = await this.#look(layout);
      if (present !== undefined) await this.#add(present, layout);
      this.#retry.note(true);
      this.#isFailing = false;
    } catch (error) {
      this.#ticksToLook = 0;
      this.#retry.note(false);
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
  }

  async #readQueries(): Promise<void> {
    const queries = this.#queries;
    if (queries === undefined || queries.version === this.#wantedVersion) return;
    const { version } = queries;
    const wanted = new Map<string, FieldColumn>();
    for (const { query } of queries.list()) {
      for (const path of savedPathsOf(query, this.#options.sources)) {
        const key = keyOf(path);
        if (wanted.size < FIELD_COLUMNS_MAX && !wanted.has(key)) {
          wanted.set(key, fieldColumnOf(path));
        }
      }
      await yieldToEventLoop();
    }
    this.#wanted = Array.from(wanted, ([key, column]) => ({ key, column }));
    this.#wantedVersion = version;
  }

  /** The columns of fields that the tables have; `undefined` of a table that cannot compute columns. */
  async #look(layout: TableLayout): Promise<ReadonlySet<string> | undefined> {
    const tables = changedNames(EVENTS_TABLE, layout);
    const [table] = await readRows<{
      readonly engine: string;
      readonly names: readonly string[];
    }>(this.#options.client, {
      query: `SELECT engine, (SELECT groupArray(name) FROM (SELECT name FROM system.columns
          WHERE database = currentDatabase() AND table IN {tables: Array(String)}
          AND default_kind = 'MATERIALIZED' AND startsWith(name, {start: String})
          GROUP BY name HAVING count() = {count: UInt8})) AS names
        FROM system.tables WHERE database = currentDatabase() AND name = {stored: String}`,
      query_params: {
        ...{ tables, count: tables.length, start: FIELD_COLUMN_START },
        stored: storedName(EVENTS_TABLE, layout),
      },
    });
    if (table?.engine.endsWith('MergeTree') !== true) return undefined;
    const present = new Set(table.names);
    this.#useThose(present);
    return present;
  }

  async #add(present: ReadonlySet<string>, layout: TableLayout): Promise<void> {
    const missing = this.#wanted
      .map(({ column }) => column)
      .filter(({ name }) => !present.has(name))
      .slice(0, Math.max(0, FIELD_COLUMNS_MAX - present.size));
    if (missing.length > 0 && this.#ticksToChange > 0) {
      this.#ticksToLook = this.#ticksToChange;
      return;
    }
    const there = new Set(present);
    for (let start = 0; start < missing.length; start += COLUMNS_PER_STATEMENT) {
      const added = missing.slice(start, start + COLUMNS_PER_STATEMENT);
      for (const query of addColumnsStatements(added, { layout, isFilled: true })) {
        await this.#options.client.command({ query });
      }
      for (const { name } of added) there.add(name);
      this.#useThose(there);
    }
  }

  #useThose(present: ReadonlySet<string>): void {
    const there = this.#wanted.filter(({ column }) => present.has(column.name));
    this.#names = new Map(there.map(({ key, column }) => [key, column.name]));
  }
}

/**
 * The statements that add columns, on one server by default. `isFilled`: ClickHouse fills them in the background; else as it
 * merges parts.
 */
export function addColumnsStatements(
  columns: readonly FieldColumn[],
  { layout = ONE_SERVER, isFilled }: { readonly layout?: TableLayout; readonly isFilled: boolean },
): readonly string[] {
  const changes = columns.map(
    ({ name, type, expression, comment }) =>
      `ADD COLUMN IF NOT EXISTS ${name} ${type} MATERIALIZED ${expression} COMMENT ${quoted(comment)}`,
  );
  const stored = storedName(EVENTS_TABLE, layout);
  return changedNames(EVENTS_TABLE, layout).map((table) => {
    const isFilledHere = isFilled && table === stored;
    const filled = isFilledHere ? columns.map(({ name }) => `MATERIALIZE COLUMN ${name}`) : [];
    return `ALTER TABLE ${table}${layout.onCluster} ${[...changes, ...filled].join(', ')}`;
  });
}

/** The passes after which a plan reads fields where it needs them, whatever values a call brings. */
const NEEDED_PASSES: ReadonlySet<string> = new Set([
  ...['sink unnests', 'push filters', 'lift projections', 'prune columns'],
]);

/** The paths of a saved query that are worth columns. */
export function savedPathsOf(
  { bound }: PreparedQuery,
  sources: readonly SourceSchema[],
): readonly FieldPath[] {
  try {
    const passes = PASSES.filter(({ name }) => NEEDED_PASSES.has(name));
    const context = { parameters: new Map(), nowUs: undefined, rowsMax: 1, sources };
    return fieldPathsOf(optimize(bound, context, passes), bound.output);
  } catch (error) {
    // Its calls are refused, too.
    if (error instanceof QueryError) return [];
    throw error;
  }
}
