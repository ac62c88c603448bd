import { carvedUint8 } from '../../column/carved-arrays.ts';
import { BOOL } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { NumberVector, Vector } from '../../column/vector.ts';
import { booleanVector, TRUE, UNKNOWN } from '../../column/vector.ts';
import { matchKey } from '../../operator/match-key.ts';
import { truthOf } from '../../operator/truth.ts';
import type { Expression } from '../expression.ts';
import type { LiftedFunction } from './lift.ts';

type Call = Extract<Expression, { op: 'call' }>;

/**
 * `x IN (…)` and `x IN UNNEST(…)` where all that is looked among is constant scalars: a test of x
 * alone. `undefined` for other calls.
 */
export function membershipTest(call: Call): LiftedFunction | undefined {
  const values = constantValues(call);
  if (values === undefined || values.some((value) => typeof value === 'object' && value !== null)) {
    return undefined;
  }
  const members = new Set<SqlValue>();
  for (const value of values) {
    // `=` says of a NULL that it may be equal, and of a NaN that it is not.
    if (value !== null && !Number.isNaN(value)) members.add(matchKey(value));
  }
  // Among nothing there is nothing, not even what a NULL stands for.
  if (values.length === 0) return { type: BOOL, nulls: 'handle', evaluate: () => false };
  const absent = values.includes(null) ? null : false;
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => (members.has(matchKey(value)) ? true : absent),
    kernel: ([vector], count) =>
      vector?.kind === 'number' ? testNumbers(vector, count, members, truthOf(absent)) : undefined,
  };
}

/** What is looked among. */
function constantValues(call: Call): readonly SqlValue[] | undefined {
  if (call.name === 'in') {
    const items = call.arguments.slice(1);
    const values = items.flatMap((item) => (item.op === 'literal' ? [item.value] : []));
    return values.length === items.length ? values : undefined;
  }
  if (call.name !== 'in_array') return undefined;
  const array = call.arguments[1];
  return array?.op === 'literal' && Array.isArray(array.value) ? array.value : undefined;
}

function testNumbers(
  vector: NumberVector,
  count: number,
  members: ReadonlySet<SqlValue>,
  absent: number,
): Vector {
  const { values, nulls } = vector;
  const truths = carvedUint8(count);
  for (let i = 0; i < count; i++) {
    truths[i] = members.has(matchKey(values[i]!)) ? TRUE : absent;
  }
  if (nulls !== undefined) {
    for (let i = 0; i < count; i++) if (nulls[i] === 1) truths[i] = UNKNOWN;
  }
  return booleanVector(truths, count);
}
