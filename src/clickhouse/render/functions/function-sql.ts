import {
  QueryError,
  type QueryErrorCode,
  type Span,
  type SqlType,
  type SqlValue,
} from '../../../../engine/columns.ts';
import type { Expression } from '../../../../engine/index.ts';
import type { ColumnFacts } from '../expression-sql.ts';
import { refuse, UNSUPPORTED } from '../refusal.ts';
import { isNull, isScalar, nullOf } from '../sql-type.ts';
import type { StatementParts } from '../statement-parts.ts';

/** A call of a scalar function whose arguments are rendered. */
export type CallSql = {
  readonly name: string;
  readonly type: SqlType;
  readonly span: Span | undefined;
  readonly expressions: readonly Expression[];
  readonly arguments: readonly string[];
  readonly types: readonly SqlType[];
  /** What is known of arguments that are columns. */
  readonly facts: readonly (ColumnFacts | undefined)[];
  readonly parts: StatementParts;
  /** Whether an error is NULL: the function is called with `SAFE.`. */
  readonly isSafe: boolean;
};

/** Renders one function; refuses what ClickHouse cannot compute exactly. */
export type FunctionSql = (call: CallSql) => string;

/** The value, where a condition is false; else an error, or NULL where the call is safe. */
export function checked(
  call: CallSql,
  value: string,
  isBad: string,
  message: string,
  code: QueryErrorCode = 'query_failed',
): string {
  const { parts, span, type } = call;
  if (call.isSafe) return `if(ifNull(${isBad}, 0), ${nullOf(type)}, ${value})`;
  const raised = parts.raise(isBad, { code, message, span });
  return `if(${raised} = 0, ${value}, ${nullOf(type)})`;
}

/** The value, where a condition is false; else a refusal, also where the call is safe. */
export function certain(call: CallSql, value: string, isUncertain: string, what: string): string {
  const message = `${UNSUPPORTED} ${what}`;
  return checked({ ...call, isSafe: false }, value, isUncertain, message);
}

/**
 * A value of arguments none of which is NULL; NULL where one is. `body` gets names that cost nothing to be written
 * twice: of a scalar it is no Nullable, of an ARRAY or INTERVAL it is what the outer array holds.
 */
export function strict(call: CallSql, body: (...values: readonly string[]) => string): string {
  const { parts, types, facts, type } = call;
  const bind = (names: readonly string[]): string => {
    const next = call.arguments[names.length];
    if (next !== undefined) return parts.once(next, (name) => bind([...names, name]));
    const isMissing = names
      .flatMap((name, index) =>
        KNOWN.test(name) || facts[index]?.isKnown ? [] : [isNull(name, types[index]!)],
      )
      .join(' OR ');
    const value = body(...names.map((name, index) => presentValue(name, types[index]!)));
    return isMissing === '' ? value : `if(${isMissing}, ${nullOf(type)}, ${value})`;
  };
  return bind([]);
}

/** Constants that are no NULLs. */
const KNOWN = /^(?:\{\w+:String\}|toInt64\(-?\d+\))$/;

function presentValue(name: string, type: SqlType): string {
  if (KNOWN.test(name)) return name;
  if (isScalar(type)) return `assumeNotNull(${name})`;
  return type.kind === 'NUMBER' ? name : `${name}[1]`;
}

/** A call that fails for each row without NULLs, by what its constants are. */
export function failing(call: CallSql, { code, message }: QueryError): string {
  const none = `materialize(${nullOf(call.type)})`;
  return strict(call, () => checked(call, none, '1', message, code));
}

/** What reads a constant, or how it failed. */
export function orFailure<T>(read: () => T): T | QueryError {
  try {
    return read();
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
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
