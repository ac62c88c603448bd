import { ANSWER_FORMATS } from '../call/answer-format.ts';
import { ServiceError } from '../errors.ts';
import { type Command, type CommandWords, UsageError } from './command.ts';
import { parseCsvText } from './csv-text.ts';
import { EndpointClient } from './endpoint-client.ts';
import { checkNames, mustKnow, type NamedCall, parseNamedCall } from './named-call.ts';
import { serviceOf } from './service-client.ts';
import { tableText } from './text-table.ts';

/** `weir query`. */
export const QUERY: Command = {
  help: `weir query runs a saved query, and shows its rows as a table.

  weir query DEFINITION [name=value …] [--sql TEXT] [--csv | --ndjson | --json] [--url URL]

DEFINITION is the name or the id of a definition, and each name=value one of its parameters:

  weir query functions.invocation-stats project=alpha interval=7day

The running service answers, as it answers everyone: from what it keeps, too, where the definition
lets it. In the table long values are cut, and times are written out.

  --sql TEXT   a query over the tables of the definition, where it has a sandbox
  --csv        CSV, as the service writes it; nothing is cut
  --ndjson     each row as JSON in a line of its own
  --json       the answer as it is: {"result": [ … ]}
  --url URL    the service; else http://HOST:PORT as the settings have them
  --help       this text

The token of the service is read from PRIVATE_ACCESS_TOKEN. Exit status: 0 when there is an answer,
with rows or without; 1 when the service or a setting stood in the way, 2 when the command was not
understood.
`,
  options: {
    sql: { type: 'string' },
    url: { type: 'string' },
    ...Object.fromEntries(ANSWER_FORMATS.map(({ name }) => [name, { type: 'boolean' }])),
  },
  run: async (words, world) => {
    const call = parseNamedCall('query', words);
    const format = formatOf(words);
    const client = new EndpointClient(serviceOf(words, world));
    await checkSlips(client, call);
    const text = await ask(client, call, format ?? 'csv');
    if (format !== undefined) {
      world.out(text === '' || text.endsWith('\n') ? text : `${text}\n`);
      return 0;
    }
    const { names, rows } = parseCsvText(text);
    world.out(`${tableText(names, rows)}\n${rows.length} ${rows.length === 1 ? 'row' : 'rows'}\n`);
    return 0;
  },
};

/** The name of a format, where one was asked for. */
function formatOf(words: CommandWords): string | undefined {
  const asked = ANSWER_FORMATS.filter(({ name }) => words.has(name));
  if (asked.length <= 1) return asked[0]?.name;
  const options = asked.map(({ name }) => `--${name}`).join(' and ');
  throw new UsageError(`an answer has one form; got ${options}`);
}

/**
 * Finds a slip before the service passes it over. Who may call and not see the definitions is left to
 * the service.
 */
async function checkSlips(client: EndpointClient, call: NamedCall): Promise<void> {
  try {
    checkNames(call, mustKnow(call, await client.list()));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'forbidden') throw error;
  }
}

async function ask(client: EndpointClient, call: NamedCall, format: string): Promise<string> {
  try {
    return await client.call(call, format);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 400) throw new UsageError(error.message);
    throw error;
  }
}
