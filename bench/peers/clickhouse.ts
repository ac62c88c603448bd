import { mkdirSync, rmSync } from 'node:fs';
import type { EventBatch, Kind } from '../workload/workload.ts';
import {
  creation,
  DATABASE,
  INSERT_SETTINGS,
  LOAD_SETTINGS,
  rollUpCreation,
  rollUpText,
  stagingCreation,
  stagingName,
} from './clickhouse-schema.ts';
import { joinedTexts } from './joined-texts.ts';
import type { Peer, PeerIntake } from './peer.ts';
import { peerPackage } from './peer-package.ts';
import { type Dialect, statementOf } from './peer-sql.ts';
import type { AnswerRow, CellValue, Question } from './question.ts';
import { TABLES, type Table, tableOf } from './table.ts';
import { countTables } from './table-counts.ts';

/** What is used of `chdb`. */
type Package = {
  readonly Session: new (
    folder: string,
    options: { readonly connectionArgs: readonly string[] },
  ) => Session;
  drainPending(): Promise<void>;
};
type Session = {
  query(sql: string, format?: string): string;
  insert(options: {
    readonly table: string;
    readonly values: Buffer;
    readonly format: string;
    readonly settings: Readonly<Record<string, number>>;
  }): Promise<unknown>;
  close(): void;
};

export const DIALECT: Dialect = {
  contains: (column, part) => `position(${column}, '${part}') > 0`,
  matches: (column, expression, bind) => `match(${column}, ${bind(expression)})`,
  // Exact, and faster than the t-digest as long as most values come often.
  quantiles: (column) => `quantilesExact(0.95, 0.99)(${column}) AS quantiles`,
  percentile99: (column) => `quantileExact(0.99)(${column})`,
  float: (expression) => expression,
};

/** Millions of different values are what a digest is for. */
const DIGEST_DIALECT: Dialect = {
  ...DIALECT,
  quantiles: (column) => `quantilesTDigest(0.95, 0.99)(${column}) AS quantiles`,
};

/** A token of its own, as URLs have the reference of a project: less than the expression asks. */
const TOKEN_DIALECT: Dialect = {
  ...DIALECT,
  matches: (column, expression, bind) =>
    /^[a-z0-9]+$/.test(expression) ? `hasToken(${column}, ${bind(expression)})` : undefined,
};

/** No answer, and no outcome of a condition, is kept; blocks of files are, uncompressed. */
const SETTINGS: Readonly<Record<string, number | string>> = {
  max_threads: 2,
  use_query_cache: 0,
  use_query_condition_cache: 0,
  use_uncompressed_cache: 1,
  output_format_json_quote_64bit_integers: 0,
  output_format_write_statistics: 0,
};

const UNCOMPRESSED_BYTES_MAX = 4e9;

/** Of the memory that it may take: what is kept uncompressed, and marks of parts. */
const UNCOMPRESSED_SHARE = 1 / 4;
const MARKS_SHARE = 1 / 16;

/**
 * How it is asked: the question as it is; where that can be answered from a roll-up by the hour that it
 * was told to keep, from that; or a narrower one, which its index of tokens is for.
 */
export type Way = 'as asked' | 'roll-up' | 'tokens';

/** ClickHouse in this process, on two threads: sorted by project and time, URLs with two indexes. */
export class ClickHouse implements Peer {
  readonly name = 'ClickHouse';
  readonly quantiles = 'approximate';
  readonly #package = peerPackage<Package>('chdb');
  readonly #way: Way;
  #session: Session | undefined;

  readonly #memoryBytesMax: number | undefined;

  constructor(way: Way, memoryBytesMax?: number) {
    this.#way = way;
    this.#memoryBytesMax = memoryBytesMax;
  }

  async version(): Promise<string> {
    if (this.#session !== undefined) return String(this.#rows('SELECT version()')[0]![0]);
    const { query } = peerPackage<{ query(sql: string, format: string): string }>('chdb');
    return query('SELECT version()', 'TSV').trim();
  }

  async open(folder: string): Promise<void> {
    this.#session = await openSession(this.#package, folder, this.#memoryBytesMax);
  }

  /** Parts are merged, and indexed, once, by `finishLoading`. */
  async load(kind: Kind, batches: Iterable<EventBatch>): Promise<void> {
    const session = this.#open();
    const table = tableOf(kind);
    for (const sql of [...creation(table), ...stagingCreation(table)]) session.query(sql);
    session.query(`SYSTEM STOP MERGES ${DATABASE}.${table.name}`);
    for (const text of joinedTexts(batches)) await insert(session, table, text, LOAD_SETTINGS);
  }

  async finishLoading(): Promise<void> {
    for (const table of TABLES) {
      if (!this.#has(table)) continue;
      this.#open().query(`SYSTEM START MERGES ${DATABASE}.${table.name}`);
      this.#open().query(`OPTIMIZE TABLE ${DATABASE}.${table.name} FINAL`);
    }
    if (!this.#has(tableOf('invocations'))) return;
    for (const sql of rollUpCreation()) this.#open().query(sql);
  }

  async counts(): Promise<ReadonlyMap<Kind, number>> {
    return countTables({
      prefix: `${DATABASE}.`,
      has: (table) => this.#has(table),
      rows: (sql) => this.#rows(sql),
    });
  }

  async ask(question: Question): Promise<readonly AnswerRow[] | undefined> {
    switch (this.#way) {
      case 'as asked':
        return this.#askWith(
          question,
          question.kind === 'float-quantiles' ? DIGEST_DIALECT : DIALECT,
        );
      case 'tokens':
        if (question.kind !== 'api-counts') return undefined;
        return this.#askWith(question, TOKEN_DIALECT);
      case 'roll-up': {
        const sql = rollUpText(question, quoted);
        return sql === undefined ? undefined : this.#rows(sql);
      }
    }
  }

  async askSql(sql: string): Promise<readonly AnswerRow[]> {
    return this.#rows(sql);
  }

  async openIntake(folder: string, kind: Kind): Promise<PeerIntake> {
    rmSync(folder, { recursive: true, force: true });
    const session = await openSession(this.#package, folder);
    return new ClickHouseIntake(this.#package, session, kind);
  }

  async close(): Promise<void> {
    this.#session?.close();
    this.#session = undefined;
    await this.#package.drainPending();
  }

  #askWith(question: Question, dialect: Dialect): readonly AnswerRow[] | undefined {
    const statement = statementOf(question, dialect, quoted);
    if (statement === undefined) return undefined;
    return this.#rows(mayMissRows(question) ? `${statement.sql} ${NO_INDEXES}` : statement.sql);
  }

  #rows(sql: string): readonly AnswerRow[] {
    return rowsOf(this.#open(), sql);
  }

  #has({ name }: Table): boolean {
    return this.#rows(`EXISTS ${DATABASE}.${name}`)[0]![0] === 1;
  }

  #open(): Session {
    if (this.#session === undefined) throw new Error('ClickHouse is not open');
    return this.#session;
  }
}

/** One INSERT for each text, whose files are synced before it returns. */
class ClickHouseIntake implements PeerIntake {
  readonly #package: Package;
  readonly #session: Session;
  readonly #table: Table;

  constructor(chdb: Package, session: Session, kind: Kind) {
    this.#package = chdb;
    this.#session = session;
    this.#table = tableOf(kind);
    const synced = { fsync_after_insert: 1, fsync_part_directory: 1 };
    for (const sql of [...creation(this.#table, synced), ...stagingCreation(this.#table)]) {
      session.query(sql);
    }
  }

  async post(text: string): Promise<void> {
    await insert(this.#session, this.#table, text);
  }

  async count(): Promise<number> {
    return Number(rowsOf(this.#session, `SELECT count() FROM ${this.#table.name}`)[0]![0]);
  }

  async close(): Promise<void> {
    this.#session.close();
    await this.#package.drainPending();
  }
}

const NO_INDEXES = 'SETTINGS use_skip_indexes = 0';

/** Its indexes look for the letters of an expression as they stand, also where any case will do. */
function mayMissRows(question: Question): boolean {
  return question.kind === 'api-counts' && /\(\?[a-z]*i/.test(question.expression);
}

/** A process has one folder at a time open. */
async function openSession(
  { Session, drainPending }: Package,
  folder: string,
  memoryBytesMax?: number,
): Promise<Session> {
  await drainPending();
  mkdirSync(folder, { recursive: true });
  const session = new Session(folder, { connectionArgs: connectionOf(memoryBytesMax) });
  for (const [name, value] of Object.entries(SETTINGS)) session.query(`SET ${name} = ${value}`);
  session.query(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`);
  session.query(`USE ${DATABASE}`);
  return session;
}

function connectionOf(memoryBytesMax: number | undefined): readonly string[] {
  const threads = '--max_threads=2';
  if (memoryBytesMax === undefined) {
    return [threads, `--uncompressed_cache_size=${UNCOMPRESSED_BYTES_MAX}`];
  }
  const part = (share: number): number => Math.floor(share * memoryBytesMax);
  return [
    threads,
    `--max_server_memory_usage=${memoryBytesMax}`,
    `--uncompressed_cache_size=${part(UNCOMPRESSED_SHARE)}`,
    `--mark_cache_size=${part(MARKS_SHARE)}`,
  ];
}

async function insert(
  session: Session,
  table: Table,
  text: string,
  settings: Readonly<Record<string, number>> = INSERT_SETTINGS,
): Promise<void> {
  await session.insert({
    table: `${DATABASE}.${stagingName(table)}`,
    values: Buffer.from(text),
    format: 'JSONEachRow',
    settings,
  });
}

/** A list of two percentiles is two values of the answer. */
function rowsOf(session: Session, sql: string): readonly AnswerRow[] {
  const { data } = JSON.parse(session.query(sql, 'JSONCompact')) as {
    data: (CellValue | CellValue[])[][];
  };
  const [first] = data;
  return first?.some(Array.isArray) ? data.map((row) => row.flat()) : (data as CellValue[][]);
}

/** A value as a literal: statements cannot be prepared. */
export function quoted(value: string | number): string {
  if (typeof value === 'number') return String(value);
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
