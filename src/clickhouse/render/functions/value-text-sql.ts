import { elementTypeOf, type SqlType } from '../../../../engine/columns.ts';
import { floatText } from '../dynamic-sql.ts';
import { intervalText } from '../interval-sql.ts';
import { refuse } from '../refusal.ts';
import { asColumn, isNull } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';
import { dateText, datetimeText, timeOfDayText } from '../time-sql.ts';

/** A value as `%t` of FORMAT writes it. `value` is a name; the text is no NULL. */
export function plainText(value: string, type: SqlType, parts: StatementParts): string {
  return `if(${isNull(value, type)}, 'NULL', assumeNotNull(${knownText(value, type, { parts, write: plainText })}))`;
}

/** A value as `%T` writes it: as a literal of GoogleSQL. */
export function literalText(value: string, type: SqlType, parts: StatementParts): string {
  return `if(${isNull(value, type)}, 'NULL', assumeNotNull(${knownLiteral(value, type, parts)}))`;
}

type Write = (value: string, type: SqlType, parts: StatementParts) => string;

function knownText(
  value: string,
  type: SqlType,
  { parts, write }: { readonly parts: StatementParts; readonly write: Write },
): string {
  switch (type.kind) {
    case 'NULL':
      return "'NULL'";
    case 'BOOL':
      return `if(${value}, 'true', 'false')`;
    case 'INT64':
      return `toString(${value})`;
    case 'FLOAT64':
      return pointedText(value, parts);
    case 'STRING':
    case 'JSON':
      return value;
    case 'BYTES':
      return escapedBytes(value, '', parts);
    case 'TIMESTAMP':
      return `concat(${datetimeText(value, parts)}, '+00')`;
    case 'DATETIME':
      return datetimeText(value, parts);
    case 'DATE':
      return dateText(value, parts);
    case 'TIME':
      return timeOfDayText(value, parts);
    case 'INTERVAL':
      return parts.once(`${value}[1]`, (interval) => intervalText(interval, parts));
    case 'ARRAY': {
      const each = parts.variable();
      const texts = `arrayMap(${each} -> ${write(each, elementTypeOf(type), parts)}, ${value}[1])`;
      return `concat('[', arrayStringConcat(${texts}, ', '), ']')`;
    }
    case 'STRUCT': {
      const texts = type.fields.map((field, index) =>
        parts.once(asColumn(`${value}[1].${index + 1}`, field.type), (each) =>
          write(each, field.type, parts),
        ),
      );
      const start = write === literalText && texts.length === 1 ? 'STRUCT(' : '(';
      return `concat('${start}', ${texts.join(", ', ', ")}, ')')`;
    }
    default:
      return refuse(`FORMAT of ${type.kind}`, undefined);
  }
}

function knownLiteral(value: string, type: SqlType, parts: StatementParts): string {
  switch (type.kind) {
    case 'FLOAT64':
      return parts.once(pointedText(value, parts), (text) => {
        return `if(match(${text}, '[0-9]'), ${text}, concat('CAST("', ${text}, '" AS FLOAT64)'))`;
      });
    case 'BYTES':
      return `concat('b', ${quoted(value, parts, (quote) => escapedBytes(value, quote, parts))})`;
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return `concat('${type.kind} "', ${knownText(value, type, { parts, write: literalText })}, '"')`;
    case 'JSON':
      return `concat('JSON ', ${quoted(value, parts, (quote) => escapedText(value, quote, parts))})`;
    case 'STRING':
      return quoted(value, parts, (quote) => escapedText(value, quote, parts));
    default:
      return knownText(value, type, { parts, write: literalText });
  }
}

/** A whole FLOAT64 shows that it is none of INT64. */
function pointedText(value: string, parts: StatementParts): string {
  return parts.once(floatText(value, parts), (text) => {
    return `if(match(${text}, '^-?[0-9]+$'), concat(${text}, '.0'), ${text})`;
  });
}

/** In the quotes that the text has none of, double ones by choice. */
function quoted(value: string, parts: StatementParts, write: (quote: string) => string): string {
  const [single, double] = ["'", '"'].map((quote) => parts.text(quote));
  const isSingle = `position(${value}, ${double}) > 0 AND position(${value}, ${single}) = 0`;
  const inSingle = `concat(${single}, ${write("'")}, ${single})`;
  return `if(${isSingle}, ${inSingle}, concat(${double}, ${write('"')}, ${double}))`;
}

function escapedText(value: string, quote: string, parts: StatementParts): string {
  const pairs = [
    ['\\', '\\\\'],
    ['\n', '\\n'],
    ['\r', '\\r'],
    ['\t', '\\t'],
    ...(quote === '' ? [] : [[quote, `\\${quote}`]]),
  ];
  return pairs.reduce(
    (text, [from, to]) => `replaceAll(${text}, ${parts.text(from!)}, ${parts.text(to!)})`,
    value,
  );
}

/** Bytes that are no visible character of ASCII as `\xNN`. */
function escapedBytes(value: string, quote: string, parts: StatementParts): string {
  const escaped = escapedText(value, quote, parts);
  const [at, byte] = [parts.variable(), parts.variable()];
  return parts.once(escaped, (bytes) => {
    const each = `substring(assumeNotNull(${bytes}), ${at}, 1)`;
    const isPlain = `(${byte} >= ' ' AND ${byte} <= '~')`;
    const shown = `if(${isPlain}, ${byte}, concat(${parts.text('\\x')}, lower(hex(${byte}))))`;
    const list = `arrayMap(${at} -> ${each}, range(1, length(assumeNotNull(${bytes})) + 1))`;
    return `arrayStringConcat(arrayMap(${byte} -> ${shown}, ${list}))`;
  });
}
