import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogEntry } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import type { Backend } from '../../src/store/backend.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import type { JsonObject, Row } from '../oracle/oracle.ts';
import { NOW, us } from '../scripts/script.ts';
import type { Answerer, Parameters } from './answerer.ts';
import { type HttpAnswer, HttpClient } from './http-client.ts';
import { jsonText } from './json-text.ts';
import { storeAll } from './store-all.ts';

export const TOKEN = 'a-private-token';

/**
 * The whole service on a port of its own, in a temporary data folder. Its clock stands still at
 * `FROZEN_NOW` and is moved by the `nowUs` of each post and call; with no cache every call runs. The monotonic clock
 * stands still unless one is given.
 */
export class ServiceUnderTest implements Answerer {
  readonly entries: readonly LogEntry[];
  readonly #service: Service;
  readonly #backend: Backend;
  readonly #folder: string;
  readonly #clock: { nowUs: number };
  /** The machine's clock, by which tokens expire. */
  readonly wall: { ms: number };
  readonly #client: HttpClient;

  private constructor(parts: {
    readonly service: Service;
    readonly folder: string;
    readonly clock: { nowUs: number };
    readonly wall: { ms: number };
    readonly entries: readonly LogEntry[];
  }) {
    this.#service = parts.service;
    this.#client = new HttpClient(parts.service.url);
    this.#backend = parts.service.backend;
    this.#folder = parts.folder;
    this.#clock = parts.clock;
    this.wall = parts.wall;
    this.entries = parts.entries;
  }

  static async start(
    environment: Readonly<Record<string, string>> = {},
    monotonicMs: () => number = () => 0,
  ): Promise<ServiceUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const settings = parseSettings({
      PORT: '0',
      DATA_DIR: folder,
      FROZEN_NOW: NOW,
      PRIVATE_ACCESS_TOKEN: TOKEN,
      WORKERS: '1',
      CACHE_LIMIT: '0',
      ...environment,
    });
    const clock = { nowUs: settings.frozenNowUs ?? us(NOW) };
    const wall = { ms: us(NOW) / 1000 };
    const entries: LogEntry[] = [];
    const log = (entry: LogEntry) => void entries.push(entry);
    const service = await startService({
      settings,
      clock: { nowUs: () => clock.nowUs, monotonicMs, wallMs: () => wall.ms },
      log,
      // Tests send more wrong tokens than anybody who means well.
      refusedTokenWaitMs: 1,
      openBackend: (stored) => openBackend({ settings: stored, log }),
    });
    return new ServiceUnderTest({ service, folder, clock, wall, entries });
  }

  /** Where it listens. */
  get url(): string {
    return this.#service.url;
  }

  /** Where it listens for OpenTelemetry over gRPC, if it does. */
  get otlpGrpc(): string | undefined {
    return this.#service.otlpGrpc;
  }

  async post(source: string, events: readonly JsonObject[], nowUs: number): Promise<void> {
    await this.postText(source, jsonText(events), nowUs);
  }

  /** Posts a JSON text as it is; it must be taken whole. */
  async postText(source: string, text: string, nowUs = this.#clock.nowUs): Promise<void> {
    this.#clock.nowUs = nowUs;
    const path = `/api/logs?source_name=${encodeURIComponent(source)}`;
    const answer = await this.ask('POST', path, text);
    if (answer.status !== 200) throw new Error(`POST: ${answer.status} ${answer.text}`);
  }

  async call(endpoint: string, parameters: Parameters, nowUs: number): Promise<Row[]> {
    const text = await this.callText(endpoint, parameters, nowUs);
    return (JSON.parse(text) as { readonly result: Row[] }).result;
  }

  /** The body of the answer, which must be a success. `endpoint` is a name, or `query/` and an id. */
  async callText(
    endpoint: string,
    parameters: Parameters,
    nowUs = this.#clock.nowUs,
  ): Promise<string> {
    this.#clock.nowUs = nowUs;
    const path = `/api/endpoints/${endpoint}?${new URLSearchParams(parameters)}`;
    const answer = await this.ask('GET', path);
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`);
    return answer.text;
  }

  /** One request, with the token that may do everything. */
  ask(
    method: string,
    path: string,
    body?: string | Uint8Array,
    moreHeaders: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer> {
    const headers = {
      'X-API-KEY': TOKEN,
      'Content-Type': 'application/json; charset=utf-8',
      ...moreHeaders,
    };
    return this.#client.ask({ method, path, headers, body });
  }

  /** Has all events sealed and stored in files; the clock stays where it is. */
  storeAll(): Promise<void> {
    return storeAll(this.#backend, this.#clock.nowUs);
  }

  /** Has what was stored merged, as it happens once the days of the events are over. */
  mergeDays(): void {
    // The first sees what was added, and that nothing was since.
    this.#backend.tick(this.#clock.nowUs);
    this.#backend.tick(this.#clock.nowUs + 2 * 86_400_000_000);
  }

  async stop(): Promise<void> {
    this.#client.close();
    await this.#service.stop();
    await rm(this.#folder, { recursive: true });
  }
}
