import type { Operation } from './operation.ts';
import type { Type, Value } from './query.ts';

/** An operation that is NULL when an argument is, and else what `evaluate` says of the values. */
export function strict<Arguments extends readonly Value[]>(
  text: string,
  takes: readonly Type[],
  gives: Type,
  evaluate: (...values: Arguments) => Value,
): Operation {
  return {
    text,
    takes,
    gives,
    evaluate: (...inputs) => {
      const values = inputs.map((input) => input());
      return values.includes(null) ? null : evaluate(...(values as unknown as Arguments));
    },
    canFail: false,
  };
}

/** A strict operation that throws a Failure for some values. */
export function failing<Arguments extends readonly Value[]>(
  ...parts: Parameters<typeof strict<Arguments>>
): Operation {
  return { ...strict<Arguments>(...parts), canFail: true };
}

/** An operation that says itself what it makes of NULLs, and which arguments it wants at all. */
export function lazy(
  text: string,
  takes: readonly Type[],
  gives: Type,
  evaluate: Operation['evaluate'],
): Operation {
  return { text, takes, gives, evaluate, canFail: false };
}
