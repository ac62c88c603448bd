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
  return result;
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
