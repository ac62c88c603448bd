import type { SqlValue } from '../../column/value.ts';
import type { Int64 } from '../../function/number/int64.ts';
import { midnightUs } from '../../function/time/calendar.ts';
import { CALENDAR_PARTS, partFinder, startAtOrAfter } from '../../function/time/time-part.ts';
import { UTC_NAMES } from '../../function/time/time-zone.ts';
import { QueryError } from '../../query-error.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { isLiteral } from '../expression-walk.ts';

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
  const { time, firstUs } = stepOf(expression) ?? {};
  if (time?.op !== 'column' || time.type.kind !== 'TIMESTAMP' || firstUs === undefined) {
    return undefined;
  }
  return { column: time.id, firstUs: (value) => safely(() => firstUs(value)) };
}

type Step = { readonly time: Expression; readonly firstUs: (value: number) => Int64 };

function stepOf(expression: Expression): Step | undefined {
  if (expression.op === 'cast') return conversionStep(expression.input, expression.type.kind);
  if (expression.op !== 'call') return undefined;
  const [time, second, third] = expression.arguments;
  switch (expression.name) {
    case 'date':
    case 'datetime':
      return isUtc(second) ? conversionStep(time!, expression.type.kind) : undefined;
    case 'timestamp_trunc':
    case 'date_trunc':
    case 'datetime_trunc':
      return isUtc(third) ? truncationStep(time!, second!) : undefined;
    default:
      return undefined;
  }
}

/** To DATE and DATETIME, as clocks show it in UTC. */
function conversionStep(time: Expression, kind: string): Step | undefined {
  if (kind === 'DATE') return { time, firstUs: midnightUs };
  return kind === 'DATETIME' ? { time, firstUs: (us) => us } : undefined;
}

const findPart = partFinder('TIMESTAMP_TRUNC', CALENDAR_PARTS);

function truncationStep(time: Expression, part: Expression): Step | undefined {
  if (!isLiteral(part) || typeof part.value !== 'string') return undefined;
  const found = findPart(part.value);
  return { time, firstUs: (us) => startAtOrAfter(us, found) };
}

/** Whether a zone is left out, or is UTC. */
function isUtc(zone: Expression | undefined): boolean {
  if (zone === undefined) return true;
  return (
    isLiteral(zone) && typeof zone.value === 'string' && UTC_NAMES.has(zone.value.toLowerCase())
  );
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
