import { assert, type SqlValue } from '../../engine/columns.ts';
import { type PreparedQuery, type Reach, reachText } from '../../engine/index.ts';
import type { ParameterValues } from '../definition/definition.ts';

/**
 * Equal for calls that must have the same answer, different for all others. `version` identifies
 * the definition, which fixes the names and types of the parameters, so their values in order of
 * declaration suffice.
 */
export function cacheKeyText(call: {
  readonly version: number;
  readonly reach: Reach;
  readonly parameters: ParameterValues;
  /** The text may contain anything, so it stands last, where it needs no delimiter. */
  readonly callerQuery?: Pick<PreparedQuery, 'text'> | undefined;
}): string {
  let text = `${call.version} ${reachText(call.reach)}`;
  for (const value of call.parameters.values()) text += ` ${valueText(value)}`;
  return call.callerQuery === undefined ? text : `${text} sql:${call.callerQuery.text}`;
}

/**
 * Encodes a value by type and content. A string also has its length, because it may contain any
 * delimiter.
 */
function valueText(value: SqlValue): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  assert(value === null || typeof value !== 'object', 'a parameter is a scalar');
  // CAST(-0.0 AS STRING) is "-0", so the two zeros are different values.
  return Object.is(value, -0) ? '-0' : String(value);
}
