import { elementTypeOf, type Span, type SqlType, unreachable } from '../../../engine/columns.ts';
import { refuse } from './refusal.ts';
import { asColumn, nullOf, storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import { dateOfText, datetimeOfText, timeOfDayOfText, timestampOfText } from './time-text-sql.ts';

/**
 * DYNAMIC values are JSON texts as ClickHouse's `JSONExtractRaw` writes them: one text for each number and each string.
 * The first character tells the kind. A record that is a field's value is a list of one (`EventRow.body`).
 */

/**
 * The field `name` of a record or of a list of one record; NULL for any other value. By the rules of `Nested.field`.
 * `isRecord`: it is known to be a record.
 */
export function dynamicField(
  record: string,
  name: string,
  parts: StatementParts,
  isRecord = false,
): string {
  const exact = parts.text(name);
  const lower = parts.text(name.toLowerCase());
  return parts.once(isRecord ? record : onlyRecord(record, parts), (only) =>
    parts.once(`JSONExtractRaw(${only}, ${exact})`, (found) => {
      const pair = parts.variable();
      // Only where no key is equal does one count that differs in case.
      const similar = `arrayFirst(${pair} -> lowerUTF8(${pair}.1) = ${lower}, JSONExtractKeysAndValuesRaw(ifNull(${only}, ''))).2`;
      return parts.once(`if(${found} = '', ${similar}, ${found})`, present);
    }),
  );
}

/** NULL where there is no text, or that of JSON's null. */
function present(text: string): string {
  return `if(${text} IN ('', 'null'), NULL, ${text})`;
}

/** The text of a record; of a list, that of its only element if this is a record. */
function onlyRecord(value: string, parts: StatementParts): string {
  return parts.once(value, (text) => {
    const isList = `startsWith(${text}, '[{') AND JSONLength(${text}) = 1`;
    return `multiIf(startsWith(${text}, '{'), ${text}, ${isList}, JSONExtractRaw(${text}, 1), NULL)`;
  });
}

/** The elements of a list as an Array; a record is a list of itself, and any other value has none. */
export function dynamicElements(value: string, parts: StatementParts): string {
  return parts.once(value, (text) => {
    const element = parts.variable();
    const list = `arrayMap(${element} -> nullIf(${element}, 'null'), JSONExtractArrayRaw(assumeNotNull(${text})))`;
    const one = `[toNullable(assumeNotNull(${text}))]`;
    const none = `CAST([], 'Array(Nullable(String))')`;
    return `multiIf(startsWith(${text}, '['), ${list}, startsWith(${text}, '{'), ${one}, ${none})`;
  });
}

/** The elements as a value of type ARRAY<DYNAMIC>: NULL where the value is no list and no record. */
export function dynamicList(value: string, parts: StatementParts): string {
  return parts.once(value, (text) => {
    const none = `CAST([], 'Array(Array(Nullable(String)))')`;
    const isList = `startsWith(${text}, '[') OR startsWith(${text}, '{')`;
    return `if(${isList}, [${dynamicElements(text, parts)}], ${none})`;
  });
}

/** A DYNAMIC value where a type is wanted, by `readAs` of the engine. */
export function readDynamic(
  value: string,
  type: SqlType,
  { parts, span }: { readonly parts: StatementParts; readonly span?: Span | undefined },
): string {
  switch (type.kind) {
    case 'DYNAMIC':
      return value;
    case 'BOOL':
      return parts.once(
        value,
        (text) =>
          `CAST(multiIf(${text} = 'true', 1, ${text} = 'false', 0, NULL), 'Nullable(UInt8)')`,
      );
    case 'INT64':
      return parts.once(value, wholeNumber);
    case 'FLOAT64':
      return parts.once(value, (text) => `if(${isNumber(text)}, ${anyNumber(text)}, NULL)`);
    case 'NUMBER':
      return readNumber(value, parts);
    case 'STRING':
      return readText(value, parts);
    case 'ARRAY':
      return readElements(dynamicList(value, parts), elementTypeOf(type), { parts, span });
    case 'BYTES':
    case 'JSON':
    case 'STRUCT':
    case 'NULL':
      return nullOf(type, span);
    case 'TIMESTAMP':
      return readTime(value, timestampOfText, { parts, span });
    case 'DATETIME':
      return readTime(value, datetimeOfText, { parts, span });
    case 'DATE':
      return readTime(value, dateOfText, { parts, span });
    case 'TIME':
      return readTime(value, timeOfDayOfText, { parts, span });
    case 'INTERVAL':
      return refuse(`a field that is read as ${type.kind}`, span);
    default:
      return unreachable(type);
  }
}

/** An ARRAY of DYNAMIC as one of another type. */
export function readElements(list: string, element: SqlType, context: TextContext): string {
  if (element.kind === 'DYNAMIC') return list;
  const { parts } = context;
  const [name, inner] = [parts.variable(), parts.variable()];
  const read = asColumn(readDynamic(name, element, context), element);
  return `arrayMap(${inner} -> arrayMap(${name} -> ${read}, ${inner}), ${list})`;
}

type TextContext = { readonly parts: StatementParts; readonly span: Span | undefined };

/** A text that is none of a type is NULL. */
function readTime(
  value: string,
  read: (text: string, context: TextContext) => string,
  { parts, span }: TextContext,
): string {
  return parts.once(value, (json) => {
    const text = `if(startsWith(${json}, '"'), JSONExtractString(assumeNotNull(${json})), NULL)`;
    return parts.once(
      text,
      (known) => `if(isNull(${known}), NULL, ${read(known, { parts, span })})`,
    );
  });
}

function isNumber(text: string): string {
  return `match(${text}, '^[-0-9]')`;
}

/** NULL for a fraction, and beyond 64 bits. ClickHouse itself would cut fractions off. */
function wholeNumber(text: string): string {
  return `if(match(${text}, '^-?[0-9]+$'), JSONExtract(assumeNotNull(${text}), 'Nullable(Int64)'), NULL)`;
}

/** The nearest double. Digits of an integer beyond 64 bits would be no JSON to ClickHouse. */
export function anyNumber(text: string): string {
  return `JSONExtractFloat(if(match(${text}, '^-?[0-9]+$'), concat(assumeNotNull(${text}), '.0'), assumeNotNull(${text})))`;
}

function readNumber(value: string, parts: StatementParts): string {
  const stored = storedType({ kind: 'NUMBER' });
  return parts.once(value, (text) =>
    parts.once(wholeNumber(text), (whole) => {
      const fraction = `if(isNull(${whole}) AND ${isNumber(text)}, ${anyNumber(text)}, NULL)`;
      return `CAST(tuple(${whole}, ${fraction}), '${stored}')`;
    }),
  );
}

/** The text of a scalar as CAST writes it; NULL for lists and records. */
function readText(value: string, parts: StatementParts): string {
  return parts.once(value, (text) => {
    const isText = `startsWith(${text}, '"')`;
    const isNested = `startsWith(${text}, '[') OR startsWith(${text}, '{')`;
    const decoded = `JSONExtractString(assumeNotNull(${text}))`;
    const isWhole = `match(${text}, '^-?[0-9]+$')`;
    const isTruth = `${text} IN ('true', 'false')`;
    const fraction = floatText(anyNumber(text), parts);
    return `multiIf(${isText}, ${decoded}, isNull(${text}) OR ${isNested}, NULL, ${isTruth}, ${text}, ${isWhole}, if(${text} = '-0', '0', ${text}), ${fraction})`;
  });
}

/** A FLOAT64 as CAST writes it, by `formatFloat64` of the engine. */
export function floatText(value: string, parts: StatementParts): string {
  return parts.once(value, (number) =>
    parts.once(`printf('%.15g', ${number})`, (short) => {
      const isExact = `JSONExtractFloat(assumeNotNull(${short})) = ${number} OR NOT isFinite(${number})`;
      return `multiIf(isNull(${number}), NULL, ${number} = 0, '0', ${isExact}, ${short}, printf('%.17g', ${number}))`;
    }),
  );
}
