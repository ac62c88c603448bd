import { ServiceError } from '../errors.ts';
import { findFormat, showAnswer } from './answer-display.ts';
import { describeCall } from './call-help.ts';
import { type Command, type CommandWorld, UsageError } from './command.ts';
import { EndpointClient, type KnownEndpoint } from './endpoint-client.ts';
import {
  checkNames,
  findEndpoint,
  mustKnow,
  type NamedCall,
  parseNamedCall,
} from './named-call.ts';
import { createServiceClient, type ServiceAnswer, TOKEN_NOTE, URL_FLAG } from './service-client.ts';

/** `weir query`. */
export const QUERY: Command = {
  usage: ['DEFINITION [name=value …] [--sql TEXT] [--csv | --ndjson | --json] [--url URL]'],
  about: `
DEFINITION is the name or the id of a saved query, and each name=value one of its parameters. --help
after a DEFINITION shows its parameters, too.

  weir query functions.invocation-stats project=alpha interval=7day

The running service answers. It may return a cached answer if the definition allows that. The table
cuts long values and shows times in ISO 8601. Ctrl-C cancels the query.`,
  flags: {
    sql: {
      placeholder: 'TEXT',
      text: 'run this query over the tables of the definition, if it has a sandbox',
    },
    csv: { text: 'write CSV, as the service sends it; nothing is cut' },
    ndjson: { text: 'write one JSON object a line' },
    json: { text: 'write the answer as the service sends it: {"result": [ … ]}' },
    url: URL_FLAG,
  },
  notes: [TOKEN_NOTE],
  takesParameters: true,
  describe: describeCall,
  run: async (words, world) => {
    const call = parseNamedCall('query', words);
    const format = findFormat(words);
    const client = new EndpointClient(createServiceClient(words, world));
    const known = await client.list();
    const endpoint = findEndpoint(call, known);
    if (endpoint !== undefined) checkNames(call, endpoint);
    const answer = await ask({ client, call, known, format: format ?? 'csv', world });
    showAnswer(answer, format, world);
    return 0;
  },
};

/** `known`: the definitions that the token may call. The service says whether there are others. */
async function ask({
  client,
  call,
  known,
  format,
  world,
}: {
  readonly client: EndpointClient;
  readonly call: NamedCall;
  readonly known: readonly KnownEndpoint[];
  readonly format: string;
  readonly world: CommandWorld;
}): Promise<ServiceAnswer> {
  try {
    return await client.call(call, { format, world });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'unknown_endpoint') mustKnow(call, known);
    if (error.status === 400) throw new UsageError(error.message);
    throw error;
  }
}
