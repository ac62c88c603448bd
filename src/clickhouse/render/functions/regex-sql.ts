import { compileRegex } from '../../../../engine/function/text/regular-expression.ts';
import { QueryError } from '../../../../engine/query-error.ts';
import { refuse } from '../refusal.ts';
import { nullOf } from '../sql-type.ts';
import { type CallSql, constantOf, type FunctionSql } from './function-sql.ts';

/** RE2 patterns that are constants. ClickHouse uses RE2 itself, with `.` for line breaks, too, unless a flag says otherwise. */
export const regexSql: Readonly<Record<string, FunctionSql>> = {
  regexp_contains: (call) => {
    const pattern = patternOf(call);
    if (pattern === undefined) return nullOf(call.type);
    return `match(${call.arguments[0]}, ${call.parts.text(`(?-s)${pattern}`, call.span)})`;
  },
};

/** `undefined` where it is NULL. */
function patternOf(call: CallSql): string | undefined {
  if (call.types[0]!.kind !== 'STRING')
    return refuse(`${call.name.toUpperCase()} of BYTES`, call.span);
  const pattern = constantOf(call, 1);
  if (pattern === null) return undefined;
  try {
    compileRegex(String(pattern));
  } catch (error) {
    if (error instanceof QueryError) return refuse(`this pattern: ${error.message}`, call.span);
    throw error;
  }
  return String(pattern);
}
