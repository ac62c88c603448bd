import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseSettings } from '../../src/settings.ts';
import { us } from '../scripts/script.ts';
import { runWeir } from '../support/command-under-test.ts';
import { EventStream } from '../support/event-stream.ts';
import type { HttpAnswer } from '../support/http-client.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';
import { readText } from '../support/source-files.ts';
import { curlRequest } from './curl-request.ts';
import { shellWords } from './shell-words.ts';

/** Something between fences, where it begins, and what is said to come of it: the next one. */
type Block = { readonly language: string; readonly text: string; readonly line: number };

const NOW = '2026-01-15T12:00:00Z';

/** What begins so is not run here: it needs a network, or never ends. */
const NOT_RUN = ['npm ci', 'node --import tsx test/reader/run.ts'];

const TOKENS = { PUBLIC_ACCESS_TOKEN: 'for-posts', PRIVATE_ACCESS_TOKEN: 'for-everything' };

/** The reader's shell: its clock agrees with the service's. */
const SHELL = { variables: TOKENS, now: new Date(NOW) };

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

/** Languages in which nothing is run by a shell, and how what is in them is tried. */
const TRIED = new Map([
  ['sql', 'each is a definition of the service here'],
  ['conf', 'senders are started with it in test/senders'],
  ['yaml', 'its settings and paths are held against the service below'],
]);

const BLOCKS = blocksOf(readText('README.md'));
const EXAMPLES = BLOCKS.filter(({ language }) => language === 'sh');

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-readme-'));
  const definitions = BLOCKS.filter(({ language }) => language === 'sql');
  for (const [index, { text }] of definitions.entries()) {
    await writeFile(join(folder, `definition-${index}.sql`), text);
  }
  await writeFile(join(folder, 'app-logs.sql'), APP_LOGS);
  await writeEndpoints(join(folder, 'endpoints'));
  service = await ServiceUnderTest.start({
    ...TOKENS,
    ENDPOINTS_DIR: folder,
    DATA_DIR: join(folder, 'data'),
    FROZEN_NOW: NOW,
    CACHE_LIMIT: '1MiB',
    DEFAULT_SOURCE: 'logs',
  });
  const invocation = (second: number, status: number, executionMs: number) => ({
    timestamp: `2026-01-15T11:57:${second}Z`,
    event_message: 'POST | https://alpha.example.co/functions/v1/hello',
    metadata: {
      project_ref: 'alpha',
      execution_time_ms: executionMs,
      response: { status_code: status },
    },
  });
  const posted = await post('deno-relay-logs', [invocation(10, 200, 12), invocation(20, 500, 48)]);
  assert.equal(posted.status, 200, await posted.text());
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** The folder that `weir check` is shown with, and the files that stand below it. */
async function writeEndpoints(path: string): Promise<void> {
  const check = BLOCKS.findIndex(({ text }) => text.startsWith('weir check'));
  const [expected, events] = BLOCKS.slice(check + 1);
  await mkdir(path);
  await writeFile(join(path, 'errors.sql'), FOLDER_ERRORS);
  await writeFile(join(path, 'errors.expect.json'), expected!.text);
  await writeFile(join(path, 'errors.events.ndjson'), events!.text);
}

function post(source: string, events: readonly object[]): Promise<Response> {
  return fetch(`${service.url}/api/logs?source_name=${source}`, {
    method: 'POST',
    headers: { 'X-API-KEY': TOKENS.PUBLIC_ACCESS_TOKEN, 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
}

function blocksOf(page: string): Block[] {
  return Array.from(page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm), (found) => ({
    language: found[1]!,
    text: found[2]!,
    line: page.slice(0, found.index).split('\n').length,
  }));
}

/** What is told to come of an example; nothing where another one follows. */
function answerTo(example: Block): Block | undefined {
  const next = BLOCKS[BLOCKS.indexOf(example) + 1];
  return next !== undefined && ['json', 'csv', 'http', ''].includes(next.language)
    ? next
    : undefined;
}

/** The same for whatever ids and times an answer has of its own. */
function masked(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .trim();
}

/** Names and forms of headers: their numbers and tags are those of a moment. */
function maskedHeader(line: string): string {
  return line.replaceAll(/"[\w-]+"/g, '"tag"').replaceAll(/\d+(?:\.\d+)?/g, '<number>');
}

async function runCurl(example: Block): Promise<void> {
  const { url, method, headers, body } = curlRequest(shellWords(example.text, SHELL).slice(1));
  const path = url.pathname + url.search;
  const expected = answerTo(example);
  if (path.includes('/tail')) {
    const stream = await EventStream.open(service.url + path, { ...headers });
    const [event] = await stream.take(1);
    stream.close();
    const shown = /^data: (.*)$/m.exec(expected!.text)![1]!;
    assert.deepEqual(JSON.parse(masked(event!.data)), JSON.parse(masked(shown)));
    return;
  }
  const ask = (): Promise<HttpAnswer> =>
    // Without a body there is no type that the service could look at.
    service.ask(method, path, body, { ...headers });
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
    assert.equal(masked(answer.text), masked(expected.text));
  }
}

async function runCommands(example: Block): Promise<void> {
  const expected = answerTo(example);
  const shown: string[] = [];
  for (const line of example.text.trim().split('\n')) {
    const words = shellWords(line, SHELL).slice(1);
    const own = words.map((word) => (word.startsWith('./') ? join(folder, word) : word));
    const isAlone = ALONE.includes(words[0]!);
    const { status, out, err } = await runWeir(isAlone ? own : [...own, '--url', service.url], {
      environment: TOKENS,
      nowUs: us(NOW),
    });
    assert.deepEqual([status, err], [0, ''], line);
    shown.push(out);
  }
  const isCompared = !NOT_COMPARED.some((start) => example.text.startsWith(start));
  if (expected !== undefined && isCompared) {
    assert.equal(masked(shown.join('')), masked(expected.text));
  }
}

/** What an example does here. */
function runnerOf({ text }: Block): ((example: Block) => Promise<void>) | undefined {
  if (text.startsWith('curl ')) return runCurl;
  return text.startsWith('weir ') ? runCommands : undefined;
}

test('every example of a shell is run here, or is of those that are not', () => {
  const others = EXAMPLES.filter((example) => runnerOf(example) === undefined);
  const isKnown = ({ text }: Block) => NOT_RUN.some((start) => text.startsWith(start));
  assert.deepEqual(
    others.filter((example) => !isKnown(example)).map(({ line, text }) => `${line}: ${text}`),
    [],
  );
  assert.ok(EXAMPLES.length - others.length >= 10, 'there are examples that are run');
});

test('every other block comes of an example, is a file of one, or is tried in its own way', () => {
  const known = new Set<Block | undefined>(EXAMPLES);
  for (const example of EXAMPLES) known.add(answerTo(example));
  const check = BLOCKS.findIndex(({ text }) => text.startsWith('weir check'));
  // The events beside what is expected of them.
  known.add(BLOCKS[check + 2]);
  const others = BLOCKS.filter((block) => !known.has(block) && !TRIED.has(block.language));
  assert.deepEqual(
    others.map(({ line, text }) => `${line}: ${text}`),
    [],
  );
});

test('the fragment for Docker has settings that are understood, and asks for a path that there is', async () => {
  const { text } = BLOCKS.find((block) => block.text.includes('container_name'))!;
  const environment = new Map<string, string>();
  const [, lines] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(text)!;
  for (const [, name, value] of lines!.matchAll(/^ {6}(\w+): (.*)$/gm)) {
    environment.set(name!, value!.replaceAll(/\$\{\w+\}/g, `of-${name}`));
  }
  const settings = parseSettings(Object.fromEntries(environment));
  assert.equal(settings.profile, 'supabase');
  assert.equal(settings.publicAccessToken, 'of-LOGFLARE_PUBLIC_ACCESS_TOKEN');
  assert.equal(settings.privateAccessToken, 'of-LOGFLARE_PRIVATE_ACCESS_TOKEN');
  assert.equal(settings.memoryBytesMax, 2 ** 30);
  assert.equal(environment.size, 4);
  const [, path] = /"http:\/\/localhost:4000(\/\w+)"/.exec(text)!;
  assert.equal((await service.ask('GET', path!)).status, 200);
});

test('what Prometheus is told to scrape is there for a token of its file', async () => {
  const { text } = BLOCKS.find((block) => block.text.startsWith('scrape_configs'))!;
  // Prometheus takes the path /metrics and sends Bearer where it is not told otherwise.
  assert.match(text, /authorization: \{ credentials_file: \S+ \}/);
  assert.doesNotMatch(text, /metrics_path|type:/);
  const headers = { Authorization: `Bearer ${TOKENS.PRIVATE_ACCESS_TOKEN}`, 'X-API-KEY': '' };
  const { status, text: numbers } = await service.ask('GET', '/metrics', undefined, headers);
  assert.equal(status, 200);
  assert.match(numbers, /^weir_posts_total\{/m);
});

for (const example of EXAMPLES) {
  const run = runnerOf(example);
  if (run === undefined) continue;
  test(`line ${example.line} of the README does what it says: ${example.text.split('\n')[0]}`, () =>
    run(example));
}

test('what a shell or curl would read in another way is refused, not passed over', () => {
  const world = { variables: { X: '1', TWO: 'a b' }, now: new Date('2026-01-02T03:04:05.678Z') };
  const words = (text: string): string[] => shellWords(text, world);
  assert.deepEqual(words(`a 'b c'"$X d"e \\\n  f=$X "$TWO"`), ['a', 'b c1 de', 'f=1', 'a b']);
  assert.deepEqual(words(`'["'$(date +%s)000'"]' "-$(date -u +%Y-%m-%dT%H:%M:%SZ)-"`), [
    '["1767323045000"]',
    '-2026-01-02T03:04:05Z-',
  ]);
  for (const text of [
    '$Y',
    '"$Y"',
    '$TWO',
    'a | b',
    '`a`',
    '"a',
    "'a",
    '"a $"',
    '$(id)',
    '"$(id)"',
  ]) {
    assert.throws(() => words(text), text);
  }
  // Those that only some shells' `date` takes, or that are of a zone.
  for (const format of [
    'date',
    '-u +%N',
    '+%H',
    '-d tomorrow +%s',
    '-v+1d +%s',
    '-u +%',
    '+%s x',
  ]) {
    assert.throws(() => words(`$(date ${format})`), format);
  }
  const request = curlRequest(['-G', 'http://a/b', '-d', 'x=1', '--data-urlencode', 'y=a b&c']);
  assert.equal(String(request.url), 'http://a/b?x=1&y=a%20b%26c');
  assert.throws(() => curlRequest(['--proxy', 'http://a/']), /--proxy is not known here/);
});
