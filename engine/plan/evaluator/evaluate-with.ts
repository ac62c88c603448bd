import type { SqlValue } from '../../column/value.ts';
import type { ScalarOverload } from '../../function/scalar-function.ts';
import { spendSteps, stepsOf } from '../../function/work-meter.ts';

/** One value of a function, its work counted by the sizes of what it takes and gives. */
export function evaluateWith(
  evaluate: ScalarOverload['evaluate'],
  values: readonly SqlValue[],
): SqlValue {
  let steps = 0;
  for (let index = 0; index < values.length; index++) steps += stepsOf(values[index]);
  spendSteps(steps);
  const result = evaluateOn(evaluate, values);
  spendSteps(stepsOf(result));
  if (typeof result === 'string' && result.length >= ROPE_LENGTH_MIN) flatten(result);
  return result;
}

/** From this length on a text is made one piece of memory; shorter ones are so soon, and weigh little. */
const ROPE_LENGTH_MIN = 16_384;

/**
 * V8 keeps a text that was joined of others as a tree of them, of some hundred bytes, until somebody reads it.
 * A sort would make megabytes of each of its rows then, at once and where nobody looks at what the heap holds.
 * Reading a character is what makes it flat.
 */
function flatten(text: string): void {
  text.charCodeAt(0);
}

/** Most functions take one to three arguments; spreading an array costs more than they do. */
function evaluateOn(evaluate: ScalarOverload['evaluate'], values: readonly SqlValue[]): SqlValue {
  switch (values.length) {
    case 1:
      return evaluate(values[0]!);
    case 2:
      return evaluate(values[0]!, values[1]!);
    case 3:
      return evaluate(values[0]!, values[1]!, values[2]!);
    default:
      return evaluate(...values);
  }
}
