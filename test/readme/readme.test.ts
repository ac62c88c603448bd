import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { VARIABLES_READ } from '../../src/setting-table.ts';
import { parseSettings } from '../../src/settings.ts';
import { readText } from '../support/source-files.ts';
import { curlRequest } from './curl-request.ts';
import { canRun, ExampleRunner, TOKENS } from './example-runner.ts';
import {
  answerTo,
  type Block,
  checkedFiles,
  PAGES,
  type Page,
  pageAt,
  queriesOf,
  SHOWN_NOW,
} from './page.ts';
import { shellWords } from './shell-words.ts';

/** What begins so is not run here: it needs a network or a journal, or never ends. */
const NOT_RUN = ['npm ci', 'MALLOC_', 'node --import tsx test/reader/run.ts', 'journalctl'];

const UTF8 = { encoding: 'utf8' } as const;

/** Languages in which nothing is run by a shell, and how what is in them is tried. */
const TRIED = new Map([
  ['sql', 'each is a definition of the service here, or a query that it answers'],
  ['conf', 'senders are started with it in test/senders, or what they post is sent there'],
  ['yaml', 'what a sender posts is sent in test/senders; the others are compared below'],
  ['ini', 'its settings and its command are held against the service and the image below'],
]);

/** Of the machine, read once: the examples are for who reads them today. */
const TODAY = new Date();

/**
 * When the examples are run. Their answers are compared to the letter at the first time, and but for their times at
 * the others, where a time that an example names itself would have left the retention, or have come too early.
 */
const TIMES = new Map([
  ['the time of the answers', new Date(SHOWN_NOW)],
  ['today', TODAY],
  ['two years from today', new Date(TODAY.getTime() + 2 * 365 * 86_400_000)],
]);

/** Blocks of all pages, each with the place where it begins. */
function placesOf(blocksOf: (page: Page) => readonly Block[]): readonly string[] {
  return PAGES.flatMap((page) =>
    blocksOf(page).map(({ line, text }) => `${page.path}:${line}: ${text}`),
  );
}

test('every shell example is run here, or is listed as not run', () => {
  const isKnown = ({ text }: Block) => NOT_RUN.some((start) => text.startsWith(start));
  const unknown = placesOf(({ examples }) =>
    examples.filter((example) => !canRun(example) && !isKnown(example)),
  );
  assert.deepEqual(unknown, []);
  const run = placesOf(({ examples }) => examples.filter(canRun));
  assert.ok(run.length >= 25, `there are examples that are run: ${run.length}`);
});

test('the README is short', () => {
  const text = readText('README.md');
  assert.ok(text.split('\n').length <= 201, 'at most 200 lines');
  assert.ok(Buffer.byteLength(text) <= 12 * 1024, 'at most 12 KiB');
});

test('the allocator has the same settings in the image and in the documents', () => {
  const examples = PAGES.flatMap((page) => page.examples);
  const example = examples.find(({ text }) => text.startsWith('MALLOC_'));
  assert.equal(example?.text.trim(), `${imageAllocator().join(' ')} npm start`);
});

test('every other block is used by an example, is a file of one, or has its own test', () => {
  const others = placesOf((page) => {
    const { examples, blocks } = page;
    const known = new Set<Block | undefined>(examples);
    for (const example of [...examples, ...queriesOf(page)]) known.add(answerTo(page, example));
    const files = checkedFiles(page);
    for (const file of [files?.definition, files?.expected, files?.events]) known.add(file);
    return blocks.filter((block) => !known.has(block) && !TRIED.has(block.language));
  });
  assert.deepEqual(others, []);
});

for (const [name, now] of TIMES) {
  for (const page of PAGES) {
    const examples = page.examples.filter(canRun);
    const queries = queriesOf(page);
    if (examples.length + queries.length === 0) continue;

    suite(`${page.path} at ${name}`, () => {
      let runner: ExampleRunner;

      before(async () => {
        runner = await ExampleRunner.start(page, now);
      });

      after(() => runner.stop());

      test('its definitions are all in force', async () => {
        const headers = { 'X-API-KEY': TOKENS.PRIVATE_ACCESS_TOKEN };
        const { text } = await runner.service.ask('GET', '/api/endpoints', undefined, headers);
        const { problems } = JSON.parse(text) as { readonly problems: readonly unknown[] };
        assert.deepEqual(problems, []);
      });

      for (const query of queries) {
        test(`the query of line ${query.line} has the shown answer`, () => runner.runQuery(query));
      }

      for (const example of examples) {
        const [firstLine] = example.text.split('\n');
        test(`the example in line ${example.line} works: ${firstLine}`, () => runner.run(example));
      }
    });
  }
}

suite('settings for other programs', () => {
  let runner: ExampleRunner;

  before(async () => {
    runner = await ExampleRunner.start(pageAt('README.md'), TODAY);
  });

  after(() => runner.stop());

  test('the Docker fragment has valid settings and a health check of an existing path', async () => {
    const text = blockWith('container_name');
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
    assert.equal((await runner.service.ask('GET', path!)).status, 200);
  });

  test('the systemd unit has valid settings, and starts and stops like the containers', () => {
    const text = blockWith('[Service]');
    const lines = Array.from(text.matchAll(/^Environment=(.*)$/gm), ([, pairs]) => pairs!);
    const pairs = lines.flatMap((line) => line.split(' '));
    const allocator = imageAllocator();
    assert.deepEqual(
      pairs.filter((pair) => pair.startsWith('MALLOC_')),
      allocator,
    );
    const environment = Object.fromEntries(
      pairs.filter((pair) => !allocator.includes(pair)).map((pair) => pair.split('=')),
    );
    assert.deepEqual(
      Object.keys(environment).filter((variable) => !VARIABLES_READ.includes(variable)),
      [],
    );
    const [, state] = /^StateDirectory=(\w+)$/m.exec(text)!;
    assert.equal(parseSettings(environment).dataDir, `/var/lib/${state}`);
    const [, command] = /^CMD (\[.*\])$/m.exec(readText('Dockerfile'))!;
    const words = (JSON.parse(command!) as string[]).slice(1).join(' ');
    assert.equal(/^ExecStart=(.*)$/m.exec(text)![1], `/usr/bin/node ${words}`);
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(text)!;
    assert.ok(blockWith('container_name').includes(`stop_grace_period: ${seconds}s`));
  });

  test('systemd accepts the unit', { skip: missingSystemd() }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-unit-'));
    try {
      const file = join(folder, 'weir.service');
      // The program may lie elsewhere here, and systemd looks whether it is there.
      const text = blockWith('[Service]').replace('/usr/bin/node', process.execPath);
      await writeFile(file, text);
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], UTF8);
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('Prometheus’s settings scrape with a token from its file, and get all metrics that pages name', async () => {
    const text = blockWith('scrape_configs');
    // Prometheus takes the path /metrics and sends Bearer where it is not told otherwise.
    assert.match(text, /authorization: \{ credentials_file: \S+ \}/);
    assert.doesNotMatch(text, /metrics_path|type:/);
    const headers = { Authorization: `Bearer ${TOKENS.PRIVATE_ACCESS_TOKEN}`, 'X-API-KEY': '' };
    const answer = await runner.service.ask('GET', '/metrics', undefined, headers);
    assert.equal(answer.status, 200);
    const served = Array.from(answer.text.matchAll(/^# TYPE (\w+) /gm), ([, name]) => name!);
    const named = PAGES.flatMap(({ path }) =>
      Array.from(readText(path).matchAll(/`((?:weir|process|nodejs)_\w+)/g), ([, name]) => name!),
    );
    assert.ok(named.length >= 40, `pages name metrics: ${named.length}`);
    assert.deepEqual(
      named.filter((name) => !served.includes(name)),
      [],
    );
  });
});

/** Why a unit cannot be verified here, if it cannot. */
function missingSystemd(): string | false {
  const { error } = spawnSync('systemd-analyze', ['--version']);
  return error !== undefined && 'systemd-analyze is not installed: apt-get install systemd';
}

/** The one block of all pages in which a text stands. */
function blockWith(text: string): string {
  const found = PAGES.flatMap(({ blocks }) => blocks).filter((block) => block.text.includes(text));
  assert.equal(found.length, 1, text);
  return found[0]!.text;
}

/** What the image gives glibc: `NAME=value` each. */
function imageAllocator(): readonly string[] {
  const [, settings] = /^ENV (MALLOC_.*)$/m.exec(readText('Dockerfile')) ?? [];
  return settings!.split(' ');
}

test('what a shell or curl would read differently is refused, not ignored', () => {
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
