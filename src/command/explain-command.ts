import { must } from '../../engine/columns.ts';
import {
  explainQuery,
  explanationText,
  prepareInPieces,
  prepareQuery,
} from '../../engine/index.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import { CallerQueries } from '../call/caller-queries.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import { createClock } from '../clock.ts';
import { loadCatalogue } from '../definition/catalogue.ts';
import { ServiceError } from '../errors.ts';
import { parseSettings, type Settings } from '../settings.ts';
import { describeCall } from './call-help.ts';
import { type Command, type CommandWords, type CommandWorld, UsageError } from './command.ts';
import { EndpointClient } from './endpoint-client.ts';
import { checkNames, mustKnow, type NamedCall, parseNamedCall } from './named-call.ts';
import {
  formatUrl,
  ServiceClient,
  TOKEN_NOTE,
  UnreachableError,
  URL_FLAG,
  urlOption,
} from './service-client.ts';

/** `weir explain`. */
export const EXPLAIN: Command = {
  usage: ['DEFINITION [name=value …] [--sql TEXT] [--url URL] [--plan-only] [--json]'],
  about: `
DEFINITION is the name or the id of a saved query, and each name=value one of its parameters. --help
after a DEFINITION shows its parameters, too.

  weir explain functions.invocation-stats project=alpha interval=7day

The running service runs the query and shows the number of rows and the time of each operator, but
not the rows. If no service answers, or with --plan-only, the query does not run: weir shows the
plans of the definitions on this machine.`,
  flags: {
    sql: {
      placeholder: 'TEXT',
      text: 'explain this query over the tables of the definition, if it has a sandbox',
    },
    url: URL_FLAG,
    'plan-only': { text: 'show the plans, and ask no service' },
    json: { text: 'write everything as JSON' },
  },
  notes: [TOKEN_NOTE],
  takesParameters: true,
  describe: describeCall,
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

/** The explanation: of a run if a service answers, else of the plans only. */
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
    const client = new EndpointClient(new ServiceClient(call.url ?? formatUrl(settings), token));
    return await explainThere(call, client);
  } catch (error) {
    // An unreachable service is an error only if the user named it.
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

/** The plans of local definitions, and the reason why they were not run. */
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
