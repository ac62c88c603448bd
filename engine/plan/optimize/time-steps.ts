import type { SqlValue } from '../../column/value.ts';
import type { TimeStep } from '../../function/function-facts.ts';
import type { Int64 } from '../../function/number/int64.ts';
import { DATE_STEP, DATETIME_STEP } from '../../function/time/time-conversion-functions.ts';
import { QueryError } from '../../query-error.ts';
import { constantsOf, factsOf } from '../call-facts.ts';
import type { ColumnId, Expression } from '../expression.ts';

/**
 * A function of a column of times that never falls: the column itself, DATE(t) or
 * TIMESTAMP_TRUNC(t, HOUR). Whether it is at least some value is told by the time alone.
 */
export type TimeSteps = {
  readonly column: ColumnId;
  /** The first time at which it is at least `value`; `undefined` where no double holds that. */
  readonly firstUs: (value: number) => number | undefined;
};

/** `undefined` for an expression that is no such function, or not known to be one. */
export function timeStepsOf(expression: Expression): TimeSteps | undefined {
  if (expression.op === 'column') return { column: expression.id, firstUs: safeUs };
  const time = timeIn(expression);
  if (time?.op !== 'column' || time.type.kind !== 'TIMESTAMP') return undefined;
  const step = stepOf(expression);
  if (step === undefined) return undefined;
  return { column: time.id, firstUs: (value) => safely(() => step.firstUs(value)) };
}

function timeIn(expression: Expression): Expression | undefined {
  if (expression.op === 'cast') return expression.input;
  return expression.op === 'call' ? expression.arguments[0] : undefined;
}

function stepOf(expression: Expression): TimeStep | undefined {
  if (expression.op === 'call') return factsOf(expression).timeStep?.(constantsOf(expression));
  if (expression.type.kind === 'DATE') return DATE_STEP;
  return expression.type.kind === 'DATETIME' ? DATETIME_STEP : undefined;
}

function safeUs(us: SqlValue): number | undefined {
  return typeof us === 'number' && Number.isSafeInteger(us) ? us : undefined;
}

/** Where there is no such time within the years, rows are asked one by one. */
function safely(compute: () => Int64): number | undefined {
  try {
    return safeUs(compute());
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
