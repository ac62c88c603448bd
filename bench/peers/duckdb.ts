import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBatch, Kind } from '../workload/workload.ts';
import { joinedTexts } from './joined-texts.ts';
import type { Peer, PeerIntake } from './peer.ts';
import { peerPackage } from './peer-package.ts';
import { type Dialect, statementOf } from './peer-sql.ts';
import type { AnswerRow, CellValue, Question } from './question.ts';
import { type Column, type ColumnType, TABLES, type Table, tableOf } from './table.ts';
import { countTables } from './table-counts.ts';

/** What is used of `@duckdb/node-api`. */
type Package = {
  version(): string;
  readonly DuckDBInstance: {
    create(path: string, options: Readonly<Record<string, string>>): Promise<Instance>;
  };
};
type Instance = { connect(): Promise<Connection>; closeSync(): void };
type Connection = {
  run(sql: string): Promise<unknown>;
  prepare(sql: string): Promise<Prepared>;
  closeSync(): void;
};
type Prepared = {
  bind(values: readonly (string | number | bigint)[]): void;
  runAndReadAll(): Promise<{ getRowsJS(): DuckValue[][] }>;
};
type DuckValue = CellValue | bigint | DuckValue[];

const TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'BIGINT',
  uuid: 'UUID',
  category: 'VARCHAR',
  text: 'VARCHAR',
  json: 'VARCHAR',
  integer: 'INTEGER',
  float: 'DOUBLE',
};

const DIALECT: Dialect = {
  contains: (column, part) => `contains(${column}, '${part}')`,
  matches: (column, expression, bind) => `regexp_matches(${column}, ${bind(expression)})`,
  // Exact, and faster than approx_quantile at these sizes.
  quantiles: (column) => `quantile_disc(${column}, [0.95, 0.99])`,
  percentile99: (column) => `quantile_disc(${column}, 0.99)`,
  float: (expression) => `CAST(${expression} AS DOUBLE)`,
};

/** Of so many rows it fetches long texts only once it knows which are the newest; its default is 50. */
const LATE_ROWS_MAX = '1000';

const DAY_US = 86_400_000_000;

const MEMORY_BYTES_MAX = 12e9;

/** DuckDB in this process, on two threads: tables sorted by project and time. */
export class DuckDb implements Peer {
  readonly name = 'DuckDB';
  readonly quantiles = 'exact';
  readonly #package = peerPackage<Package>('@duckdb/node-api');
  #folder = '';
  #instance: Instance | undefined;
  #connection: Connection | undefined;
  readonly #prepared = new Map<string, Prepared>();
  readonly #memoryBytesMax: number;

  constructor(memoryBytesMax: number = MEMORY_BYTES_MAX) {
    this.#memoryBytesMax = memoryBytesMax;
  }

  async version(): Promise<string> {
    return this.#package.version();
  }

  async open(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#instance = await create(this.#package, join(folder, 'duck.db'), this.#memoryBytesMax);
    this.#connection = await this.#instance.connect();
  }

  /** As they come; `finishLoading` sorts them. */
  async load(kind: Kind, batches: Iterable<EventBatch>): Promise<void> {
    const table = tableOf(kind);
    const staged = stagedName(table);
    await this.#run(`CREATE OR REPLACE TABLE ${staged} (${definitions(table)})`);
    const path = join(this.#folder, 'load.ndjson');
    for (const text of joinedTexts(batches)) {
      writeFileSync(path, text);
      await this.#run(`INSERT INTO ${staged} ${selection(table, path)}`);
    }
    rmSync(path, { force: true });
  }

  async finishLoading(): Promise<void> {
    for (const table of TABLES) {
      const staged = stagedName(table);
      if (!(await this.#has(staged))) continue;
      // Row groups have the least and the greatest of each column: days first let a window of all
      // projects leave out most of them.
      const order = table.reached === 'by time' ? `timestamp // ${DAY_US}, ` : '';
      await this.#run(`CREATE OR REPLACE TABLE ${table.name} AS SELECT * FROM ${staged}
        ORDER BY ${order}project, timestamp`);
      await this.#run(`DROP TABLE ${staged}`);
    }
    await this.#run('CHECKPOINT');
  }

  async counts(): Promise<ReadonlyMap<Kind, number>> {
    return countTables({ has: ({ name }) => this.#has(name), rows: (sql) => this.#rows(sql) });
  }

  async ask(question: Question): Promise<readonly AnswerRow[] | undefined> {
    const statement = statementOf(question, DIALECT, (_, index) => `$${index + 1}`);
    return statement && (await this.#rows(statement.sql, statement.values));
  }

  askSql(sql: string): Promise<readonly AnswerRow[]> {
    return this.#rows(sql);
  }

  async openIntake(folder: string, kind: Kind): Promise<PeerIntake> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return await DuckDbIntake.open(this.#package, folder, kind);
  }

  async close(): Promise<void> {
    this.#prepared.clear();
    this.#connection?.closeSync();
    this.#instance?.closeSync();
    this.#connection = undefined;
    this.#instance = undefined;
  }

  async #has(name: string): Promise<boolean> {
    const sql = 'SELECT count(*) FROM duckdb_tables() WHERE table_name = $1';
    return (await this.#rows(sql, [name]))[0]![0] === 1;
  }

  async #rows(
    sql: string,
    values: readonly (string | number)[] = [],
  ): Promise<readonly AnswerRow[]> {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = await this.#open().prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    // Times are beyond 32 bits, and a plain number would be bound as a DOUBLE.
    prepared.bind(values.map((value) => (typeof value === 'number' ? BigInt(value) : value)));
    const rows = (await prepared.runAndReadAll()).getRowsJS();
    return rows.map((row) => row.flatMap(cellsOf));
  }

  async #run(sql: string): Promise<void> {
    await this.#open().run(sql);
  }

  #open(): Connection {
    if (this.#connection === undefined) throw new Error('DuckDB is not open');
    return this.#connection;
  }
}

/** One INSERT for each text, which DuckDB's own log has on disk when it returns. */
class DuckDbIntake implements PeerIntake {
  readonly #instance: Instance;
  readonly #connection: Connection;
  readonly #table: Table;
  readonly #folder: string;
  #postCount = 0;

  private constructor(of: {
    instance: Instance;
    connection: Connection;
    table: Table;
    folder: string;
  }) {
    this.#instance = of.instance;
    this.#connection = of.connection;
    this.#table = of.table;
    this.#folder = of.folder;
  }

  static async open(duckDb: Package, folder: string, kind: Kind): Promise<DuckDbIntake> {
    const instance = await create(duckDb, join(folder, 'intake.db'), MEMORY_BYTES_MAX);
    const connection = await instance.connect();
    const table = tableOf(kind);
    await connection.run(`CREATE TABLE ${table.name} (${definitions(table)})`);
    return new DuckDbIntake({ instance, connection, table, folder });
  }

  /** It reads JSON from files only; one that is not synced costs little. */
  async post(text: string): Promise<void> {
    const path = join(this.#folder, `${this.#postCount++}.ndjson`);
    writeFileSync(path, text);
    await this.#connection.run(`INSERT INTO ${this.#table.name} ${selection(this.#table, path)}`);
    rmSync(path);
  }

  async count(): Promise<number> {
    const prepared = await this.#connection.prepare(`SELECT count(*) FROM ${this.#table.name}`);
    return Number((await prepared.runAndReadAll()).getRowsJS()[0]![0]);
  }

  async close(): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

function create(
  { DuckDBInstance }: Package,
  path: string,
  memoryBytesMax: number,
): Promise<Instance> {
  return DuckDBInstance.create(path, {
    threads: '2',
    memory_limit: `${memoryBytesMax}B`,
    late_materialization_max_rows: LATE_ROWS_MAX,
  });
}

function stagedName({ name }: Table): string {
  return `${name}_staged`;
}

function definitions({ columns }: Table): string {
  return columns.map(({ name, type }) => `${name} ${TYPES[type]}`).join(', ');
}

/** The rows of a file, read with the types that its events have. */
function selection(table: Table, path: string): string {
  const columns = table.columns.map((column) => `${column.path.join('.')} AS ${column.name}`);
  return `SELECT ${columns} FROM read_ndjson('${path}', columns = ${shape(table.columns)})`;
}

function shape(columns: readonly Column[]): string {
  const tops = new Set(columns.map(({ path }) => path[0]!));
  return `{${Array.from(tops, (top) => `'${top}': '${typeAt(columns, [top])}'`)}}`;
}

/** The type of what lies under some keys: that of the column there, or a record of what lies below. */
function typeAt(columns: readonly Column[], path: readonly string[]): string {
  const below = columns.filter((column) => path.every((key, index) => column.path[index] === key));
  const [first] = below;
  if (first!.path.length === path.length)
    return first!.type === 'json' ? 'JSON' : TYPES[first!.type];
  const keys = new Set(below.map((column) => column.path[path.length]!));
  return `STRUCT(${Array.from(keys, (key) => `${key} ${typeAt(columns, [...path, key])}`)})`;
}

/** A list of two percentiles is two values of the answer. */
function cellsOf(value: DuckValue): readonly CellValue[] {
  if (Array.isArray(value)) return value.flatMap(cellsOf);
  return [typeof value === 'bigint' ? Number(value) : value];
}
