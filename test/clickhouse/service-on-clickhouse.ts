import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openClickHouseBackend } from '../../src/clickhouse/clickhouse-backend.ts';
import type { ShippedStoreOptions } from '../../src/clickhouse/shipped-store.ts';
import type { Clock } from '../../src/clock.ts';
import type { LogEntry } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { EventStream } from '../support/event-stream.ts';
import { type HttpAnswer, HttpClient } from '../support/http-client.ts';
import { DATABASE } from './events-database.ts';

export const TOKEN = 'a-private-token';

/** How long something may take that happens soon. */
const SOON_MS_MAX = 60_000;

const REAL_CLOCK: Clock = {
  nowUs: () => Date.now() * 1000,
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
};

/** The settings of a service on a server of these tests. */
export function settingsFor(folder: string, url: string): Record<string, string> {
  return {
    PORT: '0',
    DATA_DIR: folder,
    PRIVATE_ACCESS_TOKEN: TOKEN,
    PUBLIC_ACCESS_TOKEN: 'a-public-token',
    WORKERS: '1',
    MEMORY_LIMIT: '512MiB',
    STORE: 'clickhouse',
    CLICKHOUSE_URL: url,
    CLICKHOUSE_DATABASE: DATABASE,
    // ClickHouse has a clock of its own: events of a test at a fixed time must not be old to it.
    RETENTION_DAYS: '3650',
  };
}

/** The whole service with its events in ClickHouse. */
export class ServiceOnClickHouse {
  readonly entries: readonly LogEntry[];
  readonly folder: string;
  readonly #service: Service;
  readonly #client: HttpClient;

  private constructor(service: Service, folder: string, entries: readonly LogEntry[]) {
    this.#service = service;
    this.folder = folder;
    this.entries = entries;
    this.#client = new HttpClient(service.url);
  }

  static async start(options: {
    readonly url: string;
    /** A new one by default. */
    readonly folder?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly nowUs?: () => number;
    readonly shipLimits?: ShippedStoreOptions['limits'];
    readonly logFileBytesMax?: number;
  }): Promise<ServiceOnClickHouse> {
    const { url, environment, nowUs, shipLimits, logFileBytesMax } = options;
    const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'weir-store-')));
    const settings = parseSettings({ ...settingsFor(folder, url), ...environment });
    const entries: LogEntry[] = [];
    const log = (entry: LogEntry) => void entries.push(entry);
    const clock = nowUs === undefined ? REAL_CLOCK : { ...REAL_CLOCK, nowUs };
    const service = await startService({
      ...{ settings, clock, log },
      openBackend: (stored) =>
        openClickHouseBackend({
          ...{ settings: stored, log, clock, shipLimits },
          ...(logFileBytesMax === undefined ? {} : { logFileBytesMax }),
        }),
    });
    return new ServiceOnClickHouse(service, folder, entries);
  }

  get url(): string {
    return this.#service.url;
  }

  get backend(): Service['backend'] {
    return this.#service.backend;
  }

  ask(
    method: string,
    path: string,
    options: {
      readonly body?: string;
      readonly token?: string;
      readonly type?: string;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<HttpAnswer> {
    const { body, token = TOKEN, type = 'application/json', signal } = options;
    const headers = { 'X-API-KEY': token, 'Content-Type': type };
    return this.#client.ask({ method, path, headers, body, signal });
  }

  async post(source: string, events: readonly object[]): Promise<void> {
    const { status, text } = await this.tryPost(source, events);
    if (status !== 200) throw new Error(`POST: ${status} ${text}`);
  }

  tryPost(source: string, events: readonly object[]): Promise<HttpAnswer> {
    const path = `/api/logs?source_name=${encodeURIComponent(source)}`;
    return this.ask('POST', path, { body: JSON.stringify(events) });
  }

  /** The answer to a text. */
  query(sql: string, token?: string): Promise<HttpAnswer> {
    const options = { body: sql, type: 'application/sql' };
    return this.ask('POST', '/api/query', token === undefined ? options : { ...options, token });
  }

  /** The rows of a text. */
  async rows(sql: string, token?: string): Promise<readonly Record<string, unknown>[]> {
    const { status, text } = await this.query(sql, token);
    if (status !== 200) throw new Error(`query: ${status} ${text}`);
    return (JSON.parse(text) as { readonly result: Record<string, unknown>[] }).result;
  }

  /** Follows a source, which has begun when the promise resolves. */
  async follow(
    source: string,
    query: Readonly<Record<string, string>> = {},
    options: { readonly token?: string; readonly lastEventId?: string } = {},
  ): Promise<EventStream> {
    const { token = TOKEN, lastEventId } = options;
    const path = `/api/sources/${source}/tail?${new URLSearchParams(query)}`;
    const after = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    const stream = await EventStream.open(this.url + path, { 'X-API-KEY': token, ...after });
    if (stream.response.statusCode === 200) await stream.emptied(1);
    return stream;
  }

  /** Resolves when all that was posted is in ClickHouse. */
  shipped(): Promise<void> {
    return until(() => this.backend.stats().shipping?.events === 0);
  }

  /** Leaves the folder where it is. */
  async stop(): Promise<void> {
    this.#client.close();
    await this.#service.stop();
  }

  async stopForGood(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Resolves when a condition holds, which it does soon. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + SOON_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error('what was to happen did not');
    await wait(10);
  }
}
