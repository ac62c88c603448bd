import type { SqlType } from '../column/type.ts';
import type { WindowCallOptions } from '../operator/window.ts';
import type { Bound, Frame } from '../operator/window-frame.ts';
import { findWindowFunction } from '../operator/window-functions.ts';
import { QueryError } from '../query-error.ts';
import { aggregateStateOf } from './aggregate-state.ts';
import { evaluateConstant } from './evaluate.ts';
import type { FrameBound, WindowCall, WindowFrame } from './logical-plan.ts';

/** What computes one call of a window, its constants evaluated; `type` is that of its result. */
export function windowRunOf(call: WindowCall, type: SqlType): WindowCallOptions['run'] {
  const { function: called, ignoresNulls } = call;
  const isDeferred = called.isDeferred === true;
  const found = findWindowFunction(called.name);
  if (found !== undefined) {
    const kernel = found.prepare(called.constants.map(evaluateConstant));
    return { kind: 'function', kernel, ignoresNulls, isDeferred };
  }
  const collects = called.orderBy !== undefined;
  return { kind: 'aggregate', create: () => aggregateStateOf(called), type, collects, isDeferred };
}

/** The frame with its amounts evaluated. */
export function frameOf({ unit, start, end }: WindowFrame): Frame {
  return { unit, start: boundOf(start), end: boundOf(end) };
}

function boundOf(bound: FrameBound): Bound {
  if (!('amount' in bound)) return bound;
  const amount = evaluateConstant(bound.amount);
  const isNumber = typeof amount === 'number' || typeof amount === 'bigint';
  if (isNumber && amount >= 0) return { kind: bound.kind, amount };
  const got = amount === null ? 'NULL' : String(amount);
  throw new QueryError(
    'query_failed',
    `the bound of a frame is a number of at least 0; got ${got}`,
  );
}
