import { type SqlType, typeName, typesEqual } from '../../../engine/column/type.ts';
import type { Expression } from '../../../engine/plan/expression.ts';
import type { Span } from '../../../engine/query-error.ts';
import { floatText, readDynamic } from './dynamic-sql.ts';
import { asNumber } from './number-sql.ts';
import { refuse, UNSUPPORTED } from './refusal.ts';
import { nullOf } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import { dateText, datetimeText, dayOf, modulo, timeOfDayText, US_PER_DAY } from './time-sql.ts';

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
  if (from.kind === 'NULL') return nullOf(to, span);
  const sql = castValue(value, from, { to, safe, span, parts });
  return sql ?? refuse(`CAST of ${typeName(from)} to ${typeName(to)}`, span);
}

/** `undefined` where there is no exact way. */
function castValue(value: string, from: SqlType, context: CastContext): string | undefined {
  const { to, parts } = context;
  if (to.kind === 'NUMBER') return asNumber(value, from, parts);
  if (to.kind === 'DYNAMIC') return dynamicOf(value, from, parts);
  if (from.kind === 'DYNAMIC') return castDynamic(value, context);
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
      return `if(isNull(${value}), NULL, if(${value}, 'true', 'false'))`;
    case 'FLOAT64 STRING':
      return floatText(value, parts);
    case 'FLOAT64 INT64':
      return roundedInteger(value, context);
    case 'STRING BOOL':
      return parts.once(`lower(${value})`, (word) =>
        checked(`(${word} = 'true')`, `${word} NOT IN ('true', 'false')`, context),
      );
    case 'STRING INT64':
      return parsedInteger(value, context);
    case 'STRING FLOAT64':
      return parsedFloat(value, context);
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

/** The value, where a condition is false; else the error of CAST, or NULL. */
function checked(value: string, isBad: string, { to, safe, span, parts }: CastContext): string {
  const none = nullOf(to, span);
  if (safe) return `if(ifNull(${isBad}, 0), ${none}, ${value})`;
  const message = `cannot cast a value to ${typeName(to)}`;
  return `if(${parts.raise(isBad, { code: 'query_failed', message, span })} = 0, ${value}, ${none})`;
}

/** JSON of a scalar. */
function dynamicOf(value: string, from: SqlType, parts: StatementParts): string | undefined {
  switch (from.kind) {
    case 'STRING':
      return `if(isNull(${value}), NULL, toJSONString(${value}))`;
    case 'INT64':
      return `toString(${value})`;
    case 'BOOL':
      return `if(isNull(${value}), NULL, if(${value}, 'true', 'false'))`;
    case 'NUMBER':
      return parts.once(value, (number) => `ifNull(toString(${number}.1), toString(${number}.2))`);
    default:
      return undefined;
  }
}

/** The text of a scalar, and the JSON of a list or record. */
function castDynamic(value: string, context: CastContext): string | undefined {
  const { to, parts } = context;
  if (to.kind !== 'STRING') return undefined;
  return parts.once(value, (text) => {
    const scalar = readDynamic(text, to, { parts });
    const isNested = `startsWith(${text}, '[') OR startsWith(${text}, '{')`;
    return `if(${isNested}, ${text}, ${scalar})`;
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
