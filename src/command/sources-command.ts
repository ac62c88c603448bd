import { z } from 'zod';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { shownText } from '../shown-text.ts';
import {
  type Command,
  type CommandWords,
  type CommandWorld,
  mustBeNone,
  mustBeOne,
  mustFindVerb,
  UsageError,
} from './command.ts';
import { jsonText } from './folder-command.ts';
import { createServiceClient, parseJson, TOKEN_NOTE, URL_FLAG } from './service-client.ts';
import { textTable } from './text-table.ts';

/** `weir sources`. */
export const SOURCES: Command = {
  usage: ['[list] [--json] [--url URL]', 'add NAME [--project-path PATH] [--url URL]'],
  about: `
list shows the sources of the service, the field of their events with the project, and how much they
hold. add creates a source, which can be used at once. A source that exists with the same path does
not change. The path of a source cannot be changed.

  weir sources add app.logs --project-path metadata.tenant`,
  flags: {
    'project-path': {
      placeholder: 'PATH',
      text: 'field of an event with its project: project (default), or a path such as metadata.tenant',
    },
    json: { text: 'write everything as JSON' },
    url: URL_FLAG,
  },
  notes: [`${TOKEN_NOTE} add needs the scope manage; without it, list shows no sizes.`],
  run: async (words, world) => {
    const [verb = 'list', ...names] = words.positionals;
    const act = mustFindVerb('sources', VERBS, verb);
    world.out(`${await act(words, names, world)}\n`);
    return 0;
  },
};

/** A subcommand. Resolves to the text to show. */
type Verb = (words: CommandWords, names: readonly string[], world: CommandWorld) => Promise<string>;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['add', add],
]);

const SOURCE = z.object({
  name: z.string(),
  id: z.string(),
  project: z.string(),
  events: z.number().optional(),
  bytes: z.number().optional(),
});
const MADE = z.object({ result: SOURCE });
/** In the profile supabase, the answer is the list itself, and the id is the member `token`. */
const NUMBERED = z.object({ id: z.number(), token: z.string() });
const LIST = z.union([
  z.object({ result: z.array(SOURCE) }).transform(({ result }) => result),
  z.array(
    SOURCE.omit({ id: true })
      .extend(NUMBERED.shape)
      .transform(({ token, ...source }) => ({ ...source, id: token })),
  ),
]);

async function list(
  words: CommandWords,
  names: readonly string[],
  world: CommandWorld,
): Promise<string> {
  mustBeNone('sources list', names);
  if (words.has('project-path')) throw new UsageError('--project-path is for add');
  const client = createServiceClient(words, world);
  const parsed = LIST.safeParse(parseJson(await client.ask('/api/sources', { method: 'GET' })));
  if (!parsed.success) throw client.stranger();
  const rows = parsed.data.map(({ name, project, events, bytes, id }) => {
    return { name, 'project rule': project, ...(events !== undefined && { events, bytes }), id };
  });
  return words.has('json') ? jsonText(parsed.data) : textTable(rows, rows.length);
}

async function add(
  words: CommandWords,
  names: readonly string[],
  world: CommandWorld,
): Promise<string> {
  const name = mustBeOne('sources add', 'the name of one source', names);
  const [, start, path] = /^([^:]+):(.+)$/s.exec(name) ?? [];
  if (start !== undefined && path !== undefined) {
    const meant = shownText(`weir sources add ${start} --project-path ${path}`);
    throw new UsageError(`a source name has no colon; got ${echo(name)}; write ${meant}`);
  }
  const project = words.find('project-path');
  const client = createServiceClient(words, world);
  const { text, warnings } = await client
    .answer(`/api/sources/${encodeURIComponent(name)}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ project }),
    })
    .catch((error: unknown): never => {
      const isUsage = error instanceof ServiceError && error.status === 400;
      throw isUsage ? new UsageError(error.message, error) : error;
    });
  const parsed = MADE.safeParse(parseJson(text));
  if (!parsed.success) throw client.stranger();
  if (warnings !== undefined) world.err(`warning: ${shownText(warnings)}\n`);
  const { result } = parsed.data;
  if (words.has('json')) return jsonText(result);
  return `${result.name} exists; its events name their project in the field ${result.project}`;
}
