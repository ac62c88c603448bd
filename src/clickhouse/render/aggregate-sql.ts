import { arrayOf, type SqlType, typeName } from '../../../engine/column/type.ts';
import { QUANTILES_MAX } from '../../../engine/limits.ts';
import type { Expression } from '../../../engine/plan/expression.ts';
import type { AggregateCall } from '../../../engine/plan/logical-plan.ts';
import { exactKeys, numberOfFloat, numberOfInteger } from './number-sql.ts';
import { refuse } from './refusal.ts';
import { groupKeyOf, RANKS, sortKeysOf } from './sort-sql.ts';
import { isNull, isScalar, nullOf, storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

/** A call whose arguments are columns below. */
export type AggregateSqlCall = {
  readonly call: AggregateCall;
  readonly type: SqlType;
  /** Names of the columns that hold the arguments. */
  readonly arguments: readonly string[];
  /** Of an aggregate that takes rows in an order, the column that numbers them. */
  readonly position?: string | undefined;
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
    logical_and: ({ arguments: [truth] }) => `min(${truth})`,
    logical_or: ({ arguments: [truth] }) => `max(${truth})`,
    sum,
    avg: average,
    approx_quantiles: quantiles,
    approx_count_distinct: (call) => countDistinct(call),
    bit_and: bits('groupBitAnd'),
    bit_or: bits('groupBitOr'),
    bit_xor: bits('groupBitXor'),
    array_agg: collectArray,
    array_concat_agg: concatArrays,
    string_agg: joinTexts,
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

/** These take each value once where they are asked to. */
const DISTINCT_IS_KEPT: ReadonlySet<string> = new Set([
  'count',
  'countif',
  'array_agg',
  'string_agg',
]);

/** Refuses an aggregate, or a modifier of one, that ClickHouse has no exact form of. */
export function aggregateSql(of: AggregateSqlCall): string {
  const { name, distinct, having, isDeferred, nulls } = of.call;
  const shown = name.toUpperCase();
  const render = AGGREGATES.get(name);
  if (render === undefined) return refuse(`the aggregate ${shown}`, undefined);
  if (having !== undefined) return refuse(`${shown} with HAVING`, undefined);
  if (isDeferred) return refuse(`${shown} whose errors count in some branches only`, undefined);
  if (nulls === 'respect' && name !== 'array_agg')
    return refuse(`${shown} with RESPECT NULLS`, undefined);
  if (distinct && !DISTINCT_MEANS_NOTHING.has(name) && !DISTINCT_IS_KEPT.has(name)) {
    return refuse(`${shown} with DISTINCT`, undefined);
  }
  return render(of);
}

function typeOf({ call }: AggregateSqlCall): SqlType {
  return call.arguments[0]!.type;
}

function isThere(value: string, type: SqlType): string {
  return `NOT ${isNull(value, type)}`;
}

function count(of: AggregateSqlCall): string {
  const [value] = of.arguments;
  if (value === undefined) return 'toInt64(count())';
  if (of.call.distinct) return countDistinct(of);
  return `toInt64(countIf(${isThere(value, typeOf(of))}))`;
}

function countDistinct(of: AggregateSqlCall): string {
  const type = typeOf(of);
  const value = of.arguments[0]!;
  return `toInt64(uniqExactIf(${groupKeyOf(value, type)}, ${isThere(value, type)}))`;
}

function countIf({ arguments: [truth], call }: AggregateSqlCall): string {
  return call.distinct
    ? `toInt64(ifNull(max(${truth}), 0))`
    : `toInt64(countIf(ifNull(${truth}, 0)))`;
}

function bits(name: string): AggregateSql {
  return ({ arguments: [value] }) => `if(count(${value}) = 0, NULL, ${name}(${value}))`;
}

/** MIN and MAX. */
function extreme(byKey: 'argMin' | 'argMax', plain: 'min' | 'max'): AggregateSql {
  return (of) => {
    const type = typeOf(of);
    const value = of.arguments[0]!;
    switch (type.kind) {
      case 'FLOAT64':
        return `if(countIf(isNaN(${value})) > 0, nan, ${plain}(${value}))`;
      case 'NUMBER':
        return `${byKey}If(${value}, tuple(${exactKeys(value).join(', ')}), ${isThere(value, type)})`;
      case 'DYNAMIC':
        return extremeOfKinds(byKey, value);
      case 'ARRAY':
      case 'STRUCT':
      case 'JSON':
        return refuse(`${plain.toUpperCase()} of ${typeName(type)}`, undefined);
      default:
        return `${plain}(${value})`;
    }
  };
}

/** Of the numbers of a group; if there are none, of its texts, and else of its booleans. */
function extremeOfKinds(byKey: 'argMin' | 'argMax', value: string): string {
  const [, near, rest, text] = sortKeysOf(value, { kind: 'DYNAMIC' });
  const isNumber = `ifNull(match(${value}, '^[-0-9]'), 0)`;
  const isText = `ifNull(startsWith(${value}, '"'), 0)`;
  const isTruth = `ifNull(${value} IN ('true', 'false'), 0)`;
  const numbers = `${byKey}If(${value}, tuple(${near}, ${rest}), ${isNumber})`;
  const texts = `${byKey}If(${value}, ${text}, ${isText})`;
  const truths = `${byKey}If(${value}, ${value}, ${isTruth})`;
  return `multiIf(countIf(${isNumber}) > 0, ${numbers}, countIf(${isText}) > 0, ${texts}, countIf(${isTruth}) > 0, ${truths}, NULL)`;
}

/** The least value in the order of ORDER BY. */
function anyValue(of: AggregateSqlCall): string {
  const type = typeOf(of);
  const value = of.arguments[0]!;
  if (type.kind === 'FLOAT64' || type.kind === 'DYNAMIC') {
    return refuse(`ANY_VALUE of ${typeName(type)}`, undefined);
  }
  if (isScalar(type) && type.kind !== 'JSON') return `min(${value})`;
  if (type.kind === 'NUMBER') return extreme('argMin', 'min')(of);
  return refuse(`ANY_VALUE of ${typeName(type)}`, undefined);
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
  const { parts } = of;
  switch (type.kind) {
    case 'INT64':
      return checkedInteger(`sum(toInt128(${value}))`, parts);
    case 'FLOAT64':
      return checkedFloat(floatSum(value), `countIf(NOT isFinite(${value})) > 0`, parts);
    case 'NUMBER': {
      const whole = numberOfInteger(checkedInteger(`sum(toInt128(${value}.1))`, parts));
      const fraction = numberOfFloat(checkedFloat(floatTotal(value), '0', parts), parts);
      const none = nullOf(type);
      return `multiIf(countIf(${isThere(value, type)}) = 0, ${none}, count(${value}.2) = 0, ${whole}, ${fraction})`;
    }
    default:
      return refuse(`SUM of ${typeName(type)}`, undefined);
  }
}

/** Of NUMBERs, some of which are fractions. */
function floatTotal(value: string): string {
  return `ifNull(toFloat64(sum(toInt128(${value}.1))), 0) + ifNull(sumKahan(${value}.2), 0)`;
}

/** A finite sum is wanted of finite values. */
function checkedFloat(total: string, isInfinite: string, parts: StatementParts): string {
  return parts.once(total, (result) => {
    const failure = {
      code: 'query_failed',
      message: 'floating point overflow in SUM',
      span: undefined,
    } as const;
    const raised = parts.raise(`NOT isFinite(${result}) AND NOT (${isInfinite})`, failure);
    return `if(${raised} = 0, ${result}, NULL)`;
  });
}

/** The sum as a double by the number of values. */
function average(of: AggregateSqlCall): string {
  const value = of.arguments[0]!;
  const type = typeOf(of);
  switch (type.kind) {
    case 'INT64':
      return `if(count(${value}) = 0, NULL, toFloat64(sum(toInt128(${value}))) / count(${value}))`;
    case 'FLOAT64':
      return floatAverage(value);
    case 'NUMBER': {
      const counted = `countIf(${isThere(value, type)})`;
      return `if(${counted} = 0, NULL, (${floatTotal(value)}) / ${counted})`;
    }
    default:
      return refuse(`AVG of ${typeName(type)}`, undefined);
  }
}

/**
 * The values of ranks max(⌈i·N/n⌉, 1) among the N values, as the embedded engine picks them while it counts them exactly.
 * Here they always are.
 */
function quantiles(of: AggregateSqlCall): string {
  const type = typeOf(of);
  const value = of.arguments[0]!;
  const partCount = quantileCount(of.call.constants[0]);
  const offsets = of.call.elements ?? Array.from({ length: partCount + 1 }, (_, offset) => offset);
  const keys = sortKeysOf(value, type);
  const entry = `tuple(${[...keys, value].join(', ')})`;
  const { parts } = of;
  const all = `arraySort(groupArrayIf(${entry}, ${isThere(value, type)}))`;
  const sorted = type.kind === 'DYNAMIC' ? ofFirstKind(all, parts) : all;
  return parts.once(sorted, (list) => {
    const offset = parts.variable();
    const rank = `greatest(1, intDiv(${offset} * length(${list}) + ${partCount - 1}, ${partCount}))`;
    const picked = `arrayMap(${offset} -> ${list}[${rank}].${keys.length + 1}, CAST([${offsets.join(', ')}], 'Array(UInt64)'))`;
    const stored = storedType(arrayOf(type));
    return `if(empty(${list}), CAST([], '${stored}'), CAST([${picked}], '${stored}'))`;
  });
}

/** Of entries that begin with the rank of their kind those of numbers; if there are none, of texts, and else of booleans. */
function ofFirstKind(entries: string, parts: StatementParts): string {
  const { truth, number, text } = RANKS;
  return parts.once(entries, (list) => {
    const ranks = `arrayMap(${list}e -> ${list}e.1, ${list})`;
    const kind = `multiIf(has(${ranks}, ${number}), ${number}, has(${ranks}, ${text}), ${text}, ${truth})`;
    return parts.once(kind, (rank) => `arrayFilter(${list}e -> ${list}e.1 = ${rank}, ${list})`);
  });
}

/** Kahan's sum is NaN beside infinities. */
function floatSum(value: string): string {
  return `if(countIf(NOT isFinite(${value})) > 0, sum(${value}), sumKahan(${value}))`;
}

/** Where the sum is beyond a double, in a range that is 2^64 lower. */
function floatAverage(value: string): string {
  const total = floatSum(value);
  const isBeyond = `NOT isFinite(${total}) AND countIf(NOT isFinite(${value})) = 0`;
  const scaled = `sumKahan(${value} * pow(2, -64)) / count(${value}) * pow(2, 64)`;
  return `multiIf(count(${value}) = 0, NULL, ${isBeyond}, ${scaled}, ${total} / count(${value}))`;
}

function quantileCount(constant: Expression | undefined): number {
  const value = constant?.op === 'literal' ? constant.value : undefined;
  if (typeof value === 'number' && value >= 1 && value <= QUANTILES_MAX) return value;
  return refuse(
    `APPROX_QUANTILES with this number of quantiles; from 1 to ${QUANTILES_MAX}`,
    undefined,
  );
}

/** The values of a group in their order, as an Array of ClickHouse. */
function collected(of: AggregateSqlCall, withNulls: boolean): string {
  const { parts, position, call } = of;
  const type = typeOf(of);
  const value = of.arguments[0]!;
  const entry = `tuple(${position ?? '0'}, ${value})`;
  const isTaken = withNulls ? '1' : isThere(value, type);
  const name = parts.variable();
  const sorted = `arraySort(${name} -> ${name}.1, groupArrayIf(${entry}, ${isTaken}))`;
  const values = `arrayMap(${name} -> ${name}.2, ${call.distinct ? firsts(sorted, of) : sorted})`;
  if (call.limit === undefined) return values;
  const limit = call.limit.op === 'literal' ? call.limit.value : null;
  if (typeof limit !== 'number' || limit < 0) {
    return refuse(`${call.name.toUpperCase()} with this limit`, undefined);
  }
  return `arraySlice(${values}, 1, ${limit})`;
}

/** Of equal values the first. */
function firsts(entries: string, of: AggregateSqlCall): string {
  const { parts, call, position } = of;
  const type = typeOf(of);
  if (!isScalar(type) || position === undefined) {
    return refuse(`${call.name.toUpperCase()} with DISTINCT and without an order`, undefined);
  }
  return parts.once(entries, (list) => {
    const [entry, count] = [parts.variable(), parts.variable()];
    const keys = `arrayMap(${entry} -> ${groupKeyOf(`${entry}.2`, type)}, ${list})`;
    return `arrayFilter((${entry}, ${count}) -> ${count} = 1, ${list}, arrayEnumerateUniq(${keys}))`;
  });
}

function collectArray(of: AggregateSqlCall): string {
  const stored = storedType(arrayOf(typeOf(of)));
  const values = collected(of, of.call.nulls !== 'ignore');
  return of.parts.once(values, (list) => `CAST(if(empty(${list}), [], [${list}]), '${stored}')`);
}

/** The elements of all arrays that are no NULLs. */
function concatArrays(of: AggregateSqlCall): string {
  const type = typeOf(of);
  if (type.kind !== 'ARRAY' || !isScalar(type.element) || of.call.distinct) {
    return refuse(`ARRAY_CONCAT_AGG of ${typeName(type)}`, undefined);
  }
  return of.parts.once(collected(of, false), (lists) => {
    const list = of.parts.variable();
    const joined = `arrayFlatten(arrayMap(${list} -> ${list}[1], ${lists}))`;
    return `CAST(if(empty(${lists}), [], [${joined}]), '${storedType(type)}')`;
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
