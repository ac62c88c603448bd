import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LinePrompt, PromptOptions } from '../../../src/command/command.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { SlowService } from '../../support/slow-service.ts';

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-sql-'));
  service = await ServiceUnderTest.start();
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

type World = Parameters<typeof runWeir>[1];

function sql(words: readonly string[], world: World = {}, url = service.url): Promise<Ended> {
  const environment = { PRIVATE_ACCESS_TOKEN: 'a-private-token', XDG_STATE_HOME: folder };
  return runWeir(['sql', ...words, '--url', url], { environment, ...world });
}

test('a text is run with its parameters, and shown as a table or as the service sends it', async () => {
  const call = ["SELECT @a AS a, 'x=y' AS b", 'a=1'];
  const { status, out, err } = await sql(call);
  deepEqual([status, out, err], [0, 'a  b\n─  ───\n1  x=y\n1 row\n', '']);
  equal((await sql([...call, '--csv'])).out, 'a,b\r\n"1","x=y"\r\n');
  equal((await sql([...call, '--ndjson'])).out, '{"a":"1","b":"x=y"}\n');
  equal((await sql([...call, '--json'])).out, '{"result":[{"a":"1","b":"x=y"}]}\n');
});

test('a text is read from a file, or from standard input', async () => {
  const path = join(folder, 'query.sql');
  await writeFile(path, 'SELECT @n AS n;\n');
  equal((await sql(['--file', path, 'n=1', '--ndjson'])).out, '{"n":"1"}\n');
  const input = 'SELECT 2 AS n';
  for (const words of [['-'], ['--file', '-'], []]) {
    equal((await sql([...words, '--ndjson'], { input })).out, '{"n":2}\n', words.join());
  }
  const missing = await sql(['--file', join(folder, 'none.sql')]);
  equal(missing.status, 1);
  match(missing.err, /none\.sql" cannot be read: /);
});

test('an error of the text shows its place with a caret, mistakes of the arguments end with 2', async () => {
  const wrong = await sql(['SELECT 1 AS one,\n  nothing']);
  equal(wrong.status, 1);
  match(wrong.err, /^.*nothing.*; line 2, column 3\n\n {2}nothing\n {2}\^\n$/s);
  for (const [words, sentence] of [
    [['SELECT 1 AS a', 'b'], /^a parameter must be name=value; got "b"/],
    [['SELECT 1 AS a', '--csv', '--json'], /^an answer has one form/],
    [['SELECT 1 AS a', '--max-rows', 'few'], /^max_rows must be a whole number/],
    [[' '], /^sql must be a query/],
  ] as const) {
    const { status, err } = await sql(words);
    equal(status, 2, err);
    match(err, sentence);
  }
});

test('max-rows says how many rows come, and standard error says when the answer has more', async () => {
  const numbers = (rows: string) =>
    sql(['SELECT n FROM UNNEST([1, 2, 3]) AS n', '--max-rows', rows, '--ndjson']);
  const { out, err } = await numbers('2');
  equal(out, '{"n":1}\n{"n":2}\n');
  equal(err, 'max_rows cut the answer: these are its first 2 rows\n');
  equal((await numbers('3')).err, '');
});

/** A terminal at which these lines are typed; Ctrl-C is one of them, and comes during a query where it says so. */
class TypedLines implements LinePrompt {
  readonly questions: string[] = [];
  readonly #lines: (string | 'Ctrl-C')[];
  readonly #typed: string[] = [];
  readonly #options: PromptOptions;
  readonly #isCancelling: boolean;

  constructor(options: PromptOptions, lines: readonly string[], isCancelling = false) {
    this.#options = options;
    this.#lines = [...lines];
    this.#isCancelling = isCancelling;
  }

  async read(question: string): Promise<{ readonly text: string } | 'cancelled' | undefined> {
    this.questions.push(question);
    const text = this.#lines.shift();
    if (text === undefined) return undefined;
    if (text === 'Ctrl-C') return 'cancelled';
    this.#typed.unshift(text);
    return { text };
  }

  whileCancellable<T>(abort: AbortController, work: () => Promise<T>): Promise<T> {
    if (this.#isCancelling) void whenRunning().then(() => abort.abort());
    return work();
  }

  close(): readonly string[] {
    return [...this.#typed, ...this.#options.history];
  }
}

test('the prompt takes lines until a semicolon, and goes on after an error and after Ctrl-C', async () => {
  let prompt: TypedLines | undefined;
  const lines = [
    '',
    'SELECT',
    '  1 AS one;',
    'SELECT oops;',
    'SELECT 2',
    'Ctrl-C',
    'SELECT 3 AS three;',
  ];
  const { status, out, err } = await sql(['--ndjson'], {
    prompt: (options) => {
      prompt = new TypedLines(options, lines);
      return prompt;
    },
  });
  equal(status, 0);
  equal(out, '{"one":1}\n{"three":3}\n');
  match(err, /^[^\n]*oops[^\n]*; line 1, column 8\n\nSELECT oops;\n {7}\^\n$/);
  const next = ['weir> ', 'weir> ', '   -> ', 'weir> ', 'weir> ', '   -> ', 'weir> ', 'weir> '];
  deepEqual(prompt?.questions, next);
});

test('the history is kept in a file that only the user may read, and is there the next time', async () => {
  let known: readonly string[] = [];
  const type = (line: string) =>
    sql([], {
      prompt: (options) => {
        known = options.history;
        return new TypedLines(options, [line]);
      },
    });
  const path = join(folder, 'weir', 'sql-history');
  await rm(path, { force: true });
  await type('SELECT 1 AS a;');
  await type('SELECT 2 AS b;');
  deepEqual(known, ['SELECT 1 AS a;']);
  equal(await readFile(path, 'utf8'), 'SELECT 1 AS a;\nSELECT 2 AS b;\n');
  equal((await stat(path)).mode & 0o777, 0o600);
});

const NUMBERS = 'UNNEST(GENERATE_ARRAY(1, 1000000))';
const LONG = `SELECT COUNT(*) AS n FROM ${NUMBERS} AS a, ${NUMBERS} AS b WHERE a + b = 0;`;

/** A metric of the service, zero where it has none. */
async function metric(name: string): Promise<number> {
  const { text } = await service.ask('GET', '/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

/** Queries that the service has ended because they were cancelled. */
const countCancelled = () => metric('weir_queries_total{code="query_cancelled"}');

/** Resolves when the service runs a query on a thread. */
async function whenRunning(): Promise<void> {
  while ((await metric('weir_work_tasks{kind="call",state="running"}')) === 0) await sleep(10);
}

/** Resolves when the service has ended so many cancelled queries. */
async function whenCancelled(count: number): Promise<void> {
  while ((await countCancelled()) < count) await sleep(10);
}

test('Ctrl-C at the prompt cancels the query that runs', async () => {
  const before = await countCancelled();
  const { status, out, err } = await sql([], {
    prompt: (options) => new TypedLines(options, [LONG], true),
  });
  deepEqual([status, out, err], [0, '', 'the query was cancelled\n']);
  await whenCancelled(before + 1);
});

test('a long query shows its progress at a terminal, and Ctrl-C cancels it at the service', async () => {
  const before = await countCancelled();
  const ctrlC = new AbortController();
  const { status, out, err } = await sql([LONG], {
    isTerminal: true,
    ended: ctrlC.signal,
    seen: (_, err) => {
      if (err.includes('running')) ctrlC.abort();
    },
  });
  deepEqual([status, out], [1, '']);
  ok(err.endsWith('\r\u001b[Krunning\r\u001b[Kthe query was cancelled\n'), JSON.stringify(err));
  await whenCancelled(before + 1);
});

test('progress is a bar that is removed, and only for a terminal', async () => {
  const slow = new SlowService();
  const url = await slow.start();
  let looks = 0;
  slow.onRun = (method) => {
    if (method === 'GET' && ++looks === 2) slow.finish();
  };
  const { out, err } = await sql(['SELECT 1 AS n', '--csv'], { isTerminal: true }, url);
  equal(out, 'n\r\n1\r\n');
  const bar = `\r\u001b[K${'█'.repeat(12)}${'░'.repeat(18)} 42 % of the rows`;
  ok([`${bar}\r\u001b[K`, `${bar}${bar}\r\u001b[K`].includes(err), JSON.stringify(err));
  slow.asked.length = 0;
  slow.onRun = () => setTimeout(() => slow.finish(), 1_100);
  equal((await sql(['SELECT 1 AS n', '--csv'], {}, url)).err, '');
  equal(slow.asked.filter((each) => each.startsWith('GET')).length, 0);
  slow.close();
});

test('Ctrl-C cancels the query by its name before it closes the connection', async () => {
  const slow = new SlowService();
  const url = await slow.start();
  const ctrlC = new AbortController();
  slow.onRun = () => ctrlC.abort();
  const { status, err } = await sql(['SELECT 1 AS n'], { ended: ctrlC.signal }, url);
  deepEqual([status, err], [1, 'the query was cancelled\n']);
  const [, named = ''] = slow.asked;
  const [, id] = named.split(' ');
  deepEqual(slow.asked.slice(2, 3), [`DELETE /api/query/runs/${id}`]);
  slow.close();
});
