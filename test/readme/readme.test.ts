import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { parseSettings } from '../../src/settings.ts';
import { curlRequest } from './curl-request.ts';
import { canRun, ExampleRunner, TOKENS } from './example-runner.ts';
import { answerTo, BLOCKS, type Block, checkedFiles, EXAMPLES, SHOWN_NOW } from './readme-page.ts';
import { shellWords } from './shell-words.ts';

/** What begins so is not run here: it needs a network, or never ends. */
const NOT_RUN = ['npm ci', 'MALLOC_', 'node --import tsx test/reader/run.ts'];

/** Languages in which nothing is run by a shell, and how what is in them is tried. */
const TRIED = new Map([
  ['sql', 'each is a definition of the service here'],
  ['conf', 'senders are started with it in test/senders'],
  ['yaml', 'its settings and paths are held against the service below'],
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

test('every example of a shell is run here, or is of those that are not', () => {
  const others = EXAMPLES.filter((example) => !canRun(example));
  const isKnown = ({ text }: Block) => NOT_RUN.some((start) => text.startsWith(start));
  assert.deepEqual(
    others.filter((example) => !isKnown(example)).map(({ line, text }) => `${line}: ${text}`),
    [],
  );
  assert.ok(EXAMPLES.length - others.length >= 10, 'there are examples that are run');
});

test('the allocator has the same settings in the image and in the README', () => {
  const [, settings] = /^ENV (MALLOC_.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const example = EXAMPLES.find(({ text }) => text.startsWith('MALLOC_'));
  assert.equal(example?.text.trim(), `${settings} npm start`);
});

test('every other block comes of an example, is a file of one, or is tried in its own way', () => {
  const known = new Set<Block | undefined>(EXAMPLES);
  for (const example of EXAMPLES) known.add(answerTo(example));
  known.add(checkedFiles().events);
  const others = BLOCKS.filter((block) => !known.has(block) && !TRIED.has(block.language));
  assert.deepEqual(
    others.map(({ line, text }) => `${line}: ${text}`),
    [],
  );
});

for (const [name, now] of TIMES) {
  suite(`at ${name}`, () => {
    let runner: ExampleRunner;

    before(async () => {
      runner = await ExampleRunner.start(now);
    });

    after(() => runner.stop());

    for (const example of EXAMPLES.filter(canRun)) {
      const [firstLine] = example.text.split('\n');
      test(`line ${example.line} of the README does what it says: ${firstLine}`, () =>
        runner.run(example));
    }
  });
}

suite('settings for other programs', () => {
  let runner: ExampleRunner;

  before(async () => {
    runner = await ExampleRunner.start(TODAY);
  });

  after(() => runner.stop());

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
    assert.equal((await runner.service.ask('GET', path!)).status, 200);
  });

  test('what Prometheus is told to scrape is there for a token of its file', async () => {
    const { text } = BLOCKS.find((block) => block.text.startsWith('scrape_configs'))!;
    // Prometheus takes the path /metrics and sends Bearer where it is not told otherwise.
    assert.match(text, /authorization: \{ credentials_file: \S+ \}/);
    assert.doesNotMatch(text, /metrics_path|type:/);
    const headers = { Authorization: `Bearer ${TOKENS.PRIVATE_ACCESS_TOKEN}`, 'X-API-KEY': '' };
    const { status, text: numbers } = await runner.service.ask(
      'GET',
      '/metrics',
      undefined,
      headers,
    );
    assert.equal(status, 200);
    assert.match(numbers, /^weir_posts_total\{/m);
  });
});

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
