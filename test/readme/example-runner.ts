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
import {
  answerTo,
  type Block,
  checkedFiles,
  definitionsOf,
  FIRST_PAGE,
  type Page,
  SHOWN_NOW,
} from './page.ts';
import { shellWords } from './shell-words.ts';
import { isStart, settingsOfStart } from './start-line.ts';

export const TOKENS = { PUBLIC_ACCESS_TOKEN: 'for-posts', PRIVATE_ACCESS_TOKEN: 'for-everything' };

/** Sources that pages name beside those built in. */
const SOURCES = 'app.logs,supavisor.logs,pg_upgrade_logs';

/** What `weir post` is shown with. */
const POSTED_FILE =
  '{"event_message":"a","project":"alpha"}\n{"event_message":"b","project":"alpha"}\n';

/** Commands that ask no service. */
const ALONE = ['check', 'inspect', 'verify'];

/** What they write is shortened on the page. */
const NOT_COMPARED = ['weir explain'];

/** Whether an example is one that a runner can run. */
export function canRun({ text }: Block): boolean {
  return text.startsWith('curl ') || text.startsWith('weir ') || isStart(text);
}

/**
 * Does what a reader of a page does, at one time: runs its examples against a service whose clock, like that of the
 * reader's shell, stands still there.
 */
export class ExampleRunner {
  readonly service: ServiceUnderTest;
  readonly #page: Page;
  readonly #folder: string;
  readonly #now: Date;

  private constructor(page: Page, service: ServiceUnderTest, folder: string, now: Date) {
    this.#page = page;
    this.service = service;
    this.#folder = folder;
    this.#now = now;
  }

  static async start(page: Page, now: Date): Promise<ExampleRunner> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-readme-'));
    for (const [index, { text }] of definitionsOf(page).entries()) {
      await writeFile(join(folder, `definition-${index}.sql`), text);
    }
    await writeEndpoints(page, join(folder, 'endpoints'));
    await writeFile(join(folder, 'events.ndjson'), POSTED_FILE);
    const service = await ServiceUnderTest.start({
      ...TOKENS,
      ENDPOINTS_DIR: folder,
      DATA_DIR: join(folder, 'data'),
      FROZEN_NOW: now.toISOString(),
      CACHE_LIMIT: '1MiB',
      DEFAULT_SOURCE: 'logs',
      SOURCES,
    });
    service.wall.ms = now.getTime();
    const runner = new ExampleRunner(page, service, folder, now);
    await runner.#readFirstPage();
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

  /** Saves a query as a definition with the parameter `project`, and calls it for the project of the examples. */
  async runQuery(query: Block): Promise<void> {
    const headers = {
      'X-API-KEY': TOKENS.PRIVATE_ACCESS_TOKEN,
      'Content-Type': 'application/json',
    };
    const name = `query-at-${query.line}`;
    const parameters = [{ name: 'project', type: 'string', required: true }];
    const definition = JSON.stringify({ name, parameters, query: query.text });
    const saved = await this.service.ask('POST', '/api/endpoints', definition, headers);
    assert.equal(saved.status, 201, saved.text);
    const path = `/api/endpoints/${name}?project=alpha`;
    // Without a body there is no type that the service could look at.
    const answer = await this.service.ask('GET', path, undefined, {
      'X-API-KEY': TOKENS.PRIVATE_ACCESS_TOKEN,
    });
    assert.equal(answer.status, 200, answer.text);
    const expected = answerTo(this.#page, query);
    assert.ok(expected !== undefined, 'the page shows the answer');
    assert.equal(this.#masked(answer.text), this.#masked(expected.text));
  }

  /** Readers of the other pages have posted what the first one shows. */
  async #readFirstPage(): Promise<void> {
    if (this.#page === FIRST_PAGE || this.#page.path === 'README.md') return;
    for (const { text } of FIRST_PAGE.examples) {
      if (text.startsWith('curl -X POST')) await this.#ask(text);
    }
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

  /** What a line of curl gets, which must not be a failure. */
  async #ask(line: string): Promise<HttpAnswer> {
    const { url, method, headers, body } = curlRequest(this.#words(line));
    // Without a body there is no type that the service could look at.
    const path = url.pathname + url.search;
    // The token is where the example has it, and nowhere else.
    const sent = { 'X-API-KEY': '', ...headers };
    const answer = await this.service.ask(method, path, body, sent);
    assert.ok(answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
    return answer;
  }

  async #runCurl(example: Block): Promise<void> {
    const { url, headers } = curlRequest(this.#words(example.text));
    const expected = answerTo(this.#page, example);
    const [, followed] = /^\/api\/sources\/([^/]+)\/tail$/.exec(url.pathname) ?? [];
    if (followed !== undefined) {
      const path = url.pathname + url.search;
      const stream = await EventStream.open(this.service.url + path, { ...headers });
      // Something comes, whatever earlier examples left; it has no metadata, so no query counts it.
      await this.#post(followed, [{ event_message: 'posted behind the tail', project: 'alpha' }]);
      const [event] = await stream.take(1);
      stream.close();
      const shown = /^data: (.*)$/m.exec(expected!.text)![1]!;
      assert.deepEqual(JSON.parse(this.#masked(event!.data)), JSON.parse(this.#masked(shown)));
      return;
    }
    const answer = await this.#ask(example.text);
    if (expected?.language === 'http') {
      const second = await this.#ask(example.text);
      for (const line of expected.text.trim().split('\n')) {
        const [name] = line.split(':');
        const got = `${name}: ${second.headers[name!.toLowerCase()]}`;
        assert.equal(maskedHeader(got), maskedHeader(line));
      }
    } else if (expected !== undefined) {
      assert.equal(this.#masked(answer.text), this.#masked(expected.text));
    }
  }

  async #runCommands(example: Block): Promise<void> {
    const expected = answerTo(this.#page, example);
    const shown: string[] = [];
    for (const line of example.text.trim().split('\n')) {
      if (isStart(line)) await settingsOfStart(line, this.#folder);
      else shown.push(await this.#runCommand(line));
    }
    const isCompared = !NOT_COMPARED.some((start) => example.text.startsWith(start));
    if (expected !== undefined && isCompared) {
      assert.equal(this.#masked(shown.join('')), this.#masked(expected.text));
    }
  }

  async #runCommand(line: string): Promise<string> {
    const words = this.#words(line);
    const isBeforeStart = words.includes('--data-dir');
    // Before the first start nobody uses the folder of this name; here the service of the page does.
    const suffix = isBeforeStart ? '-before-start' : '';
    const own = words.map((word) =>
      word.startsWith('./') ? `${join(this.#folder, word)}${suffix}` : word,
    );
    const isAlone = ALONE.includes(words[0]!) || isBeforeStart;
    const all = isAlone ? own : [...own, '--url', this.service.url];
    const nowUs = this.#now.getTime() * 1000;
    const { status, out, err } = await runWeir(all, { environment: TOKENS, nowUs });
    assert.deepEqual([status, err], [0, ''], line);
    return out;
  }

  /** The same for whatever ids an answer has of its own, and for its times where it is given at another than shown. */
  #masked(text: string): string {
    const withoutIds = text
      .replaceAll('\r\n', '\n')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
      .trim();
    if (this.#now.getTime() * 1000 === us(SHOWN_NOW)) return withoutIds;
    return (
      withoutIds
        .replaceAll(/\b\d{16}\b/g, '0')
        .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\b/g, 'yyyy-mm-ddThh:mm:ss')
        // An event without a timestamp has that of its arrival.
        .replaceAll(/(yyyy-mm-ddThh:mm:ss)\.\d{3}Z/g, '$1.sssZ')
    );
  }
}

/** The folder that `weir check` is shown with: the files that the page shows above it. */
async function writeEndpoints(page: Page, path: string): Promise<void> {
  const files = checkedFiles(page);
  if (files === undefined) return;
  await mkdir(path);
  await writeFile(join(path, 'errors.sql'), files.definition.text);
  await writeFile(join(path, 'errors.expect.json'), files.expected.text);
  await writeFile(join(path, 'errors.events.ndjson'), files.events.text);
}

/** Names and forms of headers: their numbers and tags are those of a moment. */
function maskedHeader(line: string): string {
  return line.replaceAll(/"[\w-]+"/g, '"tag"').replaceAll(/\d+(?:\.\d+)?/g, '<number>');
}
