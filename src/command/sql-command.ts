import { readFile } from 'node:fs/promises';
import { must } from '../../engine/columns.ts';
import { systemReason } from '../../ingest/system-reason.ts';
import { ANSWER_FORMATS } from '../call/answer-format.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { findFormat, showAnswer } from './answer-display.ts';
import {
  type Command,
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  UsageError,
} from './command.ts';
import { parseParameterWords } from './named-call.ts';
import {
  createServiceClient,
  type ServiceAnswer,
  type ServiceClient,
  TOKEN_NOTE,
  URL_FLAG,
} from './service-client.ts';
import { showCall } from './shown-call.ts';
import { promptForSql } from './sql-prompt.ts';

/** `weir sql`. */
export const SQL: Command = {
  usage: [
    "'SELECT …' [name=value …] [--max-rows N] [--csv | --ndjson | --json] [--url URL]",
    '--file FILE [name=value …] …',
    '[--url URL]',
  ],
  about: `
Runs SQL over all sources and saved queries in reach of the token. Each name=value is a parameter of
type STRING. With - as the text, weir reads it from standard input.

  weir sql 'SELECT COUNT(*) AS n FROM \`postgres.logs\` WHERE project = @project' project=alpha

Without a text, at a terminal, it opens a prompt. A query may have several lines and ends with a
semicolon. Ctrl-C cancels the query that runs, or the typed lines; Ctrl-D ends the prompt. The table
cuts long values and shows times in ISO 8601.`,
  flags: {
    file: { placeholder: 'FILE', text: 'read the query from this file; - is standard input' },
    'max-rows': { placeholder: 'N', text: 'show at most so many rows; 1000 unless given' },
    csv: { text: 'write CSV, as the service sends it; nothing is cut' },
    ndjson: { text: 'write each row as JSON in a line of its own' },
    json: { text: 'write the answer as the service sends it: {"result": [ … ]}' },
    url: URL_FLAG,
  },
  notes: [
    'The token needs the scope explore or manage.',
    TOKEN_NOTE,
    'Typed lines are stored in weir/sql-history below XDG_STATE_HOME, or ~/.local/state.',
  ],
  takesParameters: true,
  run: async (words, world) => {
    const format = findFormat(words);
    const client = createServiceClient(words, world);
    const { sql, parameters } = await readQuery(words, world);
    const maxRows = words.find('max-rows');
    const ask = { client, parameters, maxRows, format: format ?? 'csv', world };
    const show = (answer: ServiceAnswer): void => showAnswer(answer, format, world);
    if (sql !== undefined) {
      show(await askUsage({ ...ask, sql, signal: world.ended() }));
      return 0;
    }
    await promptForSql(world, async (text, signal) =>
      show(await askSql({ ...ask, sql: text, signal })),
    );
    return 0;
  },
};

type Read = {
  /** `undefined`: to be asked for. */
  readonly sql: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
};

/** The query of the command line, a file, or standard input. @throws UsageError or CommandFailure */
async function readQuery(words: CommandWords, world: CommandWorld): Promise<Read> {
  const file = words.find('file');
  if (file !== undefined) {
    const sql = file === '-' ? await readInput(world) : await readQueryFile(file);
    return { sql, parameters: parseParameterWords(words.positionals) };
  }
  const [text, ...rest] = words.positionals;
  const parameters = parseParameterWords(rest);
  if (text !== undefined && text !== '-') return { sql: text, parameters };
  if (text === undefined && world.prompt !== undefined) return { sql: undefined, parameters };
  return { sql: await readInput(world), parameters };
}

async function readInput(world: CommandWorld): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of world.input()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function readQueryFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CommandFailure(`${echo(path)} cannot be read: ${systemReason(cause)}`, cause);
  }
}

type Ask = {
  readonly client: ServiceClient;
  readonly sql: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly maxRows: string | undefined;
  readonly format: string;
  readonly signal: AbortSignal;
  readonly world: CommandWorld;
};

/** @throws as `showCall` does. */
function askSql(ask: Ask): Promise<ServiceAnswer> {
  const { client, sql, parameters, maxRows, format, signal, world } = ask;
  const { mediaTypes } = must(ANSWER_FORMATS.find(({ name }) => name === format));
  const query = maxRows === undefined ? '' : `?${new URLSearchParams({ max_rows: maxRows })}`;
  const request = {
    method: 'POST',
    headers: { Accept: mediaTypes[0], 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql, parameters: Object.fromEntries(parameters) }),
  };
  return showCall(client, { path: `/api/query${query}`, request, signal }, world);
}

/** Reports errors of the arguments as usage errors. */
async function askUsage(ask: Ask): Promise<ServiceAnswer> {
  try {
    return await askSql(ask);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) throw new UsageError(error.message);
    throw error;
  }
}
