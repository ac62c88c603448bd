import { must } from '../../engine/assert.ts';
import { explainQuery } from '../../engine/plan/explanation.ts';
import { explanationText } from '../../engine/plan/explanation-text.ts';
import { prepareInPieces, prepareQuery } from '../../engine/plan/prepared-query.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { CallerQueries } from '../call/caller-queries.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { createClock } from '../clock.ts';
import { loadCatalogue } from '../definition/catalogue.ts';
import { ServiceError } from '../errors.ts';
import { parseSettings, type Settings } from '../settings.ts';
import { type Command, type CommandWords, type CommandWorld, UsageError } from './command.ts';
import { EndpointClient } from './endpoint-client.ts';
import { checkNames, mustKnow, type NamedCall, parseNamedCall } from './named-call.ts';
import { ServiceClient, UnreachableError, urlOf, urlOption } from './service-client.ts';

/** `weir explain`. */
export const EXPLAIN: Command = {
  help: `weir explain shows how a saved query is answered, and what answering it takes.

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
`,
  options: {
    sql: { type: 'string' },
    url: { type: 'string' },
    'plan-only': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (words, world) => {
    const call = parseCall(words);
    const settings = parseSettings(world.environment);
    world.out(`${await explain(call, settings, world)}\n`);
    return 0;
  },
};

type ExplainCall = NamedCall & {
  readonly url: string | undefined;
  readonly isPlanOnly: boolean;
  readonly isJson: boolean;
};

function parseCall(words: CommandWords): ExplainCall {
  return {
    ...parseNamedCall('explain', words),
    url: urlOption(words),
    isPlanOnly: words.has('plan-only'),
    isJson: words.has('json'),
  };
}

/** The text to show: of a run where a service can be asked, of the plans alone elsewhere. */
async function explain(
  call: ExplainCall,
  settings: Settings,
  world: CommandWorld,
): Promise<string> {
  const here = (reason: string) => explainHere(call, { settings, world, reason });
  if (call.isPlanOnly) return here('--plan-only was given');
  const token = settings.privateAccessToken;
  if (token === undefined) {
    return here('PRIVATE_ACCESS_TOKEN must hold the token of the service; it is not set');
  }
  try {
    const client = new EndpointClient(new ServiceClient(call.url ?? urlOf(settings), token));
    return await explainThere(call, client);
  } catch (error) {
    // A service that was named is meant; one that was not may as well not be there.
    if (!(error instanceof UnreachableError) || call.url !== undefined) throw error;
    return here(error.message);
  }
}

async function explainThere(call: ExplainCall, client: EndpointClient): Promise<string> {
  const endpoint = mustKnow(call, await client.list());
  checkNames(call, endpoint);
  const { parameters, sql, isJson } = call;
  try {
    return await client.explain({ id: endpoint.id, parameters, sql, isJson });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) throw new UsageError(error.message);
    throw error;
  }
}

/** The plans by the definitions at hand, and the reason why they were not run. */
async function explainHere(
  call: ExplainCall,
  context: { readonly settings: Settings; readonly world: CommandWorld; readonly reason: string },
): Promise<string> {
  const { settings, world, reason } = context;
  const { sources } = new SourceDirectory(settings.sources);
  const engine: Pick<QueryEngine, 'prepare' | 'prepareInPieces'> = {
    prepare: (text, parameters, within, views) =>
      prepareQuery(text, { sources, parameters, within, views }),
    prepareInPieces: (text, parameters, within, views) =>
      prepareInPieces(text, { sources, parameters, within, views }),
  };
  const catalogue = await loadCatalogue({
    folder: settings.endpointsDir,
    profile: settings.profile,
    engine,
  });
  const known = mustKnow(
    call,
    catalogue.list().map(({ definition, declared }) => ({ ...definition, parameters: declared })),
  );
  checkNames(call, known);
  const endpoint = must(catalogue.find(known.id));
  const { definition, parameters: schema } = endpoint;
  const { sql } = call;
  const query =
    sql === undefined ? endpoint.query : new CallerQueries(engine).prepare(endpoint, sql);
  const texts = new Map(Array.from(call.parameters, ([name, text]) => [name, [text]] as const));
  const explanation = explainQuery(query, {
    parameters: parseParameters(() => schema.parse(texts)),
    nowUs: createClock({ ...world, frozenNowUs: settings.frozenNowUs }).nowUs(),
    rowsMax: definition.rowsMax,
    sources,
  });
  const note = `not run: ${reason}`;
  if (!call.isJson) return `${explanationText(explanation, definition.name)}\n${note}`;
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
