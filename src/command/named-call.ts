import { nearestName } from '../../engine/columns.ts';
import { listNames } from '../definition/definition.ts';
import { echo } from '../echo.ts';
import { ArgumentError, type CommandWords, UsageError } from './command.ts';
import type { KnownEndpoint } from './endpoint-client.ts';

/** A call on the command line: `NAME name=value …`. */
export type NamedCall = {
  /** Name or id of a definition. */
  readonly definition: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The caller's own query, which replaces the definition's. */
  readonly sql: string | undefined;
};

/** @throws UsageError when the arguments are no call. `command` is the command before them. */
export function parseNamedCall(command: string, words: CommandWords): NamedCall {
  const [definition, ...rest] = words.positionals;
  if (definition === undefined) {
    throw new UsageError(`${command} must be followed by the name of a saved query; got nothing`);
  }
  if (/^\w+=/.test(definition)) {
    throw new UsageError(
      `${command} must be followed by the name of a saved query, and its parameters behind that; got ${echo(definition)}`,
    );
  }
  return { definition, parameters: parseParameterWords(rest), sql: words.find('sql') };
}

/** Parses arguments of the form `name=value`. @throws UsageError for others. */
export function parseParameterWords(words: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const word of words) {
    const end = word.indexOf('=');
    if (end < 1)
      throw new UsageError(`a parameter must be name=value; ${notParameter(word, words)}`);
    const name = word.slice(0, end);
    if (parameters.has(name)) throw new UsageError(`${name} must be given once; got two of it`);
    parameters.set(name, word.slice(end + 1));
  }
  return parameters;
}

/**
 * The message for an argument that is not a parameter, with a guess of what was meant, as for
 * `project alpha` or `project:alpha`.
 */
function notParameter(word: string, words: readonly string[]): string {
  const next = words[words.indexOf(word) + 1];
  const [, name, value] = /^(\w+):(.*)$/s.exec(word) ?? [];
  const isName = /^\w+$/.test(word) && next !== undefined && !next.includes('=');
  const pair = name === undefined ? isName && `${word}=${next}` : `${name}=${value}`;
  return `got ${echo(word)}${pair === false ? '' : `; did you mean ${echo(pair)}?`}`;
}

/** The endpoint with this name, alias or id. */
export function findEndpoint(
  { definition }: Pick<NamedCall, 'definition'>,
  known: readonly KnownEndpoint[],
): KnownEndpoint | undefined {
  return known.find(
    (each) => each.id === definition.toLowerCase() || listNames(each).includes(definition),
  );
}

/**
 * Finds the endpoint with this name, alias or id.
 *
 * @throws UsageError with the nearest name when there is none.
 */
export function mustKnow(
  call: Pick<NamedCall, 'definition'>,
  known: readonly KnownEndpoint[],
): KnownEndpoint {
  const endpoint = findEndpoint(call, known);
  if (endpoint !== undefined) return endpoint;
  const wanted = call.definition;
  const names = known.flatMap(listNames);
  if (names.length === 0) throw new UsageError('the token may run no saved query');
  const hint = findHint(wanted, names) ?? `there are ${names.join(', ')}`;
  throw new UsageError(`there is no saved query ${echo(wanted)}; ${hint}`);
}

/**
 * Refuses parameters that the endpoint does not use. The service ignores them, but on a command
 * line they are mistakes.
 *
 * @throws UsageError with their names.
 */
export function checkNames({ parameters, sql }: NamedCall, endpoint: KnownEndpoint): void {
  if (sql !== undefined && !endpoint.isSandboxed) {
    throw new UsageError(`${endpoint.name} takes no --sql: its definition has no sandbox`);
  }
  const names = endpoint.parameters.flatMap(({ name, from }) => [name, ...from]);
  for (const name of parameters.keys()) {
    if (names.includes(name)) continue;
    const hint = findHint(name, names);
    const unknown = `${endpoint.name} has no parameter ${echo(name)}`;
    if (hint !== undefined) throw new UsageError(`${unknown}; ${hint}`);
    throw new ArgumentError(`${unknown}; it has ${names.join(', ') || 'none'}`, [`${name}=`]);
  }
}

function findHint(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestName(name, known);
  return nearest === undefined ? undefined : `did you mean ${nearest}?`;
}
