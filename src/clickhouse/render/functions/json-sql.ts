import { parseJsonPath } from '../../../../engine/function/json/json-value.ts';
import { QueryError } from '../../../../engine/query-error.ts';
import { refuse, UNSUPPORTED } from '../refusal.ts';
import { integer, nullOf } from '../sql-type.ts';
import { type CallSql, constantOf, type FunctionSql, refuseTypes } from './function-sql.ts';

export const jsonSql: Readonly<Record<string, FunctionSql>> = {
  json_value: scalarAt,
  json_extract_scalar: scalarAt,
};

/**
 * What ClickHouse cannot parse though it is JSON: long numbers, large exponents, and halves of surrogate pairs. A text
 * without them that it cannot parse is no JSON.
 */
const UNCERTAIN = '[0-9]{19}|[eE][+]?[0-9]{3}|\\\\u[dD][89a-fA-F]';

/** Of a text with a constant path. */
function scalarAt(call: CallSql): string {
  const { parts, span, type } = call;
  if (call.types[0]!.kind !== 'STRING') return refuseTypes(call);
  const path = call.arguments.length === 1 ? '$' : constantOf(call, 1);
  if (path === null) return nullOf(type);
  const steps = stepsOf(String(path), call).map((step) =>
    // ClickHouse counts elements from 1.
    typeof step === 'number' ? integer(step + 1) : parts.text(step, span),
  );
  return parts.once(call.arguments[0]!, (text) => {
    const at = [`assumeNotNull(${text})`, ...steps].join(', ');
    const kind = `toString(JSONType(${at}))`;
    // It does not tell how a fraction, or -0, is written in the text.
    const isUncertain = `isNotNull(${text}) AND (${kind} = 'Double' OR (${kind} = 'Int64' AND JSONExtractRaw(${at}) = '0' AND match(${text}, '-0')) OR (NOT isValidJSON(assumeNotNull(${text})) AND match(${text}, ${parts.text(UNCERTAIN)})))`;
    const message = `${UNSUPPORTED} ${call.name.toUpperCase()} of fractions and of numbers beyond 64 bits`;
    const raised = parts.raise(isUncertain, { code: 'query_failed', message, span });
    const value = `multiIf(isNull(${text}), NULL, ${kind} = 'String', JSONExtractString(${at}), ${kind} IN ('Int64', 'UInt64', 'Bool'), JSONExtractRaw(${at}), NULL)`;
    // With NULL for both, ClickHouse would not look at the condition of constants.
    return `if(${raised} = 0, ${value}, '')`;
  });
}

function stepsOf(path: string, { span }: CallSql): ReturnType<typeof parseJsonPath> {
  try {
    return parseJsonPath(path);
  } catch (error) {
    if (error instanceof QueryError) return refuse(`this path: ${error.message}`, span);
    throw error;
  }
}
