import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOW, us } from '../scripts/script.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { sandboxedDefinition } from '../support/sandboxed-definition.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { READER_EVENTS } from './events.ts';

/** The timestamp of an event at this time of January 15th, 2026. */
export function at(time: string): number {
  return us(`2026-01-15T${time}Z`);
}

/** A service that holds `READER_EVENTS`, as a reader of the logs of the project `shop` meets it. */
export class ReaderUnderTest {
  readonly #service: ServiceUnderTest;
  readonly #folder: string;

  private constructor(service: ServiceUnderTest, folder: string) {
    this.#service = service;
    this.#folder = folder;
  }

  static async start(): Promise<ReaderUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-reader-'));
    await writeFile(join(folder, 'logs.sql'), sandboxedDefinition());
    const service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
    for (const events of READER_EVENTS) {
      for (const [source, list] of Object.entries(events)) {
        await service.post(source, list, us(NOW));
      }
    }
    return new ReaderUnderTest(service, folder);
  }

  /** Expects these rows, their keys in this order. */
  async expectRows(
    sql: string,
    ...rows: readonly Readonly<Record<string, unknown>>[]
  ): Promise<void> {
    const { text } = await this.#send(sql);
    // As text, so that the order of keys counts.
    assert.equal(text, JSON.stringify({ result: rows }));
  }

  async expectRefusal(sql: string, message: RegExp): Promise<void> {
    const { status, text } = await this.#send(sql);
    assert.equal(status, 422, text);
    assert.match(JSON.parse(text).error.message, message);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #send(sql: string): Promise<HttpAnswer> {
    const body = JSON.stringify({ project: 'shop', project_tier: 'PRO', sql });
    return this.#service.ask('POST', '/api/endpoints/logs.sandboxed', body);
  }
}
