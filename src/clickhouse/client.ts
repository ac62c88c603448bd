import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  type QueryParams,
} from '@clickhouse/client';
import { must } from '../../engine/columns.ts';
import type { Settings } from '../settings.ts';

/** How ClickHouse is reached. */
export type ClickHouseConnection = {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
};

type ConnectionSettings = Pick<
  Settings,
  'clickhouseUrl' | 'clickhouseUser' | 'clickhousePassword' | 'clickhouseDatabase'
>;

/**
 * Of each statement, whatever a profile of the user says. It reads all shards, for a project has rows on several ones after
 * shards were added; and of each shard always the same replica while that is there: another one may have fewer events.
 */
const CLUSTER_SETTINGS: ClickHouseSettings = {
  optimize_skip_unused_shards: 0,
  skip_unavailable_shards: 0,
  load_balancing: 'in_order',
  use_hedged_requests: 0,
};

/** The connection that the settings name. CLICKHOUSE_URL must be set. */
export function connectionOf(settings: ConnectionSettings): ClickHouseConnection {
  return {
    url: must(settings.clickhouseUrl, 'CLICKHOUSE_URL is set'),
    username: settings.clickhouseUser,
    password: settings.clickhousePassword ?? '',
    database: settings.clickhouseDatabase,
  };
}

/** Opens a client. It connects with its first request, and must be closed. */
export function openClient(
  { url, username, password, database }: ClickHouseConnection,
  options: {
    /** Milliseconds without a byte from ClickHouse after which a request fails. */
    readonly silentMsMax: number;
    /** Requests at once; others wait. */
    readonly requestsMax: number;
    /** Of each request. */
    readonly settings: Readonly<Record<string, string | number>>;
  },
): ClickHouseClient {
  return createClient({
    ...{ url, username, password, database },
    request_timeout: options.silentMsMax,
    max_open_connections: options.requestsMax,
    // Long texts do not fit into a URL.
    use_multipart_params_auto: true,
    // Failures are reported where they are handled.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { ...CLUSTER_SETTINGS, ...options.settings },
  });
}

/** The rows of a statement, by the names of its columns. ClickHouse may write an integer of 64 bits as a string. */
export async function readRows<Row>(
  client: ClickHouseClient,
  statement: Pick<QueryParams, 'query' | 'query_params' | 'abort_signal'>,
): Promise<Row[]> {
  const answer = await client.query({ ...statement, format: 'JSONEachRow' });
  return answer.json<Row>();
}
