import { nullOf } from '../sql-type.ts';
import { type CallSql, constantOf, type FunctionSql } from './function-sql.ts';

/** Characters of a message that a text raises, as in the engine. */
const MESSAGE_LENGTH_MAX = 1024;

export const errorSql: Readonly<Record<string, FunctionSql>> = { error };

/** ClickHouse raises constant messages only. */
function error(call: CallSql): string {
  const { parts, span, type } = call;
  const message = String(constantOf(call, 0) ?? 'NULL').slice(0, MESSAGE_LENGTH_MAX);
  const none = nullOf(type);
  if (call.isSafe) return none;
  // With a constant for both, ClickHouse would not look at the condition.
  return `if(${parts.raise('1', { code: 'query_failed', message, span })} = 0, materialize(${none}), ${none})`;
}
