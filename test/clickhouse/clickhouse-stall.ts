import { deepEqual } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../engine/assert.ts';
import type { QueryExplanation } from '../../engine/plan/explanation.ts';
import type { Reach } from '../../engine/plan/reach.ts';
import { refusalSentences } from '../../ingest/admission.ts';
import { openClickHouseBackend } from '../../src/clickhouse/clickhouse-backend.ts';
import { EVENTS_TABLE } from '../../src/clickhouse/schema.ts';
import { loadCatalogue } from '../../src/definition/catalogue.ts';
import { parseSettings } from '../../src/settings.ts';
import type { Backend } from '../../src/store/backend.ts';
import type { TenantStore } from '../isolation/isolation-law.ts';
import type { TenantCall } from '../isolation/tenant-calls.ts';
import { type Outcome, TenantDesk } from '../isolation/tenant-desk.ts';
import { LOGS, NOW_US, type TenantEvent } from '../isolation/tenant-events.ts';
import { jsonText } from '../support/json-text.ts';
import type { ChdbUnderTest } from './chdb.ts';
import type { HttpDoor } from './http-door.ts';
import { settingsFor, until } from './service-on-clickhouse.ts';

type Server = { readonly chdb: ChdbUnderTest; readonly door: HttpDoor };

/** The backend over ClickHouse in a database of its own, and what answers calls of it. */
export class ClickHouseStall implements TenantStore {
  static #databaseCount = 0;
  readonly #chdb: ChdbUnderTest;
  readonly #database: string;
  readonly #folder: string;
  readonly #backend: Backend;
  readonly #desk: TenantDesk;
  readonly rememberedRows = undefined;

  private constructor(parts: {
    readonly chdb: ChdbUnderTest;
    readonly database: string;
    readonly folder: string;
    readonly backend: Backend;
    readonly desk: TenantDesk;
  }) {
    this.#chdb = parts.chdb;
    this.#database = parts.database;
    this.#folder = parts.folder;
    this.#backend = parts.backend;
    this.#desk = parts.desk;
  }

  /** With the definitions of `definitions`, and columns of the fields that they read. */
  static async open(
    { chdb, door }: Server,
    definitions: string,
    cacheBytesMax: number,
  ): Promise<ClickHouseStall> {
    const database = `stall${ClickHouseStall.#databaseCount++}`;
    chdb.run(`CREATE DATABASE ${database}`);
    const folder = await mkdtemp(join(tmpdir(), 'weir-stall-'));
    const settings = parseSettings({ ...settingsFor(folder, door.url), SOURCES: LOGS });
    const backend = openClickHouseBackend({
      ...{ settings, log: () => {}, shipLimits: { batchWaitMs: 0, retryTickMs: 1 } },
      clock: { nowUs: () => NOW_US, monotonicMs: () => performance.now() },
    });
    await backend.recover(NOW_US, { progress: () => {}, damage: () => {} });
    const { engine } = backend;
    const catalogue = await loadCatalogue({ folder: definitions, engine });
    const desk = new TenantDesk(engine, catalogue, cacheBytesMax);
    const stall = new ClickHouseStall({ chdb, database, folder, backend, desk });
    stall.#use();
    backend.followDefinitions?.(catalogue);
    await until(() => {
      backend.tick(NOW_US);
      return stall.#hasColumns();
    });
    return stall;
  }

  async post(events: readonly TenantEvent[]): Promise<void> {
    this.#use();
    const { intake } = this.#backend;
    for (const name of new Set(events.map(({ source }) => source))) {
      const own = events.flatMap(({ source, event }) => (source === name ? [event] : []));
      const pieces = [Buffer.from(jsonText(own))];
      const posted = await intake.decode({ pieces, format: 'json' });
      const source = must(intake.findSource(name), `source ${name} exists`);
      const stored = await posted.store(source, { nowUs: NOW_US });
      posted.end();
      deepEqual(refusalSentences(stored), []);
    }
    await until(() => this.#backend.stats().shipping?.events === 0);
  }

  async seal(): Promise<void> {}

  clear(): void {
    this.#chdb.run(`TRUNCATE TABLE ${this.#database}.${EVENTS_TABLE}`);
  }

  call(call: TenantCall, reach: Reach): Promise<Outcome> {
    this.#use();
    return this.#desk.call(call, reach);
  }

  explain(call: TenantCall, reach: Reach): Promise<QueryExplanation | undefined> {
    this.#use();
    return this.#desk.explain(call, reach);
  }

  async prepare(): Promise<void> {}

  get hitCount(): number {
    return this.#desk.hitCount;
  }

  async close(): Promise<void> {
    this.#use();
    await this.#desk.close();
    await this.#backend.close(NOW_US);
    await rm(this.#folder, { recursive: true });
  }

  /** The server of these tests has one database in use at a time. */
  #use(): void {
    this.#chdb.run(`USE ${this.#database}`);
  }

  #hasColumns(): boolean {
    const names = this.#chdb.rows(
      `SELECT name FROM system.columns WHERE database = '${this.#database}' AND startsWith(name, 'field_')`,
    );
    return names.length > 0;
  }
}
