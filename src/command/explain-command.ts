import { parseArgs } from 'node:util';
import { explainUnrun, prepareQuery } from '../../engine/engine.ts';
import { nearestName } from '../../engine/plan/binder/nearest-name.ts';
import { explanationText } from '../../engine/plan/explanation-text.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { CallerQueries } from '../call/caller-queries.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { CatalogueError, loadCatalogue } from '../definition/catalogue.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { type Environment, parseSettings, type Settings, SettingsError } from '../settings.ts';
import { ExplainClient, type KnownEndpoint, UnreachableError } from './explain-client.ts';

export const EXPLAIN_HELP = `weir explain shows how a saved query is answered, and what answering it takes.

  weir explain DEFINITION [name=value …] [--sql TEXT] [--url URL] [--plan-only] [--json]

DEFINITION is the name or the id of a definition, and each name=value one of its parameters:

  weir explain functions.invocation-stats project=alpha interval=7day

The running service runs the query and tells, operator by operator, how many rows there were and how
long it took; the rows themselves are dropped. Where no service answers, or with --plan-only, the
plans are shown as the definitions at hand give them, and nothing is run.

  --sql TEXT    a query over the tables of the definition, as a caller may send it where the
                definition has a sandbox
  --url URL     the service; else http://HOST:PORT as the settings have them
  --plan-only   shows the plans and asks no service
  --json        everything as JSON
  --help        this text

The token of the service is read from PRIVATE_ACCESS_TOKEN. Exit status: 0 when something was shown,
1 when the service or a setting stood in the way, 2 when the command was not understood.
`;

/** What the command is made of, apart from its words. */
export type CommandWorld = {
  readonly environment: Environment;
  /** Microseconds since the epoch: the clock of a query that is not run. */
  readonly nowUs: () => number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
};

/** The command was not understood: its words have to change. */
class UsageError extends Error {}

type Command = {
  readonly definition: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The caller's own query, in the place of the definition's. */
  readonly sql: string | undefined;
  readonly url: string | undefined;
  readonly isPlanOnly: boolean;
  readonly isJson: boolean;
};

/** Runs `weir explain` with the words behind it; its exit status. Rejects only for mistakes of ours. */
export async function runExplain(words: readonly string[], world: CommandWorld): Promise<number> {
  try {
    const command = parseCommand(words);
    if (command === 'help') {
      world.out(EXPLAIN_HELP);
      return 0;
    }
    const settings = parseSettings(world.environment);
    world.out(`${await explain(command, settings, world)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      world.err(`${error.message}\n\nweir explain --help tells how it is used\n`);
      return 2;
    }
    const isExpected =
      error instanceof SettingsError ||
      error instanceof CatalogueError ||
      error instanceof ServiceError ||
      error instanceof UnreachableError;
    if (!isExpected) throw error;
    const place = error instanceof ServiceError ? placeText(error) : '';
    world.err(`${error.message}${place}\n`);
    return 1;
  }
}

/** Where in the text of --sql something is wrong, in lines of their own. */
function placeText({ details }: ServiceError): string {
  const { line, column, caret } = details;
  return caret === undefined ? '' : `; line ${line}, column ${column}\n\n${caret}`;
}

function parseCommand(words: readonly string[]): Command | 'help' {
  const { values, positionals } = parseWords(words);
  if (values.help === true) return 'help';
  const [definition, ...rest] = positionals;
  if (definition === undefined) {
    throw new UsageError('explain must be followed by the name of a definition; got nothing');
  }
  const parameters = new Map<string, string>();
  for (const word of rest) {
    const end = word.indexOf('=');
    if (end < 1) throw new UsageError(`a parameter must be name=value; got ${echo(word)}`);
    const name = word.slice(0, end);
    if (parameters.has(name)) throw new UsageError(`${name} must be given once; got two of it`);
    parameters.set(name, word.slice(end + 1));
  }
  if (values.url !== undefined && !/^https?:\/\//.test(values.url)) {
    throw new UsageError(`--url must begin http:// or https://; got ${echo(values.url)}`);
  }
  return {
    definition,
    parameters,
    sql: values.sql,
    url: values.url,
    isPlanOnly: values['plan-only'] === true,
    isJson: values.json === true,
  };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        sql: { type: 'string' },
        url: { type: 'string' },
        'plan-only': { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The text to show: of a run where a service can be asked, of the plans alone elsewhere. */
async function explain(command: Command, settings: Settings, world: CommandWorld): Promise<string> {
  const here = (reason: string) => explainHere(command, { settings, world, reason });
  if (command.isPlanOnly) return here('--plan-only was given');
  const token = settings.privateAccessToken;
  if (token === undefined) {
    return here('PRIVATE_ACCESS_TOKEN must hold the token of the service; it is not set');
  }
  try {
    const client = new ExplainClient(command.url ?? urlOf(settings), token);
    return await explainThere(command, client);
  } catch (error) {
    // A service that was named is meant; one that was not may as well not be there.
    if (!(error instanceof UnreachableError) || command.url !== undefined) throw error;
    return here(error.message);
  }
}

async function explainThere(command: Command, client: ExplainClient): Promise<string> {
  const endpoint = mustKnow(command, await client.list());
  checkNames(command, endpoint);
  const { parameters, sql, isJson } = command;
  try {
    return await client.explain({ id: endpoint.id, parameters, sql, isJson });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) throw new UsageError(error.message);
    throw error;
  }
}

/** The plans by the definitions at hand, and the reason why they were not run. */
async function explainHere(
  command: Command,
  call: { readonly settings: Settings; readonly world: CommandWorld; readonly reason: string },
): Promise<string> {
  const { settings, world, reason } = call;
  const { sources } = new SourceDirectory(settings.sources);
  const engine: Pick<QueryEngine, 'prepare'> = {
    prepare: (text, parameters, within) => prepareQuery(text, { sources, parameters, within }),
  };
  const catalogue = await loadCatalogue({
    folder: settings.endpointsDir,
    profile: settings.profile,
    engine,
  });
  const known = catalogue.list().map(({ definition }) => definition);
  const { id } = mustKnow(command, known);
  const endpoint = catalogue.find(id)!;
  checkNames(command, endpoint.definition);
  const { definition, parameters: schema } = endpoint;
  const { sql } = command;
  const query =
    sql === undefined ? endpoint.query : new CallerQueries(engine).prepare(endpoint, sql);
  const texts = new Map(Array.from(command.parameters, ([name, text]) => [name, [text]] as const));
  const explanation = explainUnrun(query, {
    parameters: parseParameters(() => schema.parse(texts)),
    nowUs: settings.frozenNowUs ?? world.nowUs(),
    rowsMax: definition.rowsMax,
    sources,
  });
  const note = `not run: ${reason}`;
  if (!command.isJson) return `${explanationText(explanation, definition.name)}\n${note}`;
  world.err(`${note}\n`);
  return JSON.stringify({ name: definition.name, ...explanation }, null, 2);
}

function parseParameters<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof ServiceError ? new UsageError(error.message) : error;
  }
}

/** The endpoint with this name, alias or id. */
function mustKnow(command: Command, known: readonly KnownEndpoint[]): KnownEndpoint {
  const wanted = command.definition;
  const namesOf = ({ name, aliases }: KnownEndpoint) => [name, ...aliases];
  const endpoint = known.find(
    (each) => each.id === wanted.toLowerCase() || namesOf(each).includes(wanted),
  );
  if (endpoint !== undefined) return endpoint;
  const names = known.flatMap(namesOf);
  const hint = hintOf(wanted, names) ?? `there are ${names.join(', ')}`;
  throw new UsageError(`there is no definition ${echo(wanted)}; ${hint}`);
}

/** A call may bring what its endpoint does not read; at a terminal that is a slip. */
function checkNames({ parameters, sql }: Command, endpoint: KnownEndpoint): void {
  if (sql !== undefined && !endpoint.isSandboxed) {
    throw new UsageError(`${endpoint.name} takes no --sql: its definition has no sandbox`);
  }
  const names = endpoint.parameters.flatMap(({ name, from }) => [name, ...from]);
  for (const name of parameters.keys()) {
    if (names.includes(name)) continue;
    const hint = hintOf(name, names) ?? `it has ${names.join(', ') || 'none'}`;
    throw new UsageError(`${endpoint.name} has no parameter ${echo(name)}; ${hint}`);
  }
}

function hintOf(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `did you mean ${nearest}?`;
}

/** Where the service of these settings listens, as seen from the same machine. */
function urlOf({ host, port }: Settings): string {
  const anywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const reachable = anywhere[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
