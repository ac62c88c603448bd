import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { must } from '../../engine/assert.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { sandboxedDefinition } from '../support/sandboxed-definition.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

const HELP = `runs a folder of SQL texts as a reader of logs sends them, and tells which fail.

  node --import tsx test/reader/run.ts FOLDER [--events FOLDER] [--now TIME] [more]
  node --import tsx test/reader/run.ts FOLDER --url URL [more]

Every *.sql file of FOLDER is sent as the caller's own SQL, and told in one line: its status, how many
rows it gave and the first of them, or why it failed. Without --url a service is started for it, on a
data folder of its own, with the built-in logs.all under a name with a sandbox.

  --events FOLDER   posts what lies there, at any depth: SOURCE.json and SOURCE.<word>.json hold one
                    event or a list of them, of the source of that name
  --now TIME        where the clock of that service stands (2026-01-15T12:00:00Z)
  --url URL         a service that runs already; its token is read from PRIVATE_ACCESS_TOKEN
  --endpoint NAME   what to call (logs.all of a running service)
  --param NAME=TEXT a parameter of each call; may be given often (project=default, project_tier=ENTERPRISE)
  --refused WORD    a text whose file name begins so must be refused, and fails where it is not; often
  --rows            tells all rows
  --help            this text

Exit status: 0 when every text did what it should, 1 otherwise.
`;

/** Characters of a first row that are shown: a line or two of a terminal. */
const ROW_LENGTH_MAX = 240;

type Answer = { readonly rows: readonly unknown[] } | { readonly error: string };

/** Sends one text; where and how is settled before. */
type Send = (sql: string) => Promise<Answer>;

type Options = ReturnType<typeof parse>['values'];

await main();

async function main(): Promise<void> {
  const { values, positionals } = parse();
  const [folder] = positionals;
  if (values.help === true || folder === undefined) {
    process.stdout.write(HELP);
    return;
  }
  if (values.url === undefined) process.exitCode = await runOnOwnService(folder, values);
  else process.exitCode = await runAll(folder, values, sendTo(values.url, values));
}

function parse() {
  return parseArgs({
    allowPositionals: true,
    options: {
      events: { type: 'string' },
      now: { type: 'string', default: '2026-01-15T12:00:00Z' },
      url: { type: 'string' },
      endpoint: { type: 'string' },
      param: { type: 'string', multiple: true },
      refused: { type: 'string', multiple: true, default: [] },
      rows: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

async function runOnOwnService(folder: string, options: Options): Promise<number> {
  const definitions = mkdtempSync(join(tmpdir(), 'weir-reader-'));
  writeFileSync(join(definitions, 'logs.sql'), sandboxedDefinition());
  const service = await ServiceUnderTest.start({
    ENDPOINTS_DIR: definitions,
    FROZEN_NOW: options.now,
  });
  try {
    if (options.events !== undefined) await postFolder(service, options.events);
    const path = `/api/endpoints/${options.endpoint ?? 'logs.sandboxed'}`;
    return await runAll(folder, options, async (sql) => {
      const body = JSON.stringify({ ...parametersOf(options), sql });
      return answerOf((await service.ask('POST', path, body)).text);
    });
  } finally {
    await service.stop();
    rmSync(definitions, { recursive: true });
  }
}

/** Posts the events of each file that is named after a source; others are told and left. */
async function postFolder(service: ServiceUnderTest, folder: string): Promise<void> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      await postFolder(service, path);
      continue;
    }
    const source = BUILT_IN_SOURCES.find((each) => name.startsWith(`${each.name}.`));
    if (source === undefined || !name.endsWith('.json')) {
      process.stdout.write(`left     ${name}: it is not named after a source\n`);
      continue;
    }
    // Posted as it is written: read and written anew, an integer beyond 2^53 would be another.
    const text = readFileSync(path, 'utf8');
    const events: unknown = JSON.parse(text);
    await service.postText(source.name, Array.isArray(events) ? text : `[${text}]`);
    const count = Array.isArray(events) ? events.length : 1;
    process.stdout.write(`posted   ${name}: ${count} events\n`);
  }
}

function sendTo(url: string, options: Options): Send {
  const path = `/api/endpoints/${options.endpoint ?? 'logs.all'}`;
  const token = must(process.env['PRIVATE_ACCESS_TOKEN'], 'PRIVATE_ACCESS_TOKEN holds the token');
  return async (sql) => {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...parametersOf(options), sql }),
    });
    return answerOf(await response.text());
  };
}

function parametersOf({ param }: Options): Readonly<Record<string, string>> {
  const given = (param ?? []).map((word) => {
    const end = word.indexOf('=');
    return [word.slice(0, end), word.slice(end + 1)] as const;
  });
  return { project: 'default', project_tier: 'ENTERPRISE', ...Object.fromEntries(given) };
}

/** Both forms of an error: a record with a message, and a text alone. */
function answerOf(text: string): Answer {
  const { result, error } = JSON.parse(text);
  if (Array.isArray(result)) return { rows: result };
  if (typeof error === 'string') return { error };
  const { code, message, line, column } = error;
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
  return { error: `${code}: ${message}${place}` };
}

/** Sends every text of the folder; 1 where one did not do what it should. */
async function runAll(folder: string, options: Options, send: Send): Promise<number> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  let failureCount = 0;
  for (const name of files.sort()) {
    const answer = await send(readFileSync(join(folder, name), 'utf8'));
    const isToBeRefused = options.refused.some((word) => name.startsWith(word));
    const isRight = 'error' in answer === isToBeRefused;
    if (!isRight) failureCount += 1;
    const told = 'error' in answer ? answer.error : rowsText(answer.rows, options.rows === true);
    process.stdout.write(
      `${isRight ? 'ok      ' : 'FAILED  '} ${basename(name, '.sql')}: ${told}\n`,
    );
  }
  process.stdout.write(`\n${files.length} texts, ${failureCount} failed\n`);
  return failureCount === 0 ? 0 : 1;
}

function rowsText(rows: readonly unknown[], isWhole: boolean): string {
  const count = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`;
  if (rows.length === 0) return count;
  if (isWhole) return [count, ...rows.map((row) => `           ${JSON.stringify(row)}`)].join('\n');
  const first = JSON.stringify(rows[0]);
  const isLong = first.length > ROW_LENGTH_MAX;
  return `${count}, first ${first.slice(0, ROW_LENGTH_MAX)}${isLong ? '…' : ''}`;
}
