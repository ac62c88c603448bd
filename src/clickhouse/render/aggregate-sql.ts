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

/** Refuses an aggregate, or a modifier of one, that ClickHouse has no exact form of. */
export function aggregateSql(of: AggregateSqlCall): string {
  const { name, distinct, orderBy, limit, having, isDeferred, nulls } = of.call;
  const shown = name.toUpperCase();
  const render = AGGREGATES.get(name);
  if (render === undefined) return refuse(`the aggregate ${shown}`, undefined);
  if (orderBy !== undefined || limit !== undefined)
    return refuse(`${shown} with an order`, undefined);
  if (having !== undefined) return refuse(`${shown} with HAVING`, undefined);
  if (isDeferred) return refuse(`${shown} whose errors count in some branches only`, undefined);
  if (nulls === 'respect') return refuse(`${shown} with RESPECT NULLS`, undefined);
  if (distinct && !DISTINCT_MEANS_NOTHING.has(name) && name !== 'count' && name !== 'countif') {
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
      return checkedFloat(`sumKahan(${value})`, `countIf(NOT isFinite(${value})) > 0`, parts);
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

/** Where the sum is beyond a double, in a range that is 2^64 lower. */
function floatAverage(value: string): string {
  const total = `sumKahan(${value})`;
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
