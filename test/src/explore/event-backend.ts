import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../../engine/assert.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { Readiness } from '../../../src/readiness.ts';
import { parseSettings } from '../../../src/settings.ts';
import type { Backend } from '../../../src/store/backend.ts';
import { openBackend } from '../../../src/store/log-backend.ts';
import { jsonText } from '../../support/json-text.ts';
import { storeAll } from '../../support/store-all.ts';

export const NOW_US = 1_768_478_400_000_000;

/** A backend in a temporary folder, whose clock stands still. */
export class EventBackend {
  readonly backend: Backend;
  readonly #folder: string;

  private constructor(backend: Backend, folder: string) {
    this.backend = backend;
    this.#folder = folder;
  }

  static async open(sources: string): Promise<EventBackend> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const settings = parseSettings({ DATA_DIR: folder, SOURCES: sources, WORKERS: '1' });
    const backend = openBackend({ settings, log: () => {} });
    await backend.recover(NOW_US, new Readiness());
    return new EventBackend(backend, folder);
  }

  async post(source: string, events: readonly unknown[]): Promise<void> {
    if (events.length === 0) return;
    const post = await this.backend.intake.decode({
      pieces: [Buffer.from(jsonText(events))],
      format: 'json',
    });
    const found = must(this.backend.intake.findSource(source), 'the source is there');
    const { reasons } = await post.store(found, { nowUs: NOW_US });
    post.end();
    if (reasons.length > 0) throw new Error(`events were refused: ${reasons.join('; ')}`);
  }

  /** Has all events sealed and stored in files. */
  seal(): Promise<void> {
    return storeAll(this.backend, NOW_US);
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    const query = this.backend.engine.prepare(sql, []);
    const answer = await this.backend.engine.run(query, {
      parameters: new Map(),
      nowUs: NOW_US,
      rowsMax: 100_000,
      reach: EVERYTHING,
    });
    const rows = JSON.parse(Buffer.from(answer.json).toString());
    answer.release();
    return rows;
  }

  async close(): Promise<void> {
    await this.backend.close(NOW_US);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
