import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBatch, Kind } from '../workload/workload.ts';
import { eventRows } from './event-row.ts';
import type { Peer, PeerIntake } from './peer.ts';
import { peerPackage } from './peer-package.ts';
import { type Dialect, statementOf } from './peer-sql.ts';
import type { AnswerRow, CellValue, Question } from './question.ts';
import { type ColumnType, type Table, tableOf } from './table.ts';
import { countTables } from './table-counts.ts';

/** What is used of `@photostructure/sqlite`: the interface of `node:sqlite`, which Node 20 has not. */
type Package = { readonly DatabaseSync: new (path: string) => Database };
type Database = {
  exec(sql: string): void;
  prepare(sql: string): Prepared;
  close(): void;
};
type Prepared = {
  run(...values: CellValue[]): unknown;
  all(...values: CellValue[]): CellValue[][];
  setReturnArrays(isOn: boolean): void;
};

const TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'INTEGER',
  uuid: 'TEXT',
  category: 'TEXT',
  text: 'TEXT',
  json: 'TEXT',
  integer: 'INTEGER',
  float: 'REAL',
};

/** Beside the tables; what follows the two sort columns lets a query do without the table's pages. */
const INDEXES: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  lean: ['project, timestamp, path', 'timestamp, method, status_code, origin_time'],
  invocations: [
    'project, timestamp, execution_time_ms, status_code',
    'timestamp, region, execution_time_ms',
  ],
  full: ['project, timestamp'],
  auth: ['project, timestamp, login_method, status', 'timestamp, actor_id'],
  storage: ['project, timestamp, path, responseTime', 'timestamp, bucket_name, size'],
  postgres: ['project, timestamp, error_severity, sql_state_code'],
  pooler: ['timestamp, pool, action, wait_us'],
};

const DIALECT: Dialect = {
  contains: (column, part) => `instr(${column}, '${part}') > 0`,
  // There is no engine of expressions in it, and one in JavaScript would be called for each row.
  matches: (column, expression, bind) =>
    /^[a-z0-9]+$/.test(expression) ? `instr(${column}, ${bind(expression)}) > 0` : undefined,
  quantiles: (column) => `percentile_disc(${column}, 0.95), percentile_disc(${column}, 0.99)`,
  percentile99: (column) => `percentile_disc(${column}, 0.99)`,
  float: (expression) => expression,
};

/** Pages of files: 4 GB kept by SQLite itself, and what it can map (its own bound is 2 GB). */
const PAGES = 'PRAGMA cache_size = -4000000; PRAGMA mmap_size = 2147418112;';

const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY;';

/** SQLite in this process: B-trees by project and time that hold all a query reads. */
export class Sqlite implements Peer {
  readonly name = 'SQLite';
  /** percentile_disc takes the value at (n - 1) × p, cut to a whole: one below the rank at most. */
  readonly quantiles = 'approximate';
  readonly #package = peerPackage<Package>('@photostructure/sqlite');
  #database: Database | undefined;
  readonly #prepared = new Map<string, Prepared>();
  readonly #pages: string;

  /** With a bound nothing is mapped: what is mapped is memory, too, beyond what it counts. */
  constructor(memoryBytesMax?: number) {
    this.#pages =
      memoryBytesMax === undefined
        ? PAGES
        : `PRAGMA cache_size = -${Math.floor(memoryBytesMax / 1024)}; PRAGMA mmap_size = 0;`;
  }

  async version(): Promise<string> {
    const database = new this.#package.DatabaseSync(':memory:');
    const version = prepare(database, 'SELECT sqlite_version()').all()[0]![0];
    database.close();
    return String(version);
  }

  async open(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    this.#database = new this.#package.DatabaseSync(join(folder, 'sqlite.db'));
    this.#database.exec(`${SETTINGS} ${this.#pages}`);
  }

  async load(kind: Kind, batches: Iterable<EventBatch>): Promise<void> {
    const table = tableOf(kind);
    const database = this.#open();
    // What a crash would lose is loaded again.
    database.exec('PRAGMA synchronous = OFF');
    database.exec(`DROP TABLE IF EXISTS ${table.name}; ${creation(table)}; BEGIN`);
    const insert = prepare(database, insertion(table));
    for (const { text } of batches) {
      for (const row of eventRows(table, text)) insert.run(...row);
    }
    database.exec('COMMIT');
  }

  async finishLoading(): Promise<void> {
    for (const [kind, indexes] of Object.entries(INDEXES)) {
      const { name } = tableOf(kind as Kind);
      if (!this.#has(name)) continue;
      indexes.forEach((columns, index) => {
        this.#open().exec(`CREATE INDEX IF NOT EXISTS ${name}_${index} ON ${name} (${columns})`);
      });
    }
    this.#open().exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)');
  }

  async counts(): Promise<ReadonlyMap<Kind, number>> {
    return countTables({ has: ({ name }) => this.#has(name), rows: (sql) => this.#rows(sql, []) });
  }

  async ask(question: Question): Promise<readonly AnswerRow[] | undefined> {
    const statement = statementOf(question, DIALECT, (_, index) => `?${index + 1}`);
    return statement && this.#rows(statement.sql, statement.values);
  }

  async openIntake(folder: string, kind: Kind): Promise<PeerIntake> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return new SqliteIntake(new this.#package.DatabaseSync(join(folder, 'intake.db')), kind);
  }

  async close(): Promise<void> {
    this.#prepared.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #rows(sql: string, values: readonly CellValue[]): readonly AnswerRow[] {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = prepare(this.#open(), sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared.all(...values);
  }

  #has(name: string): boolean {
    return this.#rows('SELECT 1 FROM sqlite_schema WHERE name = ?1', [name]).length > 0;
  }

  #open(): Database {
    if (this.#database === undefined) throw new Error('SQLite is not open');
    return this.#database;
  }
}

/** One transaction for each text, and one sync for each transaction. */
class SqliteIntake implements PeerIntake {
  readonly #database: Database;
  readonly #table: Table;
  readonly #insert: Prepared;

  constructor(database: Database, kind: Kind) {
    this.#database = database;
    this.#table = tableOf(kind);
    const { name } = this.#table;
    database.exec(`${SETTINGS} ${PAGES} PRAGMA synchronous = FULL; ${creation(this.#table)};
      CREATE INDEX ${name}_0 ON ${name} (project, timestamp)`);
    this.#insert = prepare(database, insertion(this.#table));
  }

  async post(text: string): Promise<void> {
    const rows = eventRows(this.#table, text);
    this.#database.exec('BEGIN');
    for (const row of rows) this.#insert.run(...row);
    this.#database.exec('COMMIT');
  }

  async count(): Promise<number> {
    return Number(prepare(this.#database, `SELECT count(*) FROM ${this.#table.name}`).all()[0]![0]);
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function prepare(database: Database, sql: string): Prepared {
  const prepared = database.prepare(sql);
  prepared.setReturnArrays(true);
  return prepared;
}

function creation({ name, columns }: Table): string {
  return `CREATE TABLE ${name} (${columns.map((column) => `${column.name} ${TYPES[column.type]}`)})`;
}

function insertion({ name, columns }: Table): string {
  return `INSERT INTO ${name} VALUES (${columns.map(() => '?')})`;
}
