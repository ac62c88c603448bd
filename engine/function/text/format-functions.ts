import type { SqlType } from '../../column/type.ts';
import { DYNAMIC, STRING, typeName } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, typed } from '../definition.ts';
import { isWhole } from '../dynamic.ts';
import { jsonTextOf, prettyJson } from '../json/json-value.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { literalTextOf, plainTextOf } from '../value-text.ts';
import { charactersOf } from './character.ts';
import { formatFloat, formatInteger } from './format-number.ts';
import type { FixedPlace, FormatPlace } from './format-pattern.ts';
import { parseFormat } from './format-pattern.ts';
import { checkTextSize } from './text-size.ts';

export const formatFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'format',
    [
      'Formats values with a format string: `%s` for a text, `%d` for a whole number, `%.2f` for two decimal places, `%t` for any value, `%T` for any value as an SQL literal, and others as in C. NULL if a value is NULL, except for `%t`, `%T`, `%p` and `%P`, which write it.',
      "FORMAT('%s took %.1f ms', 'GET', 12.34)",
      "'GET took 12.3 ms'",
    ],
    {
      parameters: [STRING],
      variadic: 'any',
      result: STRING,
      nulls: 'handle',
      evaluate: (pattern, ...values) => format(pattern as string | null, values, []),
      evaluateTyped: (types) => {
        const argumentTypes = types.slice(1);
        return typed((pattern: string | null, ...values: SqlValue[]) =>
          format(pattern, values, argumentTypes),
        );
      },
    },
  ),
];

type Argument = { readonly value: SqlValue; readonly type: SqlType };

/** NULL for a NULL beside another letter than t, T, p and P, which write it as `NULL` or `null`. */
function format(
  pattern: string | null,
  values: readonly SqlValue[],
  types: readonly SqlType[],
): string | null {
  if (pattern === null) return null;
  const given = values.map((value, index) => ({ value, type: types[index] ?? DYNAMIC }));
  const queue = given[Symbol.iterator]();
  let text = '';
  let isNull = false;
  for (const piece of parseFormat(pattern)) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const place = withNumbers(piece, queue);
    const argument = next(queue, piece);
    const isMissing = argument.value === null && !'tTpP'.includes(piece.letter);
    if (place === undefined || isMissing) isNull = true;
    else text += padded(written(argument, place), place);
    checkTextSize('FORMAT', text.length);
  }
  if (queue.next().done !== true) {
    throw new QueryError(
      'query_failed',
      'FORMAT has more arguments than its format string has specifiers',
    );
  }
  return isNull ? null : text;
}

/** `undefined` when an argument for `*` is NULL. A negative width is one from the left. */
function withNumbers(place: FormatPlace, queue: Iterator<Argument>): FixedPlace | undefined {
  const width = place.width === '*' ? starOf(queue, place) : (place.width ?? 0);
  const precision = place.precision === '*' ? starOf(queue, place) : place.precision;
  if (width === null || precision === null) return undefined;
  const flags = width < 0 ? `${place.flags}-` : place.flags;
  checkTextSize('FORMAT', Math.max(Math.abs(width), precision ?? 0));
  const isLeft = precision !== undefined && precision < 0;
  return {
    flags,
    width: Math.abs(width),
    precision: isLeft ? undefined : precision,
    letter: place.letter,
  };
}

/** Types whose values may be whole numbers. */
const INTEGER_TYPES: ReadonlySet<string> = new Set(['INT64', 'NUMBER', 'DYNAMIC']);

function starOf(queue: Iterator<Argument>, place: FormatPlace): number | null {
  const { value, type } = next(queue, place);
  if (value === null) return null;
  if (!INTEGER_TYPES.has(type.kind)) throw wrongType('*', type);
  return Number(value);
}

function next(queue: Iterator<Argument>, place: FormatPlace): Argument {
  const { value, done } = queue.next();
  if (done === true) {
    throw new QueryError(
      'query_failed',
      `FORMAT has no argument for the specifier %${place.letter}`,
    );
  }
  return value as Argument;
}

function written({ value, type }: Argument, place: FixedPlace): string {
  const { letter, precision } = place;
  switch (letter) {
    case 's':
      return cut(textOf(value, type), precision);
    case 't':
      return cut(plainTextOf(value, type), precision);
    case 'T':
      return cut(literalTextOf(value, type), precision);
    case 'p':
      return cut(jsonTextOf(value, type), precision);
    case 'P':
      return cut(prettyJson(jsonTextOf(value, type)), precision);
    case 'd':
    case 'i':
    case 'o':
    case 'x':
    case 'X':
      return formatInteger(integerOf(value, type, letter), place);
    default:
      return formatFloat(floatOf(value, type, letter), place);
  }
}

function textOf(value: SqlValue, type: SqlType): string {
  if (type.kind !== 'STRING' && type.kind !== 'DYNAMIC') throw wrongType('s', type);
  return plainTextOf(value, type);
}

function integerOf(value: SqlValue, type: SqlType, letter: string): Int64 {
  if (!isWhole(value) || !INTEGER_TYPES.has(type.kind)) throw wrongType(letter, type);
  return value;
}

function floatOf(value: SqlValue, type: SqlType, letter: string): number {
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  if (!isNumber || !(type.kind === 'FLOAT64' || INTEGER_TYPES.has(type.kind))) {
    throw wrongType(letter, type);
  }
  return Number(value);
}

function wrongType(letter: string, type: SqlType): QueryError {
  const wanted = letter === 's' ? 'STRING' : 'fFeEgG'.includes(letter) ? 'FLOAT64' : 'INT64';
  const place = letter === '*' ? '*' : `%${letter}`;
  return new QueryError(
    'query_failed',
    `FORMAT wants ${wanted} at ${place}; got ${typeName(type)}`,
  );
}

/** The first `precision` characters of a text. */
function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : charactersOf(text).slice(0, precision).join('');
}

/** Numbers have their zeros already; what is left are spaces. */
function padded(text: string, { flags, width }: FixedPlace): string {
  const missing = width - charactersOf(text).length;
  if (missing <= 0) return text;
  const spaces = ' '.repeat(missing);
  return flags.includes('-') ? text + spaces : spaces + text;
}
