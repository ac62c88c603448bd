import type { Peer } from './peer.ts';

/** `memoryBytesMax`: what the engine may take for its data, gigabytes when left out; PostgreSQL has them always. */
type MakePeer = (memoryBytesMax?: number) => Promise<Peer>;

/**
 * The peers, by name; one is loaded only when it is measured. Names that are alike up to a hyphen are of
 * one engine with the same data, asked in other ways.
 */
export const PEERS: ReadonlyMap<string, MakePeer> = new Map<string, MakePeer>([
  ['duckdb', async (max) => new (await import('./duckdb.ts')).DuckDb(max)],
  ['clickhouse', async (max) => new (await import('./clickhouse.ts')).ClickHouse('as asked', max)],
  [
    'clickhouse-rollup',
    async (max) => new (await import('./clickhouse.ts')).ClickHouse('roll-up', max),
  ],
  [
    'clickhouse-tokens',
    async (max) => new (await import('./clickhouse.ts')).ClickHouse('tokens', max),
  ],
  ['sqlite', async (max) => new (await import('./sqlite.ts')).Sqlite(max)],
  ['postgres', async () => new (await import('./postgres.ts')).Postgres()],
]);
