import { arrayOf, type SqlType, typeName } from '../../../engine/columns.ts';
import type { AggregateCall } from '../../../engine/index.ts';
import { momentsSql } from './moments-sql.ts';
import { numberOfFloat, numberOfInteger } from './number-sql.ts';
import { quantilesSql } from './quantiles-sql.ts';
import { refuse, UNSUPPORTED } from './refusal.ts';
import { groupKeyOf, sortKeysOf } from './sort-sql.ts';
import { isNull, nullOf, storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';
import { topValuesSql } from './top-values-sql.ts';

/**
 * Computes a function of ClickHouse over the rows of a group, or of a window's frame, those that a condition leaves, and
 * gives the name of its column. A condition is 1 or 0.
 */
export type Reduce = (name: string, inputs: readonly string[], condition?: string) => string;

/** The function that takes a condition as its last argument. The parameters of a function are part of its name. */
export function withConditions(name: string): string {
  return name.replace(/^\w+/, '$&If');
}

/** A call whose arguments are columns below. */
export type AggregateSqlCall = {
  readonly call: AggregateCall;
  readonly type: SqlType;
  /** Names of the columns that hold the arguments, and their types. */
  readonly arguments: readonly string[];
  readonly types: readonly SqlType[];
  /** Of an aggregate that takes rows in an order, the column that numbers them. */
  readonly position?: string | undefined;
  /** A condition that holds for the first of equal values, where each value is to be taken once. */
  readonly isFirst?: string | undefined;
  readonly reduce: Reduce;
  readonly parts: StatementParts;
};

type AggregateSql = (call: AggregateSqlCall) => string;

/** The aggregates that ClickHouse computes exactly, by their names in the registry of the engine. */
const AGGREGATES: ReadonlyMap<string, AggregateSql> = new Map(
  Object.entries({
    count,
    countif: countIf,
    min: extreme('argMin', 'min'),
    max: extreme('argMax', 'max'),
    any_value: anyValue,
    logical_and: truths('min'),
    logical_or: truths('max'),
    sum,
    avg: average,
    approx_quantiles: quantilesSql,
    approx_count_distinct: (call) => countDistinct(call),
    bit_and: bits('groupBitAnd'),
    bit_or: bits('groupBitOr'),
    bit_xor: bits('groupBitXor'),
    array_agg: collectArray,
    array_concat_agg: concatArrays,
    string_agg: joinTexts,
    ...momentsSql,
    ...topValuesSql,
  } satisfies Readonly<Record<string, AggregateSql>>),
);

export function renderedAggregateNames(): readonly string[] {
  return [...AGGREGATES.keys()];
}

/** The answers of these do not change where each value is taken once. */
const DISTINCT_MEANS_NOTHING: ReadonlySet<string> = new Set([
  ...['min', 'max', 'any_value', 'logical_and', 'logical_or', 'bit_and', 'bit_or'],
  'approx_count_distinct',
]);

/** These count distinct values by themselves. */
const DISTINCT_IS_COUNTED: ReadonlySet<string> = new Set(['count', 'countif']);

/** Whether a call needs to know which rows are the first of their value. */
export function takesFirsts({ name, distinct }: AggregateCall): boolean {
  return distinct && !DISTINCT_MEANS_NOTHING.has(name) && !DISTINCT_IS_COUNTED.has(name);
}

/** Refuses an aggregate, or a modifier of one, that ClickHouse has no exact form of. */
export function aggregateSql(of: AggregateSqlCall): string {
  const { name, nulls } = of.call;
  const shown = name.toUpperCase();
  const render = AGGREGATES.get(name);
  if (render === undefined) return refuse(`the aggregate ${shown}`, undefined);
  if (nulls === 'respect' && name !== 'array_agg')
    return refuse(`${shown} with RESPECT NULLS`, undefined);
  if (of.isFirst === undefined) return render(of);
  return render({ ...of, reduce: withCondition(of.reduce, of.isFirst) });
}

/** Takes only rows for which a condition holds. */
function withCondition(reduce: Reduce, always: string): Reduce {
  return (name, inputs, condition) =>
    reduce(name, inputs, condition === undefined ? always : `${always} AND ${condition}`);
}

function typeOf({ types }: AggregateSqlCall): SqlType {
  return types[0]!;
}

function isThere(value: string, type: SqlType): string {
  return `NOT ${isNull(value, type)}`;
}

function count(of: AggregateSqlCall): string {
  const [value] = of.arguments;
  if (value !== undefined && of.call.distinct) return countDistinct(of);
  if (value === undefined) return countRows(of.reduce);
  return `toInt64(${of.reduce('count', [], isThere(value, typeOf(of)))})`;
}

export function countRows(reduce: Reduce): string {
  return `toInt64(${reduce('count', [])})`;
}

function countDistinct(of: AggregateSqlCall): string {
  const type = typeOf(of);
  const value = of.arguments[0]!;
  return `toInt64(${of.reduce('uniqExact', [groupKeyOf(value, type)], isThere(value, type))})`;
}

function countIf({ arguments: [truth], call, reduce }: AggregateSqlCall): string {
  if (call.distinct) return `toInt64(ifNull(${reduce('max', [truth!])}, 0))`;
  return `toInt64(${reduce('count', [], `ifNull(${truth}, 0)`)})`;
}

/** Of BOOL: the least or greatest value. */
function truths(name: 'min' | 'max'): AggregateSql {
  return ({ arguments: [truth], reduce }) => reduce(name, [truth!]);
}

function bits(name: string): AggregateSql {
  return ({ arguments: [value], reduce }) =>
    `if(${reduce('count', [value!])} = 0, NULL, ${reduce(name, [value!])})`;
}

type ByKey = 'argMin' | 'argMax';

/** MIN and MAX. */
function extreme(byKey: ByKey, plain: 'min' | 'max'): AggregateSql {
  return (of) => {
    const type = typeOf(of);
    const value = of.arguments[0]!;
    switch (type.kind) {
      case 'FLOAT64': {
        const nanCount = of.reduce('count', [], `ifNull(isNaN(${value}), 0)`);
        return `if(${nanCount} > 0, nan, ${of.reduce(plain, [groupKeyOf(value, type)])})`;
      }
      case 'NUMBER':
        return extremeOfHalves(plain, of);
      case 'DYNAMIC':
        return extremeOfKinds(byKey, of);
      case 'ARRAY':
      case 'STRUCT':
      case 'JSON':
        return refuse(`${plain.toUpperCase()} of ${typeName(type)}`, undefined);
      default:
        return of.reduce(plain, [value]);
    }
  };
}

/** Of NUMBERs that of the whole ones or that of the fractions. ClickHouse compares the two by their exact values. */
function extremeOfHalves(
  plain: 'min' | 'max',
  { arguments: [value], reduce, type }: AggregateSqlCall,
): string {
  const [whole, fraction] = [1, 2].map((half) => reduce(plain, [`${value}.${half}`]));
  const nanCount = reduce('count', [], `ifNull(isNaN(${value}.2), 0)`);
  const isWhole = `${nanCount} = 0 AND ifNull(${whole} ${plain === 'min' ? '<=' : '>='} ${fraction}, isNull(${fraction}))`;
  const half = `multiIf(${isWhole}, tuple(${whole}, NULL), ${nanCount} = 0, tuple(NULL, ${fraction}), tuple(NULL, nan))`;
  return `CAST(${half}, '${storedType(type)}')`;
}

/** Of the numbers of a group; if there are none, of its texts, and else of its booleans. */
function extremeOfKinds(byKey: ByKey, { arguments: [value], reduce }: AggregateSqlCall): string {
  const [, near, rest, text] = sortKeysOf(value!, { kind: 'DYNAMIC' }) as [
    string,
    string,
    string,
    string,
  ];
  const { isNumber, isText, isTruth } = kindsOf(value!);
  const [numbers, texts, truthsOf] = [
    reduce(byKey, [`tuple(${value})`, `tuple(${near}, ${rest})`], isNumber),
    reduce(byKey, [`tuple(${value})`, text], isText),
    reduce(byKey, [`tuple(${value})`, `assumeNotNull(${value})`], isTruth),
  ].map((name) => `${name}.1`);
  const [numberCount, textCount] = [reduce('count', [], isNumber), reduce('count', [], isText)];
  return `multiIf(${numberCount} > 0, ${numbers}, ${textCount} > 0, ${texts}, ${truthsOf})`;
}

/** Of which kind a DYNAMIC value is: 1 or 0. */
export function kindsOf(value: string) {
  return {
    isNumber: `ifNull(match(${value}, '^[-0-9]'), 0)`,
    isText: `ifNull(startsWith(${value}, '"'), 0)`,
    isTruth: `ifNull(${value} IN ('true', 'false'), 0)`,
  };
}

/** The least value in the order of ORDER BY. */
function anyValue(of: AggregateSqlCall): string {
  const type = typeOf(of);
  const value = of.arguments[0]!;
  if (type.kind === 'ARRAY' || type.kind === 'STRUCT') {
    const [, key] = sortKeysOf(value, type) as [string, string];
    return of.reduce('argMin', [value, key], isThere(value, type));
  }
  if (type.kind === 'DYNAMIC') return refuse(`ANY_VALUE of ${typeName(type)}`, undefined);
  return extreme('argMin', 'min')(of);
}

const INT64_MAX = '9223372036854775807';
const INT64_MIN = "toInt128('-9223372036854775808')";

/** The sum of INT64 in 128 bits, which hold it for any number of rows. */
function checkedInteger(exact: string, parts: StatementParts): string {
  return parts.once(exact, (sum) => {
    const isBad = `${sum} > ${INT64_MAX} OR ${sum} < ${INT64_MIN}`;
    const message = 'integer overflow in SUM';
    const raised = parts.raise(isBad, { code: 'query_failed', message, span: undefined });
    return `if(${raised} = 0, toInt64(${sum}), NULL)`;
  });
}

/** The last digits of a sum of fractions may differ from those of the embedded engine, which rounds the exact sum. */
function sum(of: AggregateSqlCall): string {
  const value = of.arguments[0]!;
  const type = typeOf(of);
  const { parts, reduce } = of;
  switch (type.kind) {
    case 'INT64':
      return checkedInteger(reduce('sum', [`toInt128(${value})`]), parts);
    case 'FLOAT64':
      return checkedFloat(value, floatSum(value, reduce), of, OVERFLOW);
    case 'NUMBER': {
      const exact = reduce('sum', [`toInt128(${value}.1)`]);
      const whole = numberOfInteger(checkedInteger(exact, parts));
      const fraction = numberOfFloat(floatTotal(of, OVERFLOW), parts);
      const none = nullOf(type);
      const counted = reduce('count', [], isThere(value, type));
      const fractionCount = reduce('count', [`${value}.2`]);
      return `multiIf(${counted} = 0, ${none}, ${fractionCount} = 0, ${whole}, ${fraction})`;
    }
    default:
      return refuse(`SUM of ${typeName(type)}`, undefined);
  }
}

const OVERFLOW = 'floating point overflow in SUM';

/** Of NUMBERs, some of which are fractions. */
function floatTotal(of: AggregateSqlCall, message: string): string {
  const [value] = of.arguments;
  const fractions = `${value}.2`;
  const whole = of.reduce('sum', [`toInt128(${value}.1)`]);
  const total = `ifNull(toFloat64(${whole}), 0) + ifNull(${floatSum(fractions, of.reduce)}, 0)`;
  return checkedFloat(fractions, total, of, message);
}

/** A finite sum is wanted of finite values. */
function checkedFloat(
  values: string,
  total: string,
  { reduce, parts }: Pick<AggregateSqlCall, 'reduce' | 'parts'>,
  message: string,
): string {
  const isInfinite = `${infiniteCount(values, reduce)} > 0`;
  return parts.once(total, (result) => {
    const failure = { code: 'query_failed', message, span: undefined } as const;
    const raised = parts.raise(`NOT isFinite(${result}) AND NOT (${isInfinite})`, failure);
    return `if(${raised} = 0, ${result}, NULL)`;
  });
}

/** The sum as a double by the number of values. */
function average(of: AggregateSqlCall): string {
  const {
    arguments: [value],
    reduce,
  } = of;
  const type = typeOf(of);
  switch (type.kind) {
    case 'INT64': {
      const counted = reduce('count', [value!]);
      return `if(${counted} = 0, NULL, toFloat64(${reduce('sum', [`toInt128(${value})`])}) / ${counted})`;
    }
    case 'FLOAT64':
      return floatAverage(value!, reduce);
    case 'NUMBER': {
      const counted = reduce('count', [], isThere(value!, type));
      const total = floatTotal(of, `${UNSUPPORTED} AVG of fields whose sum is beyond FLOAT64`);
      return `if(${counted} = 0, NULL, ${total} / ${counted})`;
    }
    default:
      return refuse(`AVG of ${typeName(type)}`, undefined);
  }
}

function infiniteCount(value: string, reduce: Reduce): string {
  return reduce('count', [], `ifNull(NOT isFinite(${value}), 0)`);
}

/** Kahan's sum is NaN beside infinities. */
function floatSum(value: string, reduce: Reduce): string {
  const [plain, precise] = [reduce('sum', [value]), reduce('sumKahan', [value])];
  return `if(${infiniteCount(value, reduce)} > 0, ${plain}, ${precise})`;
}

/** Where the sum is beyond a double, in a range that is 2^64 lower. */
function floatAverage(value: string, reduce: Reduce): string {
  const total = floatSum(value, reduce);
  const counted = reduce('count', [value]);
  const isBeyond = `NOT isFinite(${total}) AND ${infiniteCount(value, reduce)} = 0`;
  const low = reduce('sumKahan', [`${value} * pow(2, -64)`]);
  const scaled = `${low} / ${counted} * pow(2, 64)`;
  return `multiIf(${counted} = 0, NULL, ${isBeyond}, ${scaled}, ${total} / ${counted})`;
}

/** The values of a group in their order, as an Array of ClickHouse. */
function collected(of: AggregateSqlCall, withNulls: boolean): string {
  const { parts, position, call, reduce } = of;
  const value = of.arguments[0]!;
  if (of.isFirst !== undefined && position === undefined) {
    return refuse(`${call.name.toUpperCase()} with DISTINCT and without an order`, undefined);
  }
  const entry = `tuple(${position ?? '0'}, ${value})`;
  const taken = reduce('groupArray', [entry], withNulls ? undefined : isThere(value, typeOf(of)));
  const name = parts.variable();
  const values = `arrayMap(${name} -> ${name}.2, arraySort(${name} -> ${name}.1, ${taken}))`;
  if (call.limit === undefined) return values;
  const limit = call.limit.op === 'literal' ? call.limit.value : null;
  if (typeof limit !== 'number' || limit < 0) {
    return refuse(`${call.name.toUpperCase()} with this limit`, undefined);
  }
  return `arraySlice(${values}, 1, ${limit})`;
}

function collectArray(of: AggregateSqlCall): string {
  const stored = storedType(arrayOf(typeOf(of)));
  const values = collected(of, of.call.nulls !== 'ignore');
  return of.parts.once(values, (list) => `CAST(if(empty(${list}), [], [${list}]), '${stored}')`);
}

/** The elements of all arrays that are no NULLs. */
function concatArrays(of: AggregateSqlCall): string {
  const type = typeOf(of);
  if (type.kind !== 'ARRAY') return refuse(`ARRAY_CONCAT_AGG of ${typeName(type)}`, undefined);
  return of.parts.once(collected(of, false), (lists) => {
    const [one, joined] = [of.parts.variable(), of.parts.variable()];
    const none = `CAST([], 'Array(${storedType(type.element)})')`;
    const all = `arrayFold((${joined}, ${one}) -> arrayConcat(${joined}, ${one}[1]), ${lists}, ${none})`;
    return `CAST(if(empty(${lists}), [], [${all}]), '${storedType(type)}')`;
  });
}

function joinTexts(of: AggregateSqlCall): string {
  const [separator] = of.call.constants;
  const value = separator === undefined ? ',' : separator.op === 'literal' ? separator.value : null;
  if (typeof value !== 'string') return refuse('STRING_AGG with this separator', undefined);
  const { parts } = of;
  const text = parts.variable();
  return parts.once(
    collected(of, false),
    (list) =>
      `if(empty(${list}), NULL, arrayStringConcat(arrayMap(${text} -> assumeNotNull(${text}), ${list}), ${parts.text(value)}))`,
  );
}
