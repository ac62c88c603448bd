import { findAggregateFunction } from '../../aggregate/registry.ts';
import { type SqlType, STRING } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import {
  type Column,
  type ColumnId,
  childrenOf,
  columnReference,
  type Expression,
  readsAny,
  rewrite,
  withChildren,
} from '../expression.ts';
import {
  type AggregateCall,
  inputsOf,
  type LogicalPlan,
  mapCall,
  rowExpressionsOf,
} from '../logical-plan.ts';
import { canFail } from '../optimize/can-fail.ts';
import type { Binding } from './binding.ts';

/** The surroundings of the aggregates or window functions of one operator. */
export type DeferralContext = {
  /** The rows that they read. */
  readonly input: LogicalPlan;
  /** The columns that the operators above read in every case, not only in a branch. */
  readonly always: ReadonlySet<ColumnId>;
  readonly binding: Binding;
};

type Aggregated = {
  readonly column: Column;
  readonly call: AggregateCall;
  readonly span: Span;
  /** Of a call over a window: what its rows are divided and ordered by, unless another call needs that in every case. */
  readonly keys?: readonly Expression[];
};

/**
 * The aggregates or window functions of one operator. One is deferred if it can fail and only branches read it: its
 * error counts only if such a branch is taken.
 */
export class Deferral {
  readonly #binding: Binding;
  readonly #deferred: ReadonlyMap<ColumnId, Aggregated>;

  constructor(aggregates: readonly Aggregated[], { input, always, binding }: DeferralContext) {
    const open = aggregates.filter(({ column }) => !always.has(column.id));
    const failing = new Set<ColumnId>();
    if (open.length > 0) addFailingColumns(input, failing);
    const deferred = open.filter(({ call, keys = [] }) => callCanFail(call, keys, failing));
    this.#binding = binding;
    this.#deferred = new Map(deferred.map((each) => [each.column.id, each]));
  }

  /** Returns the call as the operator computes it: deferred, if it must be. */
  computed({ column, call }: Computed): Computed {
    if (!this.#deferred.has(column.id)) return { column, call };
    // An error is reported at the place of the whole call.
    const placeless = mapCall(call, (each) => rewrite(each, withoutPlace));
    return { column: answerColumn(column), call: { ...placeless, isDeferred: true } };
  }

  /** Returns an expression above the operator with its reads of deferred calls replaced. */
  reading(expression: Expression): Expression {
    if (this.#deferred.size === 0) return expression;
    const deferred = expression.op === 'column' ? this.#deferred.get(expression.id) : undefined;
    const next = deferred === undefined ? this.#readingBelow(expression) : valueRead(deferred);
    const origin = this.#binding.originOf(expression);
    if (next === expression || origin === undefined) return next;
    return this.#binding.at(next, origin.span, origin.text);
  }

  #readingBelow(expression: Expression): Expression {
    const children = childrenOf(expression);
    const changed = children.map((child) => this.reading(child));
    const isSame = changed.every((child, index) => child === children[index]);
    return isSame ? expression : withChildren(expression, changed);
  }
}

type Computed = Pick<Aggregated, 'column' | 'call'>;

function valueRead({ column, span }: Aggregated): Expression {
  const input = columnReference(answerColumn(column));
  return { op: 'deferred-value', type: column.type, input, span };
}

/** The column of a deferred call: its value, or the code and the message of its error. */
function answerColumn({ id, name, type }: Column): Column {
  const fields = [
    { name: 'value', type },
    { name: 'code', type: STRING },
    { name: 'message', type: STRING },
  ];
  const answer: SqlType = { kind: 'STRUCT', fields };
  return { id, name, type: answer };
}

function withoutPlace(expression: Expression): Expression {
  return 'span' in expression ? { ...expression, span: undefined } : expression;
}

function callCanFail(
  call: AggregateCall,
  keys: readonly Expression[],
  failing: ReadonlySet<ColumnId>,
): boolean {
  if (findAggregateFunction(call.name)?.fails === 'by value') return true;
  const read = [...rowExpressionsOf(call), ...keys];
  return read.some((each) => canFail(each) || readsAny(each, failing));
}

/** Adds the columns that projections compute on demand and that can fail. */
function addFailingColumns(plan: LogicalPlan, into: Set<ColumnId>): void {
  for (const input of inputsOf(plan)) addFailingColumns(input, into);
  if (plan.op === 'project') {
    for (const { column, expression } of plan.columns) {
      if (canFail(expression) || readsAny(expression, into)) into.add(column.id);
    }
  } else if (plan.op === 'union') {
    for (const { column, from } of plan.columns) {
      if (from.some((id) => into.has(id))) into.add(column.id);
    }
  }
}

/** Adds the columns that an expression reads in every case: all except those in branches. */
export function addReadAlways(expression: Expression, into: Set<ColumnId>): void {
  if (expression.op === 'column') into.add(expression.id);
  const children = childrenOf(expression);
  const always = isBranching(expression) ? children.slice(0, 1) : children;
  for (const child of always) addReadAlways(child, into);
}

/** Whether only the first child is always evaluated. */
function isBranching(expression: Expression): boolean {
  if (expression.op === 'call') return expression.name === 'and' || expression.name === 'or';
  return expression.op === 'case' || expression.op === 'coalesce';
}
