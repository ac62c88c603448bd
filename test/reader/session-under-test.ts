import assert from 'node:assert/strict';
import type { JsonObject } from '../oracle/oracle.ts';
import { NOW, us } from '../scripts/script.ts';
import { jsonText } from '../support/json-text.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { STACKS, type Stack } from './session-stacks.ts';

export type SessionRow = Readonly<Record<string, unknown>>;

/** A reader's session with a service in the profile supabase that holds the events of all stacks. */
export class SessionUnderTest {
  readonly #service: ServiceUnderTest;

  private constructor(service: ServiceUnderTest) {
    this.#service = service;
  }

  static async start(): Promise<SessionUnderTest> {
    const service = await ServiceUnderTest.start({ PROFILE: 'supabase' });
    for (const { events } of STACKS) {
      for (const [source, list] of Object.entries(events)) {
        // One half of it lies in files when the reader comes, the other does not.
        await service.post(source, list.slice(0, list.length / 2), us(NOW));
      }
    }
    await service.storeAll();
    for (const { events } of STACKS) {
      for (const [source, list] of Object.entries(events)) {
        await service.post(source, list.slice(list.length / 2), us(NOW));
      }
    }
    return new SessionUnderTest(service);
  }

  /** The body of an answer, which in this profile is a 200 even where a text is wrong. */
  async text(
    stack: Pick<Stack, 'project'>,
    parameters: Readonly<Record<string, string>>,
    endpoint = 'logs.all',
  ): Promise<string> {
    const query = new URLSearchParams({ project: stack.project, ...parameters });
    const path = `/api/endpoints/query/${endpoint}?${query}`;
    const { status, text } = await this.#service.ask('GET', path);
    assert.equal(status, 200, text);
    return text;
  }

  async rows(
    stack: Pick<Stack, 'project'>,
    sql: string,
    window: Readonly<Record<string, string>> = {},
  ): Promise<readonly SessionRow[]> {
    return resultOf(await this.text(stack, { ...window, sql }), sql);
  }

  /** Expects these rows, their keys in this order, of the caller's text sent to an endpoint. */
  async expectRows(
    stack: Pick<Stack, 'project'>,
    sql: string,
    rows: readonly SessionRow[],
    call: { readonly endpoint?: string; readonly window?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const text = await this.text(stack, { ...call.window, sql }, call.endpoint);
    const wanted = jsonText({ result: rows });
    if (text === wanted) return;
    // Rows that differ are told better than two long texts.
    assert.deepEqual(resultOf(text, sql), JSON.parse(wanted).result, sql);
    assert.equal(text, wanted, sql);
  }

  async errorOf(stack: Pick<Stack, 'project'>, sql: string): Promise<string> {
    const answer = JSON.parse(await this.text(stack, { sql })) as JsonObject;
    assert.deepEqual(Object.keys(answer), ['error'], sql);
    return answer['error'] as string;
  }

  post(source: string, events: readonly JsonObject[]): Promise<void> {
    return this.#service.post(source, events, us(NOW));
  }

  stop(): Promise<void> {
    return this.#service.stop();
  }
}

function resultOf(text: string, sql: string): readonly SessionRow[] {
  const { result } = JSON.parse(text) as { readonly result?: readonly SessionRow[] };
  assert(result !== undefined, `${sql}: ${text}`);
  return result;
}
