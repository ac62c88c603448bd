import type { SqlValue } from '../../engine/columns.ts';
import {
  PARAMETER_TYPES,
  type ParameterDefinition,
  type ParameterType,
  type ParameterValues,
} from '../definition/definition.ts';
import { PARAMETER_NAME } from '../definition/definition-parameter.ts';
import { parseParameterText, wantedBy } from '../definition/parameter-value.ts';
import { ParameterSchema } from '../definition/parameters.ts';
import { echo, echoValue, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { NAME_LENGTH_MAX, PARAMETERS_MAX } from '../limits.ts';

/** A parameter of a text that is no definition's: it says its type itself. */
export type SentParameter = {
  readonly name: string;
  readonly type: ParameterType;
  /** `undefined`: NULL. */
  readonly text: string | undefined;
  readonly value: SqlValue;
};

/** Their names in SQL, by which callers give types. */
const TYPES: ReadonlyMap<string, ParameterType> = new Map(
  PARAMETER_TYPES.map((type) => [type.toUpperCase(), type]),
);

const TYPE_NAMES = [...TYPES.keys()];

/**
 * Parses parameters: a JSON string is a STRING, a whole number an INT64, another number a FLOAT64,
 * a boolean a BOOL, and `{"type": "TIMESTAMP", "value": …}` has the type that it names.
 *
 * @throws ServiceError for one that is none of these, or is there twice.
 */
export function parseSentParameters(
  members: readonly (readonly [string, unknown])[],
): readonly SentParameter[] {
  if (members.length > PARAMETERS_MAX) {
    const message = `a query has at most ${PARAMETERS_MAX} parameters; got ${members.length}`;
    throw new ServiceError('invalid_parameter', message);
  }
  const names = new Set<string>();
  return members.map(([name, value]) => {
    if (!PARAMETER_NAME.test(name) || name.length > NAME_LENGTH_MAX) {
      const message = `the name of a parameter must be letters, digits and _, not beginning with a digit; got ${echo(name)}`;
      throw new ServiceError('invalid_parameter', message);
    }
    const key = name.toLowerCase();
    if (names.has(key)) {
      const message = `${name} must be given once; got more, and case does not count`;
      throw new ServiceError('repeated_parameter', message, { parameter: name });
    }
    names.add(key);
    return isTyped(value) ? parseTyped(name, value) : parsePlain(name, value);
  });
}

/**
 * The values of a run. `declared` are parameters of the saved queries that the text selects from:
 * what these require, allow and have by default holds, too.
 *
 * @throws ServiceError for a value that one of these does not allow, or that is missing.
 */
export function readValues(
  sent: readonly SentParameter[],
  declared: readonly ParameterDefinition[],
): ParameterValues {
  const values = new Map<string, SqlValue>(
    sent.map(({ name, value }) => [name.toLowerCase(), value]),
  );
  if (declared.length === 0) return values;
  const spelled = new Map(declared.map(({ name }) => [name.toLowerCase(), name]));
  const texts = new Map<string, string[]>();
  const emptyNames = new Set<string>();
  for (const { name, text } of sent) {
    const spelling = spelled.get(name.toLowerCase()) ?? name;
    if (text === '') emptyNames.add(spelling);
    if (text !== undefined) texts.set(spelling, [text]);
  }
  for (const [name, value] of new ParameterSchema(declared).parse(texts, emptyNames)) {
    values.set(name.toLowerCase(), value);
  }
  return values;
}

type Typed = { readonly type: unknown; readonly value: unknown };

function isTyped(value: unknown): value is Typed {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).sort().join() === 'type,value';
}

function parseTyped(name: string, { type: given, value }: Typed): SentParameter {
  const type = typeof given === 'string' ? TYPES.get(given.toUpperCase()) : undefined;
  if (type === undefined) {
    const message = `the type of ${name} must be ${formatChoices(TYPE_NAMES)}; got ${echoValue(given)}`;
    throw new ServiceError('invalid_parameter', message, { parameter: name });
  }
  if (value === null) return { name, type, text: undefined, value: null };
  const isExact = typeof value === 'number' && !isLossy(value);
  const text =
    typeof value === 'string' || typeof value === 'boolean' || isExact ? String(value) : undefined;
  const parsed = text === undefined ? undefined : parseParameterText(type, text);
  if (text !== undefined && parsed !== undefined) return { name, type, text, value: parsed };
  const message = `${name} must be ${wantedBy(type)}; got ${echoValue(value)}`;
  throw new ServiceError('invalid_parameter', message, { parameter: name });
}

function parsePlain(name: string, value: unknown): SentParameter {
  if (typeof value === 'string') return { name, type: 'string', text: value, value };
  if (typeof value === 'boolean') return { name, type: 'bool', text: String(value), value };
  if (typeof value === 'number' && !isLossy(value)) {
    const type = Number.isInteger(value) ? 'int64' : 'float64';
    return parseTyped(name, { type, value });
  }
  const reason =
    typeof value === 'number'
      ? `got a number that loses digits in JSON; write {"type": "INT64", "value": "…"}`
      : `got ${echoValue(value)}`;
  throw new ServiceError(
    'invalid_parameter',
    `${name} must be a string, a number, a boolean or {"type": …, "value": …}; ${reason}`,
    { parameter: name },
  );
}

/** Whether a number may be another one than was sent. */
function isLossy(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
