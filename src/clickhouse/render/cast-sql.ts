import { type Span, type SqlType, typeName, typesEqual } from '../../../engine/columns.ts';
import type { Expression } from '../../../engine/index.ts';
import { anyNumber, floatText, readDynamic } from './dynamic-sql.ts';
import { INTERVAL_BOUNDS, intervalText } from './interval-sql.ts';
import { amountsOfText } from './interval-text-sql.ts';
import { asNumber, SAFE_INTEGER_MAX } from './number-sql.ts';
import { refuse, UNSUPPORTED } from './refusal.ts';
import { nullOf, storedType } from './sql-type.ts';
import { canRaise, type StatementParts } from './statement-parts.ts';
import { dateText, datetimeText, dayOf, modulo, timeOfDayText, US_PER_DAY } from './time-sql.ts';
import { dateOfText, datetimeOfText, timeOfDayOfText, timestampOfText } from './time-text-sql.ts';

type Cast = Extract<Expression, { readonly op: 'cast' }>;

type CastContext = {
  readonly to: SqlType;
  readonly safe: boolean;
  readonly span: Span | undefined;
  readonly parts: StatementParts;
};

/** CAST and SAFE_CAST. `value` is the input. */
export function castSql(
  value: string,
  { input: { type: from }, type: to, safe, span }: Cast,
  parts: StatementParts,
): string {
  if (typesEqual(from, to)) return value;
  if (from.kind === 'NULL') return nullAs(value, to, span);
  const sql = castValue(value, from, { to, safe, span, parts });
  return sql ?? refuse(`CAST of ${typeName(from)} to ${typeName(to)}`, span);
}

/** NULL as a value of a type; ERROR has no other. */
function nullAs(value: string, to: SqlType, span: Span | undefined): string {
  const none = nullOf(to, span);
  // With a constant for both, ClickHouse would not look at the condition.
  return canRaise(value) ? `if(isNull(${value}), materialize(${none}), ${none})` : none;
}

/** `undefined` where there is no exact way. */
function castValue(value: string, from: SqlType, context: CastContext): string | undefined {
  const { to, parts } = context;
  if (to.kind === 'NUMBER') return asNumber(value, from, parts);
  if (to.kind === 'DYNAMIC') return dynamicOf(value, from, parts);
  if (from.kind === 'DYNAMIC') return castDynamic(value, context);
  if (from.kind === 'STRING') return castText(value, context);
  switch (`${from.kind} ${to.kind}`) {
    case 'INT64 FLOAT64':
      return `toFloat64(${value})`;
    case 'INT64 BOOL':
      return `(${value} != 0)`;
    case 'BOOL INT64':
      return `toInt64(${value})`;
    case 'INT64 STRING':
      return `toString(${value})`;
    case 'BOOL STRING':
      return truthText(value, parts);
    case 'FLOAT64 STRING':
      return floatText(value, parts);
    case 'FLOAT64 INT64':
      return roundedInteger(value, context);
    case 'BYTES STRING':
      return parts.once(value, (bytes) =>
        checked(bytes, `isNotNull(${bytes}) AND NOT isValidUTF8(${bytes})`, context),
      );
    case 'INTERVAL STRING':
      return parts.once(
        value,
        (interval) =>
          `if(empty(${interval}), NULL, ${parts.once(`${interval}[1]`, (one) => intervalText(one, parts))})`,
      );
    case 'DATE STRING':
      return dateText(value, parts);
    case 'TIME STRING':
      return timeOfDayText(value, parts);
    case 'DATETIME STRING':
      return datetimeText(value, parts);
    case 'TIMESTAMP STRING':
      return `concat(${datetimeText(value, parts)}, '+00')`;
    case 'DATETIME TIMESTAMP':
    case 'TIMESTAMP DATETIME':
      return value;
    case 'DATE TIMESTAMP':
    case 'DATE DATETIME':
      return `(${value} * ${US_PER_DAY})`;
    case 'TIMESTAMP DATE':
    case 'DATETIME DATE':
      return dayOf(value, parts);
    case 'TIMESTAMP TIME':
    case 'DATETIME TIME':
      return modulo(value, US_PER_DAY);
    default:
      return undefined;
  }
}

/** A text that is read as a value of another type. */
function castText(value: string, context: CastContext): string | undefined {
  const { to, parts } = context;
  switch (to.kind) {
    case 'BOOL':
      return parts.once(`lower(${value})`, (word) =>
        checked(`(${word} = 'true')`, `${word} NOT IN ('true', 'false')`, context),
      );
    case 'INT64':
      return parsedInteger(value, context);
    case 'FLOAT64':
      return parsedFloat(value, context);
    case 'TIMESTAMP':
      return checkedText(value, timestampOfText, context);
    case 'DATETIME':
      return checkedText(value, datetimeOfText, context);
    case 'DATE':
      return checkedText(value, dateOfText, context);
    case 'TIME':
      return checkedText(value, timeOfDayOfText, context);
    case 'INTERVAL':
      return parts.once(value, (text) => parsedInterval(text, context));
    case 'BYTES':
      return value;
    default:
      return undefined;
  }
}

/** The value, where a condition is false; else the error of CAST, or NULL. */
function checked(value: string, isBad: string, { to, safe, span, parts }: CastContext): string {
  const none = nullOf(to, span);
  if (safe) return `if(ifNull(${isBad}, 0), ${none}, ${value})`;
  const message = `cannot cast a value to ${typeName(to)}`;
  const raised = parts.raise(isBad, { code: 'query_failed', message, span });
  return `if(${raised} = 0, ${value}, ${none})`;
}

/** A text that is read as a time. */
function checkedText(
  value: string,
  read: (text: string, context: CastContext) => string,
  context: CastContext,
): string {
  const { parts } = context;
  return parts.once(value, (text) =>
    parts.once(read(text, context), (time) => {
      const isBad = `isNotNull(${text}) AND isNull(${time})`;
      return checked(`if(isNull(${text}), NULL, ${time})`, isBad, context);
    }),
  );
}

function parsedInterval(text: string, context: CastContext): string {
  const { parts, to } = context;
  return parts.once(amountsOfText(`ifNull(${text}, '')`, context), (amounts) => {
    const isBeyond = INTERVAL_BOUNDS.map(
      (most, index) => `abs(${amounts}[1].${index + 1}) > ${most}`,
    );
    const isBad = `isNotNull(${text}) AND (empty(${amounts}) OR ${isBeyond.join(' OR ')})`;
    const known = `if(isNull(${text}), [], ${amounts})`;
    return checked(`CAST(${known}, '${storedType(to)}')`, isBad, context);
  });
}

function truthText(value: string, parts: StatementParts): string {
  return parts.once(value, (truth) => `if(isNull(${truth}), NULL, if(${truth}, 'true', 'false'))`);
}

/** JSON of a scalar. */
function dynamicOf(value: string, from: SqlType, parts: StatementParts): string | undefined {
  switch (from.kind) {
    case 'STRING':
      return parts.once(value, (text) => `if(isNull(${text}), NULL, toJSONString(${text}))`);
    case 'INT64':
      return `toString(${value})`;
    case 'BOOL':
      return truthText(value, parts);
    case 'NUMBER':
      return parts.once(value, (number) => `ifNull(toString(${number}.1), toString(${number}.2))`);
    case 'FLOAT64':
      return parts.once(value, (number) => {
        const raised = parts.raise(`NOT (abs(${number}) <= ${SAFE_INTEGER_MAX})`, {
          code: 'query_failed',
          message: `${UNSUPPORTED} a FLOAT64 beside fields that is NaN or beyond 2^53`,
          span: undefined,
        });
        return `if(${raised} = 0, toString(${number}), NULL)`;
      });
    default:
      return undefined;
  }
}

/** By the value's kind. Of a list or record there is only the JSON, as a STRING. */
function castDynamic(value: string, context: CastContext): string | undefined {
  const { to, parts } = context;
  return parts.once(value, (text) => {
    const isNested = `(startsWith(${text}, '[') OR startsWith(${text}, '{'))`;
    if (to.kind === 'STRING') {
      return `if(${isNested}, ${text}, ${readDynamic(text, to, { parts })})`;
    }
    // Of a constant condition ClickHouse raises the failure before a list is joined, where there may be no element.
    const none = checked(`materialize(${nullOf(to)})`, `isNotNull(${text})`, context);
    const ofKind = (sql: string, from: SqlType) =>
      typesEqual(from, to) ? sql : (castValue(sql, from, context) ?? none);
    const string = `JSONExtractString(assumeNotNull(${text}))`;
    const whole = readDynamic(text, { kind: 'INT64' }, { parts });
    const branches = [
      `isNull(${text}), ${nullOf(to)}`,
      `startsWith(${text}, '"'), ${parts.once(string, (known) => ofKind(known, { kind: 'STRING' }))}`,
      `${text} IN ('true', 'false'), ${ofKind(`toUInt8(${text} = 'true')`, { kind: 'BOOL' })}`,
      `isNotNull(${whole}), ${parts.once(whole, (known) => ofKind(known, { kind: 'INT64' }))}`,
      `NOT ${isNested}, ${parts.once(anyNumber(text), (known) => ofKind(known, { kind: 'FLOAT64' }))}`,
    ];
    return `multiIf(${branches.join(', ')}, ${none})`;
  });
}

/** Halves are rounded away from zero. */
function roundedInteger(value: string, context: CastContext): string {
  return context.parts.once(value, (number) => {
    const whole = `trunc(${number})`;
    const rounded = `if(abs(${number} - ${whole}) >= 0.5, ${whole} + sign(${number}), ${whole})`;
    return context.parts.once(rounded, (near) => {
      // 2^63 and below −2^63 there is no INT64; NaN is neither.
      const fits = `${near} >= -9223372036854775808. AND ${near} < 9223372036854775808.`;
      return checked(`toInt64(if(ifNull(${fits}, 1), ${near}, 0))`, `NOT (${fits})`, context);
    });
  });
}

/** Decimal or hexadecimal digits with a sign, and ASCII white space around them. */
function parsedInteger(value: string, context: CastContext): string {
  const { parts } = context;
  const trimmed = `replaceRegexpAll(${value}, '^[\\t-\\r ]+|[\\t-\\r ]+$', '')`;
  return parts.once(trimmed, (text) =>
    parts.once(
      `replaceRegexpOne(${text}, '^[-+]?(?:0[xX])?0*([0-9a-fA-F])', '\\\\1')`,
      (digits) => {
        const isHexadecimal = `match(${text}, '^[-+]?0[xX][0-9a-fA-F]+$') AND length(${digits}) <= 16`;
        const hexadecimal = `reinterpretAsUInt64(reverse(unhex(leftPad(assumeNotNull(${digits}), 16, '0'))))`;
        // Int128 has room for 20 digits and more.
        const isDecimal = `match(${text}, '^[-+]?[0-9]+$') AND length(${digits}) <= 20`;
        const magnitude = `multiIf(${isHexadecimal}, toInt128(${hexadecimal}), ${isDecimal}, toInt128OrNull(assumeNotNull(${digits})), NULL)`;
        return parts.once(`${magnitude} * if(startsWith(${text}, '-'), -1, 1)`, (whole) => {
          const isBad = `isNotNull(${text}) AND (isNull(${whole}) OR ${whole} > 9223372036854775807 OR ${whole} < toInt128('-9223372036854775808'))`;
          return checked(`toInt64(${whole})`, isBad, context);
        });
      },
    ),
  );
}

/** Decimal digits with a point and an exponent, `inf`, `infinity` or `nan`; hexadecimal digits are refused as they are met. */
function parsedFloat(value: string, context: CastContext): string {
  const { parts, span } = context;
  const trimmed = `replaceRegexpAll(${value}, '^[\\t-\\r ]+|[\\t-\\r ]+$', '')`;
  return parts.once(trimmed, (text) => {
    const isHexadecimal = `match(${text}, '^[-+]?0[xX][.0-9a-fA-F]')`;
    const message = `${UNSUPPORTED} CAST of hexadecimal digits to FLOAT64`;
    const raised = parts.raise(isHexadecimal, { code: 'query_failed', message, span });
    const isDecimal = `match(${text}, '^[-+]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][-+]?[0-9]+)?$')`;
    const sign = `if(startsWith(${text}, '-'), -1, 1)`;
    // ClickHouse has no answer for digits beyond a double.
    const decimal = `ifNull(toFloat64OrNull(assumeNotNull(${text})), ${sign} * inf)`;
    const word = `replaceRegexpOne(lower(${text}), '^[-+]', '')`;
    const special = `multiIf(${word} IN ('inf', 'infinity'), ${sign} * inf, ${word} = 'nan', nan, NULL)`;
    return parts.once(
      `multiIf(${raised} = 1, NULL, ${isDecimal}, ${decimal}, ${special})`,
      (number) => checked(number, `isNotNull(${text}) AND isNull(${number})`, context),
    );
  });
}
