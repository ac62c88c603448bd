import { basename } from 'node:path';
import type { DefinitionError } from './definition-error.ts';
import type { Origin } from './saved-definition.ts';

/** What is wrong with a file of definitions, for whoever manages them. */
export type DefinitionProblem = {
  readonly origin: Origin;
  /** Without its folder; empty where it is the folder itself. */
  readonly file: string;
  readonly reason: string;
  /** A place in the file. */
  readonly line?: number;
  readonly column?: number;
  /** Whether an earlier state of the file is in force. */
  readonly isServed: boolean;
};

/** An error as it is told. */
export function problemOf(
  origin: Origin,
  { file, reason, position }: DefinitionError,
  isServed: boolean,
): DefinitionProblem {
  return { origin, file: basename(file), reason, ...position, isServed };
}

/** Whether calls are answered, as everyone is told it. */
export function servedText(isServed: boolean): string {
  return isServed ? 'as before' : 'no';
}
