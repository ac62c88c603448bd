/**
 * The file of one saved query: a header of comment lines, then one GoogleSQL statement.
 *
 * ```
 * file    = header statement
 * header  = { "--" key [ "[" profile "]" ] ":" value newline }
 *                                               up to the first line that does not begin with --
 * key     = id | name | description | max_rows | cache | warm | sandbox | extends | alias | version
 *         | param
 * profile = default | supabase
 * ```
 *
 * | key           | value                                                     | without it        |
 * |---------------|-----------------------------------------------------------|-------------------|
 * | `id`          | a UUID                                                    | made of the name  |
 * | `name`        | words with dots between them: letters, digits, `_`, `-`   | an error          |
 * | `description` | any text to the end of the line                           | empty             |
 * | `max_rows`    | rows of an answer at most                                 | 1000              |
 * | `cache`       | `disabled`, or how long an answer is kept: `900s`         | `disabled`        |
 * | `warm`        | `disabled`, or how old a kept answer in use may get: `300s`; needs cache | `disabled` |
 * | `sandbox`     | `disabled` or `enabled`                                   | `disabled`        |
 * | `extends`     | the definition whose callers' SQL sees this one's WITH, too | none            |
 * | `alias`       | further names, with commas between them                   | none              |
 * | `version`     | a whole number, counted up at each change                 | 1                 |
 * | `param`       | one parameter; as many lines as there are parameters      | none              |
 *
 * ```
 * param   = name type { "required" | "default=" word | "enum(" word { "," word } ")"
 *                     | "from=" name { "," name } }
 * type    = string | int64 | float64 | bool | timestamp
 * word    = characters other than space, comma, quote and parenthesis, none at all
 *         | '"' any characters, \" and \\ escaped as in JSON '"'
 * ```
 *
 * A line with a profile applies in that profile only, and replaces the common line of the same key,
 * or, for `param`, of the same parameter.
 *
 * Every key but `param` may occur once. A parameter is `required`, has a default, or is NULL if it is
 * absent; `from` names other parameters of the call to fall back to. Comments below the header belong
 * to the statement. If the statement begins with a comment, an empty line separates it from the header.
 */

import { hint } from '../../engine/columns.ts';
import { nameId } from '../../ingest/name-id.ts';
import { isUuid } from '../../ingest/source.ts';
import { echo, echoNumber, formatChoices } from '../echo.ts';
import {
  CACHE_S_MAX,
  DEFINITION_ROWS_MAX,
  NAME_LENGTH_MAX,
  PARAMETERS_MAX,
  ROWS_MAX_DEFAULT,
} from '../limits.ts';
import { PROFILE_NAMES, type ProfileName } from '../profile.ts';
import { type Definition, listNames, type ParameterDefinition } from './definition.ts';
import {
  DefinitionError,
  DefinitionProblems,
  FILE_START,
  type Position,
  type Refuse,
} from './definition-error.ts';
import { parseParameterLine } from './definition-parameter.ts';

/** The contents of a file and their positions. */
export type DefinitionFile = {
  readonly definition: Definition;
  /** How many lines precede the statement, including empty ones. */
  readonly headerLineCount: number;
  /** Whether it has lines for one profile only. */
  readonly namesProfile: boolean;
  /** Whether it gives an id in this profile. */
  readonly hasId: boolean;
  /**
   * The position of the value of a key, or of a parameter; the start of the file if it is absent.
   */
  readonly getPosition: (name: string, kind?: 'key' | 'param') => Position;
};

/** A parsed header line with the positions of its key and its value. */
type HeaderLine = {
  readonly key: string;
  /** The profile that the line is for; `undefined` for all profiles without a line of their own. */
  readonly profile: string | undefined;
  readonly value: string;
  readonly keyAt: Position;
  readonly valueAt: Position;
};

const KEYS = [
  'id',
  'name',
  'description',
  'max_rows',
  'cache',
  'warm',
  'sandbox',
  'extends',
  'alias',
  'version',
  'param',
];

const NAME = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** Names that are parts of the paths of endpoints. */
const NAMES_RESERVED: ReadonlySet<string> = new Set(['query']);

/**
 * The namespace of the names of definitions. Changing it would change the ids of all definitions
 * without an explicit one.
 */
const NAMESPACE = Buffer.from('1f6d0c52b7e34d0f8a1d3e9b5c7a2406', 'hex');

/** Computes the id of a definition whose file gives none. */
export function computeDefinitionId(name: string): string {
  return nameId(NAMESPACE, name);
}

/**
 * Parses a definition file for a profile. `file` is its name in errors.
 *
 * @throws DefinitionError with the first problem and all others. The statement is not parsed.
 */
export function parseDefinitionFile(
  file: string,
  fileText: string,
  profile: ProfileName = 'default',
): DefinitionFile {
  const refuse: Refuse = (position, reason) => {
    throw new DefinitionError(file, fileText, position, reason);
  };
  const problems = new DefinitionProblems(refuse);
  const lines = fileText.split('\n');
  const headerCount = countHeaderLines(lines);
  const header = readHeader(lines.slice(0, headerCount), profile, problems);
  const headerLineCount = problems.attempt(() => findStatement(lines, headerCount, refuse)) ?? 0;
  const value = <T>(key: string, parse: (line: HeaderLine, refuse: Refuse) => T): T | undefined => {
    const line = header.single.get(key);
    return line === undefined ? undefined : problems.attempt(() => parse(line, refuse));
  };
  if (!header.single.has('name')) {
    problems.attempt(() => refuse(FILE_START, 'the header must give a name; got none'));
  }
  const name = value('name', parseName) ?? '';
  const definition: Definition = {
    id: value('id', parseId) ?? computeDefinitionId(name),
    name,
    aliases: value('alias', parseAliases) ?? [],
    description: value('description', (line) => line.value) ?? '',
    parameters: parseParameters(header.parameters, problems),
    rowsMax: value('max_rows', parseRowsMax) ?? ROWS_MAX_DEFAULT,
    cacheS: value('cache', parseDuration),
    warmS: value('warm', parseDuration),
    isSandboxed: value('sandbox', parseSandbox) ?? false,
    extended: value('extends', parseName),
    version: value('version', parseVersion) ?? 1,
    text: lines.slice(headerLineCount).join('\n').trimEnd(),
  };
  problems.check();
  checkTogether(definition, header, refuse);
  const getPosition: DefinitionFile['getPosition'] = (name, kind = 'key') => {
    const parameter = definition.parameters.findIndex((other) => other.name === name);
    const line = kind === 'key' ? header.single.get(name) : header.parameters[parameter];
    return line?.valueAt ?? FILE_START;
  };
  const hasId = header.single.has('id');
  return { definition, headerLineCount, namesProfile: header.namesProfile, hasId, getPosition };
}

/** Counts the lines before the first one that is not a comment; all lines if there is none. */
function countHeaderLines(lines: readonly string[]): number {
  const end = lines.findIndex((line) => !line.startsWith('--'));
  return end === -1 ? lines.length : end;
}

/** Counts the lines above the statement; refuses a file without one. */
function findStatement(lines: readonly string[], headerCount: number, refuse: Refuse): number {
  if (headerCount === lines.length) {
    refuse(getEnd(lines), 'the header must be followed by a statement; got the end of the file');
  }
  const emptyCount = lines.slice(headerCount).findIndex((line) => line.trim() !== '');
  if (emptyCount === -1) refuse(getEnd(lines), 'a statement must follow the header; got nothing');
  return headerCount + emptyCount;
}

type Header = {
  readonly single: ReadonlyMap<string, HeaderLine>;
  readonly parameters: readonly HeaderLine[];
  readonly namesProfile: boolean;
};

function readHeader(
  texts: readonly string[],
  profile: ProfileName,
  problems: DefinitionProblems,
): Header {
  const lines = texts.flatMap((text, index) => {
    return (
      problems.attempt(() => {
        const line = readHeaderLine(text.trimEnd(), index + 1, problems.refuse);
        checkKey(line, problems.refuse);
        return line;
      }) ?? []
    );
  });
  // A profile's line replaces the common line of the same subject, wherever either stands.
  const common = linesBySubject(lines, undefined, problems);
  const inForce = new Map([...common, ...linesBySubject(lines, profile, problems)]);
  const all = [...inForce.values()];
  return {
    single: new Map(all.filter(({ key }) => key !== 'param').map((line) => [line.key, line])),
    parameters: all.filter(({ key }) => key === 'param'),
    namesProfile: lines.some((line) => line.profile !== undefined),
  };
}

function checkKey({ key, profile, keyAt }: HeaderLine, refuse: Refuse): void {
  if (!KEYS.includes(key)) {
    const near = hint(key, KEYS);
    refuse(keyAt, `a header key must be ${formatChoices(KEYS)}; got ${echo(key)}${near}`);
  }
  if (profile === undefined || PROFILE_NAMES.some((name) => name === profile)) return;
  refuse(
    keyAt,
    `the profile of a key must be ${formatChoices(PROFILE_NAMES)}; got ${echo(profile)}`,
  );
}

/** The lines of one profile, or of none, by subject: a key or a parameter. */
function linesBySubject(
  lines: readonly HeaderLine[],
  profile: ProfileName | undefined,
  problems: DefinitionProblems,
): ReadonlyMap<string, HeaderLine> {
  const found = new Map<string, HeaderLine>();
  for (const line of lines) {
    if (line.profile !== profile) continue;
    const { key, value, keyAt, valueAt } = line;
    // GoogleSQL treats @Project and @project as one name, so both together are a duplicate.
    const name = key === 'param' ? /^\S*/.exec(value)![0] : undefined;
    const subject = name === undefined ? key : `param ${name.toLowerCase()}`;
    const before = found.get(subject);
    if (before === undefined) found.set(subject, line);
    else if (name !== undefined) {
      problems.attempt(() => problems.refuse(valueAt, `parameter ${name} is declared twice`));
    } else {
      problems.attempt(() =>
        problems.refuse(keyAt, `${key} is given twice; first in line ${before.keyAt.line}`),
      );
    }
  }
  return found;
}

function readHeaderLine(text: string, line: number, refuse: Refuse): HeaderLine {
  const match = /^(--[ \t]*)([^\s:[\]]+)(?:\[([^\s:[\]]*)\])?([ \t]*:[ \t]*)(.*)$/.exec(text);
  if (match === null) {
    return refuse(
      { line, column: 1 },
      `a header line must read "-- key: value"; got ${echo(text)}`,
    );
  }
  const [, dashes = '', key = '', profile, , value = ''] = match;
  return {
    key,
    profile,
    value,
    keyAt: { line, column: dashes.length + 1 },
    valueAt: { line, column: text.length - value.length + 1 },
  };
}

function parseId({ value, valueAt }: HeaderLine, refuse: Refuse): string {
  return isUuid(value)
    ? value.toLowerCase()
    : refuse(valueAt, `id must be a UUID of 36 characters; got ${echo(value)}`);
}

function parseName({ key, value, valueAt }: HeaderLine, refuse: Refuse): string {
  if (!NAME.test(value) || value.length > NAME_LENGTH_MAX) {
    refuse(
      valueAt,
      `${key} must be words of letters, digits, _ and - with dots between them, at most ${NAME_LENGTH_MAX} characters; got ${echo(value)}`,
    );
  }
  if (isUuid(value)) {
    refuse(valueAt, `${key} must not have the form of a UUID, which is an id; got ${echo(value)}`);
  }
  if (NAMES_RESERVED.has(value)) {
    refuse(valueAt, `${key} must not be ${echo(value)}: it is part of the paths of endpoints`);
  }
  return value;
}

function parseAliases(line: HeaderLine, refuse: Refuse): readonly string[] {
  let column = line.valueAt.column;
  return line.value.split(',').map((part) => {
    const name = part.trim();
    const at = { line: line.valueAt.line, column: column + part.length - part.trimStart().length };
    column += part.length + 1;
    return parseName({ ...line, value: name, valueAt: at }, refuse);
  });
}

function parseRowsMax({ value, valueAt }: HeaderLine, refuse: Refuse): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  return count >= 1 && count <= DEFINITION_ROWS_MAX
    ? count
    : refuse(
        valueAt,
        `max_rows must be a whole number from 1 to ${DEFINITION_ROWS_MAX}; got ${echoNumber(value)}`,
      );
}

/** Parses a duration to seconds; `undefined` for `disabled`. */
function parseDuration({ key, value, valueAt }: HeaderLine, refuse: Refuse): number | undefined {
  if (value === 'disabled') return undefined;
  const seconds = /^\d{1,9}s$/.test(value) ? Number(value.slice(0, -1)) : 0;
  return seconds >= 1 && seconds <= CACHE_S_MAX
    ? seconds
    : refuse(
        valueAt,
        `${key} must be disabled, or a number of seconds from 1s to ${CACHE_S_MAX}s, such as 900s; got ${echo(value)}`,
      );
}

function parseVersion({ value, valueAt }: HeaderLine, refuse: Refuse): number {
  const version = /^\d{1,16}$/.test(value) ? Number(value) : 0;
  return version >= 1 && Number.isSafeInteger(version)
    ? version
    : refuse(valueAt, `version must be a whole number from 1; got ${echoNumber(value)}`);
}

function parseSandbox({ value, valueAt }: HeaderLine, refuse: Refuse): boolean {
  if (value !== 'disabled' && value !== 'enabled') {
    refuse(valueAt, `sandbox must be disabled or enabled; got ${echo(value)}`);
  }
  return value === 'enabled';
}

function parseParameters(
  lines: readonly HeaderLine[],
  problems: DefinitionProblems,
): readonly ParameterDefinition[] {
  const tooMany = lines[PARAMETERS_MAX];
  if (tooMany !== undefined) {
    const reason = `a definition has at most ${PARAMETERS_MAX} parameters; got one more`;
    problems.attempt(() => problems.refuse(tooMany.valueAt, reason));
  }
  return lines.flatMap(({ value, valueAt }) => {
    const parse = () => parseParameterLine(value, valueAt, problems.refuse);
    return problems.attempt(parse) ?? [];
  });
}

/** Checks rules that involve two keys. */
function checkTogether(definition: Definition, header: Header, refuse: Refuse): void {
  const alias = header.single.get('alias');
  const names = listNames(definition);
  if (alias !== undefined && new Set(names).size < names.length) {
    refuse(alias.valueAt, 'an alias must differ from the name and from every other alias');
  }
  const warm = header.single.get('warm');
  if (warm === undefined || definition.warmS === undefined) return;
  if (definition.cacheS === undefined) {
    refuse(warm.valueAt, 'warm needs a cache: answers that are not kept cannot be renewed');
  }
  if (definition.warmS > definition.cacheS) {
    refuse(
      warm.valueAt,
      `warm must not be longer than cache, ${definition.cacheS}s; got ${echo(warm.value)}`,
    );
  }
}

function getEnd(lines: readonly string[]): Position {
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
