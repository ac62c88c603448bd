import type { SqlType } from '../../../../engine/column/type.ts';
import type { SqlValue } from '../../../../engine/column/value.ts';
import type { Expression } from '../../../../engine/plan/expression.ts';
import type { Span } from '../../../../engine/query-error.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';

/** A call of a scalar function whose arguments are rendered. */
export type CallSql = {
  readonly name: string;
  readonly type: SqlType;
  readonly span: Span | undefined;
  readonly expressions: readonly Expression[];
  readonly arguments: readonly string[];
  readonly types: readonly SqlType[];
  readonly parts: StatementParts;
  /** Whether an error is NULL: the function is called with `SAFE.`. */
  readonly isSafe: boolean;
};

/** Renders one function; refuses what ClickHouse cannot compute exactly. */
export type FunctionSql = (call: CallSql) => string;

/** The value, where a condition is false; else an error, or NULL where the call is safe. */
export function checked(call: CallSql, value: string, isBad: string, message: string): string {
  const { parts, span, type } = call;
  if (call.isSafe) return `if(ifNull(${isBad}, 0), ${nullOf(type)}, ${value})`;
  const raised = parts.raise(isBad, { code: 'query_failed', message, span });
  return `if(${raised} = 0, ${value}, ${nullOf(type)})`;
}

/** The value of an argument that is a constant of the text; others are refused. */
export function constantOf(call: CallSql, index: number): SqlValue {
  const argument = call.expressions[index];
  if (argument?.op === 'literal') return argument.value;
  return refuse(
    `${call.name.toUpperCase()} with an argument that differs from row to row`,
    call.span,
  );
}

export function refuseTypes(call: CallSql): never {
  const kinds = call.types.map(({ kind }) => kind).join(', ');
  return refuse(`${call.name.toUpperCase()} of ${kinds}`, call.span);
}
