import { assert } from '../../engine/assert.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { type Reach, reachText } from '../../engine/plan/reach.ts';
import type { ParameterValues } from '../definition/definition.ts';

/**
 * The same text for calls that must have the same answer, another one for all others. `version`
 * tells definitions apart; it decides the names and types of the parameters, so that their values in
 * order of declaration say everything.
 */
export function cacheKeyText(call: {
  readonly version: number;
  readonly reach: Reach;
  readonly parameters: ParameterValues;
  /** Its text is told apart by its bytes, and may hold what looks like anything: it stands last. */
  readonly callerQuery?: Pick<PreparedQuery, 'text'> | undefined;
}): string {
  let text = `${call.version} ${reachText(call.reach)}`;
  for (const value of call.parameters.values()) text += ` ${valueText(value)}`;
  return call.callerQuery === undefined ? text : `${text} sql:${call.callerQuery.text}`;
}

/** Told apart by type and content; a string by its length too, since it may hold what looks like others. */
function valueText(value: SqlValue): string {
  if (typeof value === 'string') return `${value.length}:${value}`;
  assert(value === null || typeof value !== 'object', 'a parameter is a scalar');
  // CAST(-0.0 AS STRING) is "-0", so the two zeros are two values.
  return Object.is(value, -0) ? '-0' : String(value);
}
