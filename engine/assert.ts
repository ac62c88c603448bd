/** Our own mistakes: these throw, and nothing catches them to carry on. */
export function assert(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${sentence}`);
}

export function must<T>(value: T | undefined | null, sentence = 'value is present'): T {
  if (value === undefined || value === null) throw new Error(`assertion failed: ${sentence}`);
  return value;
}

export function unreachable(value: never): never {
  throw new Error(`assertion failed: unreachable value ${JSON.stringify(value)}`);
}
