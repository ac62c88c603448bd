import { unreachable } from '../../engine/assert.ts';
import { Failure } from './failure.ts';
import type { Aggregate, Value } from './query.ts';
import { compare, groupText } from './value-order.ts';

/** What an aggregate makes of the values of its argument, in the order it asked for. */
export function aggregateOf(call: Aggregate, all: readonly Value[]): Value {
  if (call.name === 'ANY_VALUE') return all[0] ?? null;
  const keepsNulls = call.name === 'ARRAY_AGG' && call.ignoresNulls !== true;
  let values = keepsNulls ? all : all.filter((value) => value !== null);
  if (call.isDistinct) values = distinctValues(values);
  if (call.limit !== undefined) values = values.slice(0, call.limit);
  if (call.name === 'COUNT') return BigInt(values.length);
  if (call.name === 'COUNTIF') return BigInt(values.filter((value) => value === true).length);
  return values.length === 0 ? null : aggregateOfSome(call, call.name, values);
}

function distinctValues(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [groupText(value), value])).values()];
}

/** Of one value at least. */
function aggregateOfSome(
  call: Aggregate,
  name: Exclude<Aggregate['name'], 'COUNT' | 'COUNTIF' | 'ANY_VALUE'>,
  values: readonly Value[],
): Value {
  switch (name) {
    case 'SUM':
      return checkedSum(sumOf(values));
    case 'AVG':
      return Number(sumOf(values)) / values.length;
    case 'MIN':
      return extreme(values, -1);
    case 'MAX':
      return extreme(values, 1);
    case 'LOGICAL_AND':
      return values.every((value) => value === true);
    case 'LOGICAL_OR':
      return values.includes(true);
    case 'BIT_AND':
      return (values as readonly bigint[]).reduce((bits, value) => bits & value);
    case 'BIT_OR':
      return (values as readonly bigint[]).reduce((bits, value) => bits | value);
    case 'BIT_XOR':
      return (values as readonly bigint[]).reduce((bits, value) => bits ^ value);
    case 'ARRAY_AGG':
      return values;
    case 'STRING_AGG':
      return values.join(call.separator ?? ',');
    case 'VAR_POP':
      return varianceOf(values, values.length);
    case 'VAR_SAMP':
      return varianceOf(values, values.length - 1);
    case 'STDDEV_POP':
      return rootOf(varianceOf(values, values.length));
    case 'STDDEV_SAMP':
      return rootOf(varianceOf(values, values.length - 1));
    default:
      return unreachable(name);
  }
}

function sumOf(values: readonly Value[]): bigint | number {
  if (typeof values[0] === 'bigint') {
    return (values as readonly bigint[]).reduce((sum, value) => sum + value, 0n);
  }
  return (values as readonly number[]).reduce((sum, value) => sum + value, 0);
}

function checkedSum(sum: bigint | number): bigint | number {
  if (typeof sum === 'bigint' && BigInt.asIntN(64, sum) !== sum) throw new Failure('overflow');
  return sum;
}

function extreme(values: readonly Value[], sign: 1 | -1): Value {
  let best: Value = null;
  for (const value of values) {
    if (Number.isNaN(value)) return value;
    if (best === null || compare(value, best) * sign > 0) best = value;
  }
  return best;
}

function varianceOf(values: readonly Value[], divisor: number): number | null {
  if (divisor === 0) return null;
  const numbers = values.map(Number);
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  return numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / divisor;
}

function rootOf(value: number | null): number | null {
  return value === null ? null : Math.sqrt(value);
}
