import { US_PER_DAY } from '../function/time/calendar.ts';
import { constantsOf, factsOf } from './call-facts.ts';
import type { Expression } from './expression.ts';

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
  const [time] = expression.arguments;
  const input = time && lateNumberOf(time, indexOf);
  if (input === undefined) return undefined;
  const { addedUs, timeStep } = factsOf(expression);
  const constants = constantsOf(expression);
  const shiftUs = addedUs?.(constants);
  if (shiftUs !== undefined) return (late) => usual(input(late) + shiftUs);
  const widthUs = timeStep?.(constants)?.widthUs;
  if (widthUs !== undefined) return (late) => usual(Math.floor(input(late) / widthUs) * widthUs);
  return undefined;
}

/** Years around 1970 in which no time is out of range, and all arithmetic here is exact. */
const USUAL_US_MAX = 100 * 365 * US_PER_DAY;

function usual(us: number): number {
  return Math.abs(us) <= USUAL_US_MAX ? us + 0 : Number.NaN;
}
