import { arrayOf, QUANTILES_MAX, type SqlType } from '../../../engine/columns.ts';
import type { AggregateCall } from '../../../engine/index.ts';
import type { AggregateSqlCall } from './aggregate-sql.ts';
import { exactKeys } from './number-sql.ts';
import { refuse } from './refusal.ts';
import { RANKS, sortKeysOf } from './sort-sql.ts';
import { isNull, storedType } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

/** Levels of one function of ClickHouse; for more quantiles the values are sorted. */
const LEVELS_MAX = 200;

/** Which values of a sorted list are wanted: those of ranks max(⌈i·N/n⌉, 1) among N values. */
type Ranks = {
  readonly offsets: readonly number[];
  readonly partCount: number;
  /** N, but for DYNAMIC values of several kinds. */
  readonly counted: string;
};

/** APPROX_QUANTILES, as the embedded engine picks values while it counts them exactly. Here it always does. */
export function quantilesSql(of: AggregateSqlCall): string {
  const type = of.types[0]!;
  const partCount = quantileCount(of);
  const offsets = offsetsOf(of.call, partCount);
  const counted = of.reduce('count', [], `NOT ${isNull(of.arguments[0]!, type)}`);
  const list = pickedValues(of, type, { offsets, partCount, counted });
  const stored = storedType(arrayOf(type));
  return `CAST(if(${counted} = 0, [], [${list}]), '${stored}')`;
}

function offsetsOf({ elements }: AggregateCall, partCount: number): readonly number[] {
  return elements ?? Array.from({ length: partCount + 1 }, (_, offset) => offset);
}

/** How many elements the answer has, where it is no NULL. */
export function quantilesLength(call: AggregateCall): number | undefined {
  return call.name === 'approx_quantiles'
    ? offsetsOf(call, quantileCount({ call })).length
    : undefined;
}

function quantileCount({ call: { constants } }: Pick<AggregateSqlCall, 'call'>): number {
  const value = constants[0]?.op === 'literal' ? constants[0].value : undefined;
  if (typeof value === 'number' && value >= 1 && value <= QUANTILES_MAX) return value;
  return refuse(
    `APPROX_QUANTILES with this number of quantiles; from 1 to ${QUANTILES_MAX}`,
    undefined,
  );
}

/** The values as an Array of ClickHouse. */
function pickedValues(of: AggregateSqlCall, type: SqlType, ranks: Ranks): string {
  const value = of.arguments[0]!;
  const isShort = ranks.offsets.length <= LEVELS_MAX;
  switch (type.kind) {
    case 'INT64':
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return isShort ? selected(of, value, ranks) : sortedValues(of, type, ranks);
    case 'NUMBER':
      return isShort ? selectedNumbers(of, value, ranks) : sortedValues(of, type, ranks);
    default:
      return sortedValues(of, type, ranks);
  }
}

/** So much below its level, a quantile's place among N values is exact for any N below 2^49/n. */
const LEVEL_STEP = 2 ** -49;

/**
 * Of integers. ClickHouse takes the element ⌊level · N⌋, from 0, in doubles, without sorting. A level just below i/n makes
 * it ⌈i·N/n⌉ − 1: the step is more than rounding, and less than the distance from a fraction of n parts to a whole number.
 */
function selected({ reduce }: AggregateSqlCall, value: string, { offsets, partCount }: Ranks) {
  const levels = offsets.map((offset) => (offset === 0 ? 0 : offset / partCount - LEVEL_STEP));
  return reduce(`quantilesExact(${levels.join(', ')})`, [value]);
}

/** Where all are whole, of integers; else of all numbers, sorted. */
function selectedNumbers(of: AggregateSqlCall, value: string, ranks: Ranks): string {
  const { parts, reduce } = of;
  const number = parts.variable();
  const [whole, fraction] = [`tuple(${number}, NULL)`, `tuple(NULL, ${number})`];
  const [wholes, fractions] = [1, 2].map((half) => reduce('groupArray', [`${value}.${half}`]));
  const all = `arrayConcat(arrayMap(${number} -> ${whole}, ${wholes}), arrayMap(${number} -> ${fraction}, ${fractions}))`;
  const sorted = `arraySort(${number} -> tuple(${exactKeys(number).join(', ')}), ${all})`;
  const integers = `arrayMap(${number} -> ${whole}, ${selected(of, `${value}.1`, ranks)})`;
  return `if(empty(${fractions}), ${integers}, ${elementsAt(sorted, ranks, parts)})`;
}

function sortedValues(of: AggregateSqlCall, type: SqlType, ranks: Ranks): string {
  const { parts, reduce } = of;
  const value = of.arguments[0]!;
  const keys = sortKeysOf(value, type);
  const entry = `tuple(${[...keys, value].join(', ')})`;
  const all = `arraySort(${reduce('groupArray', [entry], `NOT ${isNull(value, type)}`)})`;
  const sorted = type.kind === 'DYNAMIC' ? ofFirstKind(all, parts) : all;
  const name = parts.variable();
  return parts.once(sorted, (list) => {
    const elements = elementsAt(list, { ...ranks, counted: `length(${list})` }, parts);
    return `arrayMap(${name} -> ${name}.${keys.length + 1}, ${elements})`;
  });
}

function elementsAt(
  list: string,
  { offsets, partCount, counted }: Ranks,
  parts: StatementParts,
): string {
  const offset = parts.variable();
  const rank = `greatest(1, intDiv(${offset} * ${counted} + ${partCount - 1}, ${partCount}))`;
  return `arrayMap(${offset} -> ${list}[${rank}], CAST([${offsets.join(', ')}], 'Array(UInt64)'))`;
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
