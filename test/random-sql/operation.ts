import { comparisons, conditionals, records, truths } from './comparison-operations.ts';
import { dates } from './date-operations.ts';
import { lists } from './list-operations.ts';
import { numbers } from './number-operations.ts';
import type { Type, Value } from './query.ts';
import { madeTexts } from './text-making-operations.ts';
import { texts } from './text-operations.ts';
import { times } from './time-operations.ts';

/** What one function or operator is: how it is written, what it takes, and what it means. */
export type Operation = {
  /** The text, a `?` for each argument. */
  readonly text: string;
  readonly takes: readonly Type[];
  readonly gives: Type;
  /** Gets each argument when it asks for it, so that one not asked for cannot fail. */
  readonly evaluate: (...inputs: readonly Input[]) => Value;
  /** Whether some values of its arguments make it fail. */
  readonly canFail: boolean;
};

export type Input = () => Value;

/** All operations by their keys: the text and the types of the arguments. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [
    ...truths(),
    ...comparisons(),
    ...conditionals(),
    ...records(),
    ...numbers(),
    ...texts(),
    ...madeTexts(),
    ...times(),
    ...dates(),
    ...lists(),
  ].map((operation) => [operationKey(operation), operation]),
);

export function operationKey({ text, takes }: Pick<Operation, 'text' | 'takes'>): string {
  return `${text} of ${takes.join(', ')}`;
}
