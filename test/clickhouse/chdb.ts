import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathInRepository } from '../support/source-files.ts';

/** What is used of `chdb`, ClickHouse in this process, which is installed below this folder only. */
type Package = {
  readonly Session: new (
    folder: string,
    options: { readonly connectionArgs: readonly string[] },
  ) => Session;
  drainPending(): Promise<void>;
};

type Session = {
  query(sql: string, format?: string): string;
  queryBind(sql: string, parameters: Readonly<Record<string, string>>, format?: string): string;
  queryBindAsync(
    sql: string,
    parameters: Readonly<Record<string, string>>,
    options: { readonly format: string },
  ): Promise<{ text(): string }>;
  insert(insert: Insert): Promise<unknown>;
  close(): void;
};

/** Rows that are put into a table as they are. */
export type Insert = {
  readonly table: string;
  readonly columns?: readonly string[];
  readonly values: Buffer;
  readonly format: string;
  readonly settings?: Readonly<Record<string, string>>;
};

/** Why the tests are left out; `false` where chDB is installed. */
export function missingChdb(): string | false {
  const isInstalled = existsSync(pathInRepository('test/clickhouse/node_modules/chdb'));
  return isInstalled ? false : 'run npm ci --ignore-scripts --prefix test/clickhouse';
}

/** Threads of a query: tests run beside each other. */
const THREADS = 2;

/** A cluster of one shard, which is this process: it opens no port, so there are no others. */
export const CLUSTER = 'of_one_shard';

/** A cluster of two shards, both of which are this process: a table over them has each row twice. */
export const TWO_SHARDS = 'of_two_shards';

/** An address with the port that ClickHouse would have is its own, and nobody is called. */
const SHARD = '<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>';
const CONFIGURATION = `<clickhouse>
  <tcp_port>9000</tcp_port>
  <remote_servers>
    <${CLUSTER}>${SHARD}</${CLUSTER}>
    <${TWO_SHARDS}>${SHARD}${SHARD}</${TWO_SHARDS}>
  </remote_servers>
</clickhouse>`;

/** A database of its own in a folder that goes with it. A process has one at a time. */
export class ChdbUnderTest {
  readonly #package: Package;
  readonly #session: Session;
  readonly #folder: string;

  private constructor(chdb: Package, session: Session, folder: string) {
    this.#package = chdb;
    this.#session = session;
    this.#folder = folder;
  }

  static start(): ChdbUnderTest {
    const load = createRequire(pathInRepository('test/clickhouse/package.json'));
    const chdb = load('chdb') as Package;
    const folder = mkdtempSync(join(tmpdir(), 'weir-chdb-'));
    const configuration = join(folder, 'configuration.xml');
    writeFileSync(configuration, CONFIGURATION);
    const session = new chdb.Session(folder, {
      connectionArgs: [`--max_threads=${THREADS}`, `--config-file=${configuration}`],
    });
    session.query('CREATE DATABASE weir ENGINE = Atomic');
    session.query('USE weir');
    return new ChdbUnderTest(chdb, session, folder);
  }

  run(sql: string): void {
    this.#session.query(sql);
  }

  /** The rows as lists of texts. Texts are bound to the parameters of the statement. */
  rows<Row>(sql: string, parameters: Readonly<Record<string, string>> = {}): readonly Row[] {
    const lines = this.#session.queryBind(sql, parameters, 'JSONCompactEachRow').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
  }

  /** Rows as JSON objects, one to a line. */
  async insert(table: string, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const values = Buffer.from(`${lines.join('\n')}\n`);
    await this.#session.insert({ table: `weir.${table}`, values, format: 'JSONEachRow' });
  }

  async insertAsIs(insert: Insert): Promise<void> {
    await this.#session.insert(insert);
  }

  /** The answer in any format, without holding up this thread. */
  async answer(
    sql: string,
    parameters: Readonly<Record<string, string>>,
    format: string,
  ): Promise<string> {
    return (await this.#session.queryBindAsync(sql, parameters, { format })).text();
  }

  async close(): Promise<void> {
    // What is under way would go on after the session.
    await this.#package.drainPending();
    this.#session.close();
    await this.#package.drainPending();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
