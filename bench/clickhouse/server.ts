import { openClient } from '../../src/clickhouse/client.ts';
import { ChdbUnderTest, missingChdb } from '../../test/clickhouse/chdb.ts';
import { connectionTo, DATABASE, makeDatabase } from '../../test/clickhouse/events-database.ts';
import { HttpDoor } from '../../test/clickhouse/http-door.ts';
import { DATABASE as PEER_DATABASE } from '../peers/clickhouse-schema.ts';

type Client = ReturnType<typeof openClient>;

/** A query of a minute is no use to anybody. */
const SILENT_MS_MAX = 600_000;

/** ClickHouse in this process, which both sides reach through one client over HTTP. */
export class BenchServer {
  readonly chdb: ChdbUnderTest;
  readonly door: HttpDoor;
  readonly client: Client;

  private constructor(chdb: ChdbUnderTest, door: HttpDoor) {
    this.chdb = chdb;
    this.door = door;
    this.client = openClient(connectionTo(door.url), {
      silentMsMax: SILENT_MS_MAX,
      requestsMax: 1,
      settings: {},
    });
  }

  static async open(): Promise<BenchServer> {
    const missing = missingChdb();
    if (missing !== false) throw new Error(missing);
    const chdb = ChdbUnderTest.start();
    return new BenchServer(chdb, await HttpDoor.open(chdb));
  }

  /** An empty table of events, as the service makes it, and no other tables. */
  reset(): void {
    makeDatabase(this.chdb);
    this.chdb.run(`DROP DATABASE IF EXISTS ${PEER_DATABASE}`);
    this.chdb.run(`CREATE DATABASE ${PEER_DATABASE} ENGINE = Atomic`);
  }

  /** Which database statements without one mean from now on. */
  use(side: 'weir' | 'expert'): void {
    this.chdb.run(`USE ${side === 'weir' ? DATABASE : PEER_DATABASE}`);
  }

  /** The rows of a statement, through the client. */
  async rows<Row>(sql: string, parameters: Readonly<Record<string, string>> = {}): Promise<Row[]> {
    const answer = await this.client.query({
      query: sql,
      query_params: parameters,
      format: 'JSONCompactEachRow',
    });
    return answer.json<Row>();
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.door.close();
    await this.chdb.close();
  }
}
