import { aggregateFunctionNames } from '../../aggregate/registry.ts';
import { scalarFunctionNames } from '../../function/registry.ts';
import { windowFunctionNames } from '../../operator/window-functions.ts';
import { SPECIAL_CALLS } from './special-forms.ts';

/** Names in the registry for what the language writes in another way: as operators, `x[0]`, EXTRACT. */
const OPERATOR_NAMES: ReadonlySet<string> = new Set([
  ...['and', 'or', 'not', 'neg', 'in', 'in_array', 'like', 'extract', 'interval'],
  ...['is_null', 'is_true', 'is_false', 'is_distinct'],
  ...['json_field', 'json_of'],
  ...['array_offset', 'array_safe_offset', 'array_ordinal', 'array_safe_ordinal'],
]);

/** Whether a call in the text may bear this name of the registry. */
export function isCallable(name: string): boolean {
  return /^[a-z]/.test(name) && !OPERATOR_NAMES.has(name);
}

/** Every name a call may bear, for hints. */
export function functionNames(): readonly string[] {
  return [
    ...SPECIAL_CALLS.map(({ name }) => name),
    ...aggregateFunctionNames(),
    ...windowFunctionNames(),
    ...scalarFunctionNames().filter(isCallable),
  ];
}
