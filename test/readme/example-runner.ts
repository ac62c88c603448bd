import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { us } from '../scripts/script.ts';
import { runWeir } from '../support/command-under-test.ts';
import { EventStream } from '../support/event-stream.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { curlRequest } from './curl-request.ts';
import { answerTo, BLOCKS, type Block, checkedFiles, SHOWN_NOW } from './readme-page.ts';
import { shellWords } from './shell-words.ts';

export const TOKENS = { PUBLIC_ACCESS_TOKEN: 'for-posts', PRIVATE_ACCESS_TOKEN: 'for-everything' };

/** Named in an example, and not given there. */
const APP_LOGS = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.logs
-- sandbox: enabled
-- param: project string required
WITH entries AS (
  SELECT t.id, t.timestamp, t.event_message FROM \`postgres.logs\` AS t WHERE t.project = @project
)
SELECT e.id FROM entries AS e
`;

/** The folder of definitions of which examples tell; what stands beside a file is in the README. */
const FOLDER_ERRORS = `-- id: 22222222-2222-4333-8444-555555555555
-- name: folder.errors
-- param: project string required
SELECT COUNT(*) AS errors FROM \`postgres.logs\` WHERE project = @project
`;

/** Commands that ask no service. */
const ALONE = ['check', 'inspect', 'verify'];

/** Below these something else stands than what they write: it is shortened, or a file that they read. */
const NOT_COMPARED = ['weir explain', 'weir check'];

const MINUTE_MS = 60_000;

/** Whether an example is one that a runner can run. */
export function canRun({ text }: Block): boolean {
  return text.startsWith('curl ') || text.startsWith('weir ');
}

/**
 * Does what a reader of the README does, at one time: runs its examples against a service whose clock, like that of
 * the reader's shell, stands still there.
 */
export class ExampleRunner {
  readonly service: ServiceUnderTest;
  readonly #folder: string;
  readonly #now: Date;

  private constructor(service: ServiceUnderTest, folder: string, now: Date) {
    this.service = service;
    this.#folder = folder;
    this.#now = now;
  }

  static async start(now: Date): Promise<ExampleRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-readme-'));
    const definitions = BLOCKS.filter(({ language }) => language === 'sql');
    for (const [index, { text }] of definitions.entries()) {
      await writeFile(join(folder, `definition-${index}.sql`), text);
    }
    await writeFile(join(folder, 'app-logs.sql'), APP_LOGS);
    await writeEndpoints(join(folder, 'endpoints'));
    const service = await ServiceUnderTest.start({
      ...TOKENS,
      ENDPOINTS_DIR: folder,
      DATA_DIR: join(folder, 'data'),
      FROZEN_NOW: now.toISOString(),
      CACHE_LIMIT: '1MiB',
      DEFAULT_SOURCE: 'logs',
    });
    service.wall.ms = now.getTime();
    const runner = new ExampleRunner(service, folder, now);
    await runner.#postInvocations();
    return runner;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await rm(this.#folder, { recursive: true });
  }

  /** Runs an example; what comes of it must be what is shown. */
  async run(example: Block): Promise<void> {
    if (example.text.startsWith('curl ')) await this.#runCurl(example);
    else await this.#runCommands(example);
  }

  /** The two that the README describes, in one minute whatever the time is. */
  async #postInvocations(): Promise<void> {
    const minuteMs = Math.trunc(this.#now.getTime() / MINUTE_MS) * MINUTE_MS - 3 * MINUTE_MS;
    const invocation = (second: number, status: number, executionMs: number) => ({
      timestamp: new Date(minuteMs + second * 1000).toISOString(),
      event_message: 'POST | https://alpha.example.co/functions/v1/hello',
      metadata: {
        project_ref: 'alpha',
        execution_time_ms: executionMs,
        response: { status_code: status },
      },
    });
    await this.#post('deno-relay-logs', [invocation(10, 200, 12), invocation(20, 500, 48)]);
  }

  async #post(source: string, events: readonly object[]): Promise<void> {
    const headers = { 'X-API-KEY': TOKENS.PUBLIC_ACCESS_TOKEN };
    const path = `/api/logs?source_name=${source}`;
    const posted = await this.service.ask('POST', path, JSON.stringify(events), headers);
    assert.equal(posted.status, 200, posted.text);
  }

  #words(line: string): string[] {
    return shellWords(line, { variables: TOKENS, now: this.#now }).slice(1);
  }

  async #runCurl(example: Block): Promise<void> {
    const { url, method, headers, body } = curlRequest(this.#words(example.text));
    const path = url.pathname + url.search;
    const expected = answerTo(example);
    const [, followed] = /^\/api\/sources\/([^/]+)\/tail$/.exec(url.pathname) ?? [];
    if (followed !== undefined) {
      const stream = await EventStream.open(this.service.url + path, { ...headers });
      // Something comes, whatever earlier examples left; it has no metadata, so no query counts it.
      await this.#post(followed, [{ event_message: 'posted behind the tail', project: 'alpha' }]);
      const [event] = await stream.take(1);
      stream.close();
      const shown = /^data: (.*)$/m.exec(expected!.text)![1]!;
      assert.deepEqual(JSON.parse(this.#masked(event!.data)), JSON.parse(this.#masked(shown)));
      return;
    }
    const ask = (): Promise<HttpAnswer> =>
      // Without a body there is no type that the service could look at.
      this.service.ask(method, path, body, { ...headers });
    let answer = await ask();
    assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    if (expected?.language === 'http') {
      answer = await ask();
      for (const line of expected.text.trim().split('\n')) {
        const [name] = line.split(':');
        const got = `${name}: ${answer.headers[name!.toLowerCase()]}`;
        assert.equal(maskedHeader(got), maskedHeader(line));
      }
    } else if (expected !== undefined) {
      assert.equal(this.#masked(answer.text), this.#masked(expected.text));
    }
  }

  async #runCommands(example: Block): Promise<void> {
    const expected = answerTo(example);
    const shown: string[] = [];
    for (const line of example.text.trim().split('\n')) {
      const words = this.#words(line);
      const own = words.map((word) => (word.startsWith('./') ? join(this.#folder, word) : word));
      const isAlone = ALONE.includes(words[0]!);
      const all = isAlone ? own : [...own, '--url', this.service.url];
      const nowUs = this.#now.getTime() * 1000;
      const { status, out, err } = await runWeir(all, { environment: TOKENS, nowUs });
      assert.deepEqual([status, err], [0, ''], line);
      shown.push(out);
    }
    const isCompared = !NOT_COMPARED.some((start) => example.text.startsWith(start));
    if (expected !== undefined && isCompared) {
      assert.equal(this.#masked(shown.join('')), this.#masked(expected.text));
    }
  }

  /** The same for whatever ids an answer has of its own, and for its times where it is given at another than shown. */
  #masked(text: string): string {
    const withoutIds = text
      .replaceAll('\r\n', '\n')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
      .trim();
    if (this.#now.getTime() * 1000 === us(SHOWN_NOW)) return withoutIds;
    return withoutIds
      .replaceAll(/\b\d{16}\b/g, '0')
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\b/g, 'yyyy-mm-ddThh:mm:ss');
  }
}

/** The folder that `weir check` is shown with, and the files that stand below it. */
async function writeEndpoints(path: string): Promise<void> {
  const { expected, events } = checkedFiles();
  await mkdir(path);
  await writeFile(join(path, 'errors.sql'), FOLDER_ERRORS);
  await writeFile(join(path, 'errors.expect.json'), expected.text);
  await writeFile(join(path, 'errors.events.ndjson'), events.text);
}

/** Names and forms of headers: their numbers and tags are those of a moment. */
function maskedHeader(line: string): string {
  return line.replaceAll(/"[\w-]+"/g, '"tag"').replaceAll(/\d+(?:\.\d+)?/g, '<number>');
}
