import { hint } from '../../engine/columns.ts';
import { echo, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { parseBytes } from '../setting-kind.ts';
import {
  type Command,
  CommandFailure,
  type CommandWords,
  mustBeNone,
  mustBeOne,
  mustFindVerb,
  UsageError,
} from './command.ts';
import { jsonText } from './folder-command.ts';
import { TOKEN_NOTE } from './service-client.ts';
import { textTable } from './text-table.ts';
import { findTokenPlace, type TokenPlace } from './token-place.ts';
import type { ListedToken } from './token-store.ts';

/** `weir token`. */
export const TOKEN: Command = {
  usage: [
    'create NAME --scopes query [--projects alpha] [--url URL | --data-dir DIR]',
    'list',
    'limit NAME [--events-per-day N] [--bytes-per-day SIZE] [--stored-bytes SIZE]',
    'revoke NAME',
  ],
  about: `
create prints the token once; weir stores only its hash. NAME must be new. limit and revoke also
accept the id of a token. A LIST has commas between its names; without a LIST the token is for all.

--url uses a running service, --data-dir changes the data folder of a stopped one. Without both, the
command changes the folder of DATA_DIR if that is set, unless a running service uses it. Otherwise
it uses the service at HOST and PORT. If no service answers there, it changes the folder ./data if
that exists. Standard error says what it used.`,
  flags: {
    scopes: { placeholder: 'LIST', text: 'any of ingest, query, explore and manage' },
    projects: { placeholder: 'LIST', text: 'the projects whose events it reads and posts' },
    sources: { placeholder: 'LIST', text: 'the sources that it reads and posts to' },
    endpoints: { placeholder: 'LIST', text: 'the endpoints that it calls' },
    'default-source': { placeholder: 'NAME', text: 'source of posts that name none' },
    'expires-at': { placeholder: 'TIME', text: 'ISO 8601; default: the token never expires' },
    'events-per-day': {
      placeholder: 'N',
      text: 'refuse posts of more events on a UTC day; with limit, "none" removes the quota',
    },
    'bytes-per-day': {
      placeholder: 'SIZE',
      text: 'refuse posts of more bytes before compression on a UTC day, such as 10GB',
    },
    'stored-bytes': {
      placeholder: 'SIZE',
      text: 'refuse posts of more of these bytes within the retention',
    },
    url: { placeholder: 'URL', text: 'ask the service at this address' },
    'data-dir': {
      placeholder: 'DIR',
      text: 'change the data folder of a stopped service; create adds the folder if it does not exist',
    },
    json: { text: 'write everything as JSON' },
  },
  notes: [
    `${TOKEN_NOTE} A service that is asked wants the scope manage.`,
    'Change tokens of the settings in the settings. If you create a token with the scope manage before the first start, that start creates no tokens.',
  ],
  run: async (words, world) => {
    const [verb, ...names] = words.positionals;
    const act = mustFindVerb('token', VERBS, verb);
    const place = await findTokenPlace(words, world);
    world.out(`${await act(place, words, names)}\n`);
    // A token that went elsewhere than its owner thought would be looked for in vain.
    if (!place.isNamed) world.err(`${place.text}\n`);
    return 0;
  },
};

/** A subcommand. Resolves to the text to show. */
type Verb = (place: TokenPlace, words: CommandWords, names: readonly string[]) => Promise<string>;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['create', create],
  ['list', list],
  ['limit', limit],
  ['revoke', revoke],
]);

/** Flags of new tokens only. */
const ORDER_LISTS = ['scopes', 'projects', 'sources', 'endpoints'] as const;
const ORDER_TEXTS = new Map([
  ['default-source', 'default_source'],
  ['expires-at', 'expires_at'],
]);
const QUOTA_OPTIONS = ['events-per-day', 'bytes-per-day', 'stored-bytes'] as const;

async function create(
  { store }: TokenPlace,
  words: CommandWords,
  names: readonly string[],
): Promise<string> {
  const order: Record<string, unknown> = { name: oneName('create', names) };
  for (const option of ORDER_LISTS) {
    const text = words.find(option);
    if (text !== undefined) order[option] = text.split(',').map((word) => word.trim());
  }
  for (const [option, member] of ORDER_TEXTS) {
    const text = words.find(option);
    if (text !== undefined) order[member] = text;
  }
  const made = await store.create({ ...order, ...parseQuota(words) }).catch(refuseOrder);
  return words.has('json') ? jsonText(made) : made.token;
}

/** Parses the flags of quotas to members of a request; `none` becomes null. */
function parseQuota(words: CommandWords): Record<string, number | null> {
  const quota: Record<string, number | null> = {};
  for (const option of QUOTA_OPTIONS) {
    const text = words.find(option);
    if (text === undefined) continue;
    const isCounted = option === 'events-per-day';
    const max = isCounted ? Number(text) : parseBytes(text);
    const isCount = max !== undefined && Number.isSafeInteger(max) && max >= 1;
    if (!isCount && text !== 'none') {
      const wanted = isCounted ? 'a number' : 'a number of bytes such as 10GB';
      throw new UsageError(`--${option} must be ${wanted}, at least 1; got ${echo(text)}`);
    }
    quota[option.replaceAll('-', '_')] = isCount ? max : null;
  }
  return quota;
}

/** An error of the request is an error of the arguments that made it. */
function refuseOrder(error: unknown): never {
  const isUsage = error instanceof ServiceError && error.status === 400;
  throw isUsage ? new UsageError(error.message, error) : error;
}

async function list(
  { store }: TokenPlace,
  words: CommandWords,
  names: readonly string[],
): Promise<string> {
  mustBeNone('list', names);
  rejectOrder('list', words);
  const tokens = await store.list();
  if (words.has('json')) return JSON.stringify(tokens, null, 2);
  if (tokens.length === 0) return 'no tokens';
  // Columns without any value are left out; most services have no quotas.
  const shown = QUOTA_COLUMNS.filter(([, formatText]) =>
    tokens.some((token) => formatText(token) !== ''),
  );
  const lines = tokens.map((token) => formatLine(token, shown));
  return textTable(lines, tokens.length);
}

type QuotaColumn = readonly [title: string, formatText: (token: ListedToken) => string];

/** Quotas and their use; empty without a quota. */
const QUOTA_COLUMNS: readonly QuotaColumn[] = [
  [
    'a day',
    ({ events_per_day, bytes_per_day, used_today }) => {
      const events = quotaText(events_per_day, used_today?.events, 'events');
      return [...events, ...quotaText(bytes_per_day, used_today?.bytes, 'bytes')].join(', ');
    },
  ],
  [
    'stored',
    ({ stored_bytes, used_stored_bytes }) =>
      quotaText(stored_bytes, used_stored_bytes, 'bytes').join(''),
  ],
];

function quotaText(
  max: number | undefined,
  used: number | undefined,
  unit: string,
): readonly string[] {
  if (max === undefined) return [];
  return [used === undefined ? `${max} ${unit}` : `${used} of ${max} ${unit}`];
}

function formatLine(
  token: ListedToken,
  quotaColumns: readonly QuotaColumn[],
): Readonly<Record<string, string>> {
  const { id, name, scopes, projects, sources, endpoints, expires_at, from } = token;
  const bounds = Object.entries({ projects, sources, endpoints }).flatMap(([what, bound]) =>
    bound === undefined ? [] : [`${what} ${bound.join(', ')}`],
  );
  return {
    name,
    scopes: scopes.join(', '),
    'bound to': bounds.join('; ') || '–',
    ...Object.fromEntries(
      quotaColumns.map(([title, formatText]) => [title, formatText(token) || '–']),
    ),
    expires: expires_at ?? '–',
    id: from === 'settings' ? 'of the settings' : id,
  };
}

async function limit(
  place: TokenPlace,
  words: CommandWords,
  names: readonly string[],
): Promise<string> {
  rejectOptions('limit', words, [...ORDER_LISTS, ...ORDER_TEXTS.keys()]);
  const change = parseQuota(words);
  if (Object.keys(change).length === 0) {
    const options = formatChoices(QUOTA_OPTIONS.map((option) => `--${option}`));
    throw new UsageError(`limit must have ${options}`);
  }
  const token = await mustFind(place, oneName('limit', names));
  const changed = await place.store.changeQuota(token.id, change).catch(refuseOrder);
  if (words.has('json')) return jsonText(changed);
  const texts = QUOTA_COLUMNS.flatMap(([title, formatText]) => {
    const text = formatText(changed);
    return text === '' ? [] : [`${text} ${title}`];
  });
  return `${changed.name}: ${texts.join(', ') || '–'}`;
}

async function revoke(
  place: TokenPlace,
  words: CommandWords,
  names: readonly string[],
): Promise<string> {
  rejectOrder('revoke', words);
  const token = await mustFind(place, oneName('revoke', names));
  await place.store.revoke(token.id);
  return words.has('json') ? jsonText(token) : `${token.name} is revoked`;
}

async function mustFind({ store, text }: TokenPlace, wanted: string): Promise<ListedToken> {
  const tokens = await store.list();
  // A token of the settings and a generated one may share a name. Only the generated one can be
  // revoked.
  const named = tokens.filter(({ name }) => name === wanted);
  const token =
    tokens.find(({ id }) => id === wanted) ?? named.find(({ from }) => from === 'file') ?? named[0];
  if (token === undefined) {
    const names = tokens.map(({ name }) => name);
    throw new CommandFailure(`there is no token ${echo(wanted)} ${text}${hint(wanted, names)}`);
  }
  return token;
}

function oneName(verb: string, names: readonly string[]): string {
  return mustBeOne(verb, 'the name of one token', names);
}

function rejectOrder(verb: string, words: CommandWords): void {
  rejectOptions(verb, words, [...ORDER_LISTS, ...ORDER_TEXTS.keys(), ...QUOTA_OPTIONS]);
}

function rejectOptions(verb: string, words: CommandWords, options: readonly string[]): void {
  const given = options.find((option) => words.has(option));
  if (given !== undefined)
    throw new UsageError(`--${given} is for create; ${verb} does not take it`);
}
