import type { Expression } from './expression.ts';
import type { AggregateCall } from './logical-plan.ts';

/** What an aggregate is given of each row: arguments, the keys of its order, what HAVING looks at. */
export function rowExpressionsOf(call: AggregateCall): readonly Expression[] {
  const keys = (call.orderBy ?? []).map((key) => key.expression);
  const having = call.having === undefined ? [] : [call.having.expression];
  return [...call.arguments, ...keys, ...having];
}

/** Changes every expression of a call. */
export function mapCall(
  call: AggregateCall,
  change: (expression: Expression) => Expression,
): AggregateCall {
  return {
    ...call,
    arguments: call.arguments.map(change),
    constants: call.constants.map(change),
    orderBy: call.orderBy?.map((key) => ({ ...key, expression: change(key.expression) })),
    limit: call.limit === undefined ? undefined : change(call.limit),
    having:
      call.having === undefined
        ? undefined
        : { ...call.having, expression: change(call.having.expression) },
  };
}
