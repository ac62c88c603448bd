import { MADE_TEXT_LENGTH_MAX, QueryError, type SqlType } from '../../../../engine/columns.ts';
import { type FormatPlace, parseFormat } from '../../../../engine/index.ts';
import { asFloat } from '../number-sql.ts';
import { refuse } from '../refusal.ts';
import { isNull, nullOf } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';
import { checkedSize, lengthOf } from './fill-sql.ts';
import { type CallSql, checked, constantOf, type FunctionSql, orFailure } from './function-sql.ts';
import { jsonOf } from './json-sql.ts';
import { literalText, plainText } from './value-text-sql.ts';

/** FORMAT with a constant pattern. */
export const formatSql: Readonly<Record<string, FunctionSql>> = { format };

type Argument = { readonly sql: string; readonly type: SqlType };

/** A place with its argument, and those of its stars. */
type Filled = {
  readonly place: FormatPlace;
  readonly value: Argument;
  readonly width: string;
  readonly precision: string | undefined;
};

function format(call: CallSql): string {
  const pattern = constantOf(call, 0);
  if (pattern === null) return nullOf(call.type);
  const pieces = orFailure(() => parseFormat(String(pattern)));
  if (pieces instanceof QueryError) return failed(call, pieces.message);
  const queue = call.arguments
    .map((sql, index) => ({ sql, type: call.types[index]! }))
    .slice(1)
    .values();
  const filled: (string | Filled)[] = [];
  for (const piece of pieces) {
    const one = typeof piece === 'string' ? piece : filledPlace(piece, queue);
    if (one === undefined) return failed(call, 'FORMAT has no argument for a specifier');
    filled.push(one);
  }
  if (queue.next().done !== true) {
    return failed(call, 'FORMAT has more arguments than its format string has specifiers');
  }
  const texts = filled.map((each) =>
    typeof each === 'string' ? call.parts.text(each, call.span) : written(each, call),
  );
  const text = `concat(${[...texts, "''", "''"].join(', ')})`;
  return call.parts.once(text, (all) =>
    checkedSize(
      call,
      all,
      `if(length(${all}) > ${MADE_TEXT_LENGTH_MAX}, ${lengthOf(call, all)}, 0)`,
    ),
  );
}

/** Also where an argument is NULL. */
function failed(call: CallSql, message: string): string {
  return checked(call, `materialize(${nullOf(call.type)})`, '1', message);
}

function filledPlace(place: FormatPlace, queue: Iterator<Argument>): Filled | undefined {
  const next = (given: number | '*' | undefined, otherwise: string | undefined) => {
    if (given !== '*') return given === undefined ? otherwise : `toInt64(${given})`;
    return queue.next().value?.sql as string | undefined;
  };
  const width = next(place.width, 'toInt64(0)');
  const precision = next(place.precision, undefined);
  const value = queue.next().value as Argument | undefined;
  if (value === undefined || width === undefined) return undefined;
  return { place, value, width, precision };
}

/** The text of a place; NULL for a NULL that the place does not write. */
function written(filled: Filled, call: CallSql): string {
  const { place, value } = filled;
  const { parts } = call;
  const writesNull = 'tTpP'.includes(place.letter);
  if (place.width === '*' || place.precision === '*') {
    return refuse('FORMAT with a width or precision that is an argument', call.span);
  }
  const [width, precision] = [Number(place.width ?? 0), place.precision as number | undefined];
  if (Math.max(width, precision ?? 0) > MADE_TEXT_LENGTH_MAX) {
    return refuse('FORMAT with so large a width or precision', call.span);
  }
  return parts.once(value.sql, (name) => {
    const text = textOf({ sql: name, type: value.type }, { ...place, precision }, call);
    const whole = parts.once(text, (all) => padded(all, width, place.flags));
    return writesNull ? whole : `if(${isNull(name, value.type)}, NULL, ${whole})`;
  });
}

/** Numbers have their zeros already; what is left are spaces. */
function padded(text: string, width: number, flags: string): string {
  if (width === 0) return text;
  const spaces = `repeat(' ', greatest(${width} - toInt64(lengthUTF8(${text})), 0))`;
  return flags.includes('-') ? `concat(${text}, ${spaces})` : `concat(${spaces}, ${text})`;
}

type Place = FormatPlace & { readonly precision: number | undefined };

function textOf(value: Argument, place: Place, call: CallSql): string {
  const { parts } = call;
  const { kind } = value.type;
  const cut = (text: string) =>
    place.precision === undefined ? text : `substringUTF8(${text}, 1, ${place.precision})`;
  switch (place.letter) {
    case 's':
      return kind === 'STRING' ? cut(value.sql) : wrongType(value, place, call);
    case 't':
      return cut(plainText(value.sql, value.type, parts));
    case 'T':
      return cut(literalText(value.sql, value.type, parts));
    case 'p':
      return cut(jsonOf(value.sql, value.type, { call, exact: false }));
    case 'P':
      return refuse('FORMAT with JSON in lines', call.span);
    case 'd':
    case 'i':
    case 'o':
    case 'x':
    case 'X':
      return kind === 'INT64'
        ? integerText(value.sql, place, parts)
        : wrongType(value, place, call);
    default:
      if (kind !== 'FLOAT64' && kind !== 'INT64' && kind !== 'NUMBER')
        return wrongType(value, place, call);
      return floatText(asFloat(value.sql, value.type, parts), place, call);
  }
}

/** An error where the value is no NULL; of some types it depends on the value. */
function wrongType({ sql, type }: Argument, { letter }: Place, call: CallSql): string {
  if (type.kind === 'DYNAMIC' || type.kind === 'NUMBER')
    return refuse(`FORMAT of a field at %${letter}`, call.span);
  const message = `FORMAT wants another type at %${letter}`;
  const text: SqlType = { kind: 'STRING' };
  return checked({ ...call, type: text }, "''", `NOT ${isNull(sql, type)}`, message);
}

function signOf(isNegative: string, flags: string): string {
  const plus = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  return `if(${isNegative}, '-', '${plus}')`;
}

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['o', '0'],
  ['x', '0x'],
  ['X', '0X'],
]);

/** As `%d %i %o %x %X` of C; a negative one has its sign in every base. */
function integerText(value: string, place: Place, parts: StatementParts): string {
  const { flags, letter, precision } = place;
  const conversion = 'oxX'.includes(letter) ? letter : 'd';
  const magnitude = `toUInt64(abs(assumeNotNull(${value})))`;
  const plain =
    conversion === 'd' ? `toString(${magnitude})` : `printf('%${conversion}', ${magnitude})`;
  const long = precision === undefined ? plain : zeros(plain, `${precision}`);
  const isDecimal = conversion === 'd';
  const digits = flags.includes("'")
    ? grouped(long, isDecimal ? 3 : 4, isDecimal ? ',' : ':', parts)
    : long;
  const prefix =
    flags.includes('#') && !isDecimal ? `if(${value} = 0, '', '${PREFIXES.get(letter)}')` : "''";
  const sign = `concat(${signOf(`${value} < 0`, flags)}, ${prefix})`;
  return precision === undefined
    ? withZeros(sign, digits, place, parts)
    : `concat(${sign}, ${digits})`;
}

function zeros(digits: string, width: string): string {
  return `if(length(${digits}) >= ${width}, ${digits}, leftPad(${digits}, ${width}, '0'))`;
}

/** The flag `0` fills the width between sign and digits, unless `-` asks for spaces behind. */
function withZeros(
  sign: string,
  digits: string,
  { flags, width }: Place,
  parts: StatementParts,
): string {
  if (!flags.includes('0') || flags.includes('-') || width === undefined)
    return `concat(${sign}, ${digits})`;
  return parts.once(sign, (theSign) =>
    parts.once(digits, (all) => {
      const missing = `greatest(${width} - toInt64(length(${theSign})) - toInt64(length(${all})), 0)`;
      return `concat(${theSign}, repeat('0', ${missing}), ${all})`;
    }),
  );
}

function grouped(digits: string, size: number, separator: string, parts: StatementParts): string {
  const groups = `replaceRegexpAll(reverse(${digits}), '(.{${size}})', ${parts.text(`\\1${separator}`)})`;
  return `reverse(replaceRegexpOne(${groups}, '${separator}$', ''))`;
}

/** Digits that the engine writes at most; what a double has beyond them it writes as zeros. */
const DIGITS_MAX = 100;

/** As `%f %e %g` of C and their capitals. */
function floatText(value: string, place: Place, call: CallSql): string {
  const { flags, letter, precision } = place;
  const { parts } = call;
  if ((precision ?? 6) > DIGITS_MAX) return refuse('FORMAT with more than 100 digits', call.span);
  const kind = letter.toLowerCase();
  const isCapital = letter !== kind;
  const cased = (text: string) => (isCapital ? `upper(${text})` : text);
  return parts.once(`assumeNotNull(${value})`, (number) => {
    const plain = `printf('%${flags.includes('#') ? '#' : ''}.${precision ?? 6}${kind}', abs(${number}))`;
    const digits = flags.includes("'") ? groupedFloat(plain, parts) : plain;
    const isNegative = `(${number} < 0 OR (${number} = 0 AND 1 / ${number} < 0))`;
    const finite = withZeros(signOf(isNegative, flags), cased(digits), place, parts);
    const word = `concat(${signOf(`${number} < 0`, flags)}, ${cased("'inf'")})`;
    return `multiIf(isNaN(${number}), ${cased("'nan'")}, isFinite(${number}), ${finite}, ${word})`;
  });
}

function groupedFloat(digits: string, parts: StatementParts): string {
  return parts.once(digits, (text) => {
    const whole = `extract(${text}, '^[0-9]+')`;
    return parts.once(
      whole,
      (head) => `concat(${grouped(head, 3, ',', parts)}, substring(${text}, length(${head}) + 1))`,
    );
  });
}
