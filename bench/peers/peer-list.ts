import type { Peer } from './peer.ts';

/**
 * The peers, by name; one is loaded only when it is measured. Names that are alike up to a hyphen are of
 * one engine with the same data, asked in other ways.
 */
export const PEERS: ReadonlyMap<string, () => Promise<Peer>> = new Map<string, () => Promise<Peer>>(
  [
    ['duckdb', async () => new (await import('./duckdb.ts')).DuckDb()],
    ['clickhouse', async () => new (await import('./clickhouse.ts')).ClickHouse('as asked')],
    ['clickhouse-rollup', async () => new (await import('./clickhouse.ts')).ClickHouse('roll-up')],
    ['clickhouse-tokens', async () => new (await import('./clickhouse.ts')).ClickHouse('tokens')],
    ['sqlite', async () => new (await import('./sqlite.ts')).Sqlite()],
    ['postgres', async () => new (await import('./postgres.ts')).Postgres()],
  ],
);
