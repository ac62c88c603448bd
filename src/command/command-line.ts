import { nearestName } from '../../engine/columns.ts';
import { echo } from '../echo.ts';
import { formatFlag, listVariables, SETTINGS } from '../setting-table.ts';
import {
  type ArgumentError,
  type Command,
  CommandWords,
  type Flag,
  UsageError,
} from './command.ts';

/** A command and its name. */
export type NamedCommand = { readonly name: string; readonly command: Command };

/** A flag as it was written: `--url=x` has a value of its own. */
type WrittenFlag = { readonly name: string; readonly value: string | undefined };

const HELP: Flag = { text: 'show this text' };

/** All flags of a command, `--help` among them. */
function listFlags(command: Command): Readonly<Record<string, Flag>> {
  return { ...listOwnFlags(command), ...(command.takesSettings === true ? SETTING_FLAGS : {}) };
}

/** The flags of a command that are not settings. */
export function listOwnFlags({ flags }: Command): Readonly<Record<string, Flag>> {
  return { ...flags, help: HELP };
}

const SETTING_FLAGS: Readonly<Record<string, Flag>> = Object.fromEntries(
  SETTINGS.filter(([, { isSecret }]) => isSecret !== true).map(([, setting]) => [
    formatFlag(setting),
    { placeholder: setting.kind.placeholder, text: setting.summary },
  ]),
);

/**
 * Parses the words after a command's name. All words after `--` are arguments. If a flag is repeated, the last one
 * counts.
 *
 * @throws UsageError for an unknown flag, with the nearest one, and for a flag that is used wrongly.
 */
export function parseCommandLine(named: NamedCommand, words: readonly string[]): CommandWords {
  const flags = new Map(Object.entries(listFlags(named.command)));
  const positionals: string[] = [];
  const values = new Map<string, string>();
  const switches = new Set<string>();
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') {
      positionals.push(...words.slice(index + 1));
      break;
    }
    if (!isFlag(word)) {
      positionals.push(word);
      continue;
    }
    const written = readFlag(word);
    const flag = flags.get(written.name);
    if (flag === undefined) throw new UsageError(unknownText(named, word, written));
    if (flag.placeholder === undefined) {
      if (written.value !== undefined) {
        throw new UsageError(`--${written.name} takes no value; got ${echo(written.value)}`);
      }
      switches.add(written.name);
    } else if (written.value !== undefined) values.set(written.name, written.value);
    else {
      index++;
      values.set(written.name, mustBeValue(written.name, flag.placeholder, words[index]));
    }
  }
  return new CommandWords({ positionals, values, switches });
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function readFlag(word: string): WrittenFlag {
  if (word === '-h') return { name: 'help', value: undefined };
  const end = word.indexOf('=');
  const name = end < 0 ? word : word.slice(0, end);
  const value = end < 0 ? undefined : word.slice(end + 1);
  // The only short flag is -h: a name after one hyphen is kept as it is, and unknown.
  return { name: name.startsWith('--') ? name.slice(2) : name, value };
}

/** @throws UsageError if the word after a flag is not its value. */
function mustBeValue(name: string, placeholder: string, word: string | undefined): string {
  if (word !== undefined && !isFlag(word)) return word;
  const wanted = `--${name} must be followed by a value: --${name} ${placeholder}`;
  if (word === undefined) throw new UsageError(`${wanted}; got nothing`);
  throw new UsageError(
    `${wanted}; got ${echo(word)}; a value that begins with a hyphen is written --${name}=VALUE`,
  );
}

/** The message for an unknown flag, without the value, which may be a secret. */
function unknownText(named: NamedCommand, word: string, { name }: WrittenFlag): string {
  const { flag, secret } = findNearest(named.command, name);
  if (secret !== undefined) return secret;
  const end = word.indexOf('=');
  const start = `${named.name} has no flag ${echo(end < 0 ? word : word.slice(0, end))}`;
  if (flag !== undefined) return `${start}; did you mean --${flag}?`;
  if (named.command.takesParameters === true && /^\w+$/.test(name)) {
    return `${start}; a parameter is written without hyphens: ${name}=VALUE`;
  }
  const all = Object.keys(listFlags(named.command)).map((each) => `--${each}`);
  return `${start}; it has ${all.join(', ')}`;
}

/**
 * The message of an error about arguments. Names the flag if one of them is a flag without its hyphens. Never repeats a
 * secret.
 */
export function argumentText({ command }: NamedCommand, error: ArgumentError): string {
  const flags = listFlags(command);
  for (const argument of error.given) {
    const end = argument.indexOf('=');
    if (end < 1) {
      const isSwitch = Object.hasOwn(flags, argument) && flags[argument]?.placeholder === undefined;
      if (isSwitch) return `${error.message}; did you mean --${argument}?`;
      continue;
    }
    const { flag, secret } = findNearest(command, argument.slice(0, end));
    if (secret !== undefined) return secret;
    const value = flags[flag ?? '']?.placeholder === undefined ? '' : '=VALUE';
    if (flag !== undefined) return `${error.message}; did you mean --${flag}${value}?`;
  }
  return error.message;
}

/** The flag nearest to a name, or the reason why there is none: it would show a secret. */
function findNearest(
  command: Command,
  written: string,
): { readonly flag?: string | undefined; readonly secret?: string | undefined } {
  const name = written.replace(/^-+/, '').replaceAll('_', '-');
  const flags = [...Object.keys(listFlags(command)), ...SECRETS.keys()];
  const begun = flags.filter((each) => each.startsWith(`${name}-`));
  const flag = nearestName(name, flags) ?? (begun.length === 1 ? begun[0] : undefined);
  const variable = SECRETS.get(flag ?? '');
  if (variable === undefined) return { flag };
  return {
    secret: `a secret cannot be a flag, as other users of the machine can see flags; set the variable ${variable}, or ${variable}_FILE to the path of a file that holds it`,
  };
}

/** The variable of each secret, by the name that its flag would have. */
const SECRETS: ReadonlyMap<string, string> = new Map(
  SETTINGS.filter(([, { isSecret }]) => isSecret === true).flatMap(([, setting]) =>
    listVariables(setting).map((variable) => [formatFlag({ variable }), setting.variable] as const),
  ),
);
