import { US_PER_DAY } from '../function/time/calendar.ts';
import { fixedPartUs, type TimeUnit } from '../function/time/time-part.ts';
import type { Expression } from './expression.ts';
import { isLiteral } from './expression-walk.ts';

/** Of the late values, as numbers: an expression's value, or NaN where that is to be computed in the plain way. */
export type LateNumber = (late: Float64Array) => number;

/**
 * Times as queries compute them of the clock, in plain arithmetic: `TIMESTAMP_SUB`, `TIMESTAMP_ADD` and
 * `TIMESTAMP_TRUNC` by parts of one length, in UTC. It stands in for `compileExpression`, which takes some µs for
 * each function of one row. `undefined` for anything else. `indexOf` says which late value an expression is.
 */
export function lateNumberOf(
  expression: Expression,
  indexOf: (expression: Expression) => number | undefined,
): LateNumber | undefined {
  const index = indexOf(expression);
  if (index !== undefined) return (late) => usual(late[index]!);
  if (expression.op !== 'call') return undefined;
  const [time, second, third] = expression.arguments;
  const input = time && lateNumberOf(time, indexOf);
  if (input === undefined || second === undefined) return undefined;
  switch (expression.name) {
    case 'timestamp_sub':
    case 'timestamp_add': {
      const partUs = third && partLength(third);
      if (partUs === undefined || !isLiteral(second)) return undefined;
      const { value } = second;
      if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
      const addedUs = (expression.name === 'timestamp_sub' ? -value : value) * partUs;
      return (late) => usual(input(late) + addedUs);
    }
    case 'timestamp_trunc': {
      const partUs = partLength(second);
      if (partUs === undefined || third !== undefined) return undefined;
      return (late) => usual(Math.floor(input(late) / partUs) * partUs);
    }
    default:
      return undefined;
  }
}

/** Years around 1970 in which no time is out of range, and all arithmetic here is exact. */
const USUAL_US_MAX = 100 * 365 * US_PER_DAY;

function usual(us: number): number {
  return Math.abs(us) <= USUAL_US_MAX ? us + 0 : Number.NaN;
}

function partLength(part: Expression): number | undefined {
  if (!isLiteral(part) || typeof part.value !== 'string') return undefined;
  return fixedPartUs(part.value.toUpperCase() as TimeUnit);
}
