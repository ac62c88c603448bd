import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBatch, Kind } from '../workload/workload.ts';
import { type EventRow, eventRows } from './event-row.ts';
import type { Peer, PeerIntake } from './peer.ts';
import { peerPackage } from './peer-package.ts';
import { type Dialect, statementOf } from './peer-sql.ts';
import { PostgresServer } from './postgres-server.ts';
import type { AnswerRow, CellValue, Question } from './question.ts';
import { type ColumnType, type Table, tableOf } from './table.ts';
import { countTables } from './table-counts.ts';

/** What is used of `pg`. */
type Package = {
  readonly Client: new (options: { host: string; user: string; database: string }) => Client;
  readonly types: { setTypeParser(type: number, parse: (text: string) => unknown): void };
};
type Client = {
  connect(): Promise<void>;
  query(query: {
    name?: string;
    text: string;
    values?: readonly unknown[];
    rowMode?: 'array';
  }): Promise<{ readonly rows: (CellValue | CellValue[])[][] }>;
  end(): Promise<void>;
};

/** Its number for BIGINT, which the client would else read as text. */
const INT8 = 20;

const TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'bigint',
  uuid: 'uuid',
  category: 'text',
  text: 'text',
  json: 'text',
  integer: 'integer',
  float: 'double precision',
};

/** Beside the tables; INCLUDE lets a query do without the table's pages. */
const INDEXES: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  lean: [
    'btree (project, timestamp) INCLUDE (path)',
    'btree (timestamp) INCLUDE (method, status_code, origin_time)',
    'gin (url gin_trgm_ops)',
  ],
  invocations: [
    'btree (project, timestamp) INCLUDE (execution_time_ms, status_code)',
    'btree (timestamp) INCLUDE (region, execution_time_ms)',
  ],
  full: ['btree (project, timestamp)'],
  auth: [
    'btree (project, timestamp) INCLUDE (login_method, status)',
    'btree (timestamp) INCLUDE (actor_id)',
  ],
  storage: [
    'btree (project, timestamp) INCLUDE (path, responseTime)',
    'btree (timestamp) INCLUDE (bucket_name, size)',
  ],
  postgres: ['btree (project, timestamp) INCLUDE (error_severity, sql_state_code)'],
  pooler: ['btree (timestamp) INCLUDE (pool, action, wait_us)'],
};

const DIALECT: Dialect = {
  contains: (column, part) => `strpos(${column}, '${part}') > 0`,
  matches: (column, expression, bind) => `${column} ~ ${bind(expression)}`,
  quantiles: (column) =>
    `percentile_disc(ARRAY[0.95, 0.99]) WITHIN GROUP (ORDER BY ${column}) AS quantiles`,
  percentile99: (column) => `percentile_disc(0.99) WITHIN GROUP (ORDER BY ${column})`,
  float: (expression) => `(${expression})::float8`,
};

/** Commits of several connections share a sync; there are no more senders than this. */
const INTAKE_CONNECTIONS = 32;

/** What is copied at once, in UTF-16 units. */
const COPY_LENGTH = 64 * 1024 * 1024;

/** PostgreSQL 15 of Debian over its socket: B-trees by project and time, trigrams of URLs. */
export class Postgres implements Peer {
  readonly name = 'PostgreSQL';
  readonly quantiles = 'exact';
  #folder = '';
  #server: PostgresServer | undefined;
  #client: Client | undefined;
  /** Statements by their texts: each is prepared under a name of its own. */
  readonly #names = new Map<string, string>();

  async version(): Promise<string> {
    if (!PostgresServer.isInstalled()) {
      throw new Error('PostgreSQL 15 is not installed (apt-get install postgresql-15)');
    }
    return PostgresServer.version();
  }

  async open(folder: string): Promise<void> {
    this.#folder = folder;
    this.#server = await PostgresServer.start(folder);
    this.#client = await connect(this.#server);
  }

  /** Made and filled in one transaction: its pages need no log, and no later pass over who sees which row. */
  async load(kind: Kind, batches: Iterable<EventBatch>): Promise<void> {
    const table = tableOf(kind);
    await this.#run('BEGIN');
    await this.#run(`DROP TABLE IF EXISTS ${table.name}`);
    await this.#run(creation(table));
    let text = '';
    for (const batch of batches) {
      text += copyText(eventRows(table, batch.text));
      if (text.length > COPY_LENGTH) {
        await this.#copy(table, text);
        text = '';
      }
    }
    await this.#copy(table, text);
    await this.#run('COMMIT');
  }

  async finishLoading(): Promise<void> {
    await this.#run('CREATE EXTENSION IF NOT EXISTS pg_trgm');
    const counts = await this.counts();
    for (const [kind, indexes] of Object.entries(INDEXES) as [Kind, readonly string[]][]) {
      const { name } = tableOf(kind);
      if (!counts.has(kind)) continue;
      for (const [index, columns] of indexes.entries()) {
        await this.#run(`CREATE INDEX IF NOT EXISTS ${name}_${index} ON ${name} USING ${columns}`);
      }
    }
    // The newest events of a project are then on few pages.
    if (counts.has('full')) await this.#run('CLUSTER full_edge USING full_edge_0');
    await this.#run('VACUUM (ANALYZE)');
    await this.#run('CHECKPOINT');
  }

  async counts(): Promise<ReadonlyMap<Kind, number>> {
    return countTables({ has: ({ name }) => this.#has(name), rows: (sql) => this.#rows(sql) });
  }

  async ask(question: Question): Promise<readonly AnswerRow[] | undefined> {
    const statement = statementOf(question, DIALECT, (_, index) => `$${index + 1}`);
    return statement && (await this.#rows(statement.sql, statement.values));
  }

  async openIntake(folder: string, kind: Kind): Promise<PeerIntake> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const server = await PostgresServer.start(folder);
    return await PostgresIntake.open(server, kind);
  }

  async close(): Promise<void> {
    await this.#client?.end();
    await this.#server?.stop();
    this.#client = undefined;
    this.#server = undefined;
    this.#names.clear();
  }

  async #has(name: string): Promise<boolean> {
    const [row] = await this.#rows('SELECT to_regclass($1) IS NOT NULL', [name]);
    return row![0] === true;
  }

  async #rows(text: string, values: readonly unknown[] = []): Promise<readonly AnswerRow[]> {
    const name = this.#names.get(text) ?? `s${this.#names.size}`;
    this.#names.set(text, name);
    const { rows } = await this.#open().query({ name, text, values, rowMode: 'array' });
    // A list of two percentiles is two values of the answer.
    return rows.some((row) => row.some(Array.isArray))
      ? rows.map((row) => row.flat())
      : (rows as AnswerRow[]);
  }

  async #run(text: string): Promise<void> {
    await this.#open().query({ text });
  }

  /** The server reads it from a file, as whoever fills a database would have it. */
  async #copy({ name }: Table, text: string): Promise<void> {
    const path = join(this.#folder, 'copy.txt');
    writeFileSync(path, text);
    chmodSync(path, 0o644);
    await this.#run(`COPY ${name} FROM '${path}' (FREEZE)`);
    rmSync(path);
  }

  #open(): Client {
    if (this.#client === undefined) throw new Error('PostgreSQL is not open');
    return this.#client;
  }
}

/** One INSERT of all rows for each text, durable by PostgreSQL's own settings (`fsync` is on). */
class PostgresIntake implements PeerIntake {
  readonly #server: PostgresServer;
  readonly #clients: readonly Client[];
  readonly #table: Table;
  #postCount = 0;
  readonly #insert: string;

  private constructor(server: PostgresServer, clients: readonly Client[], table: Table) {
    this.#server = server;
    this.#clients = clients;
    this.#table = table;
    const lists = table.columns.map(({ type }, index) => `$${index + 1}::${TYPES[type]}[]`);
    this.#insert = `INSERT INTO ${table.name} SELECT * FROM unnest(${lists})`;
  }

  static async open(server: PostgresServer, kind: Kind): Promise<PostgresIntake> {
    const table = tableOf(kind);
    const clients: Client[] = [];
    while (clients.length < INTAKE_CONNECTIONS) clients.push(await connect(server));
    await clients[0]!.query({ text: creation(table) });
    await clients[0]!.query({ text: `CREATE INDEX ON ${table.name} (project, timestamp)` });
    return new PostgresIntake(server, clients, table);
  }

  async post(text: string): Promise<void> {
    const rows = eventRows(this.#table, text);
    const values = this.#table.columns.map((_, column) => rows.map((row) => row[column]));
    const client = this.#clients[this.#postCount++ % this.#clients.length]!;
    await client.query({ name: 'insert', text: this.#insert, values });
  }

  async count(): Promise<number> {
    const text = `SELECT count(*) FROM ${this.#table.name}`;
    const { rows } = await this.#clients[0]!.query({ text, rowMode: 'array' });
    return Number(rows[0]![0]);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.end();
    await this.#server.stop();
  }
}

async function connect({ socketFolder }: PostgresServer): Promise<Client> {
  const { Client, types } = peerPackage<Package>('pg');
  types.setTypeParser(INT8, Number);
  const client = new Client({ host: socketFolder, user: 'postgres', database: 'postgres' });
  await client.connect();
  return client;
}

/** TOAST's own threshold stands, so that long texts are compressed. */
function creation({ name, columns }: Table): string {
  return `CREATE TABLE ${name} (${columns.map((column) => `${column.name} ${TYPES[column.type]}`)})`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Rows in the text format of COPY (PostgreSQL's manual, "COPY", "Text Format"). */
function copyText(rows: readonly EventRow[]): string {
  let text = '';
  for (const row of rows) text += `${row.map(copyCell).join('\t')}\n`;
  return text;
}

function copyCell(cell: CellValue): string {
  if (cell === null) return '\\N';
  if (typeof cell !== 'string') return String(cell);
  return cell.replace(/[\\\n\r\t]/g, (sign) => ESCAPES[sign]!);
}
