import { basename } from 'node:path';
import { shownText } from '../shown-text.ts';
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
  /** The line, and a caret below the place. */
  readonly caret?: string;
  /** Whether an earlier state of the file is in force. */
  readonly isServed: boolean;
};

/** An error as it is told. */
export function toProblem(
  origin: Origin,
  { file, reason, position, caret }: DefinitionError,
  isServed: boolean,
): DefinitionProblem {
  const place = { ...position, ...(caret !== undefined && { caret }) };
  return { origin, file: basename(file), reason, ...place, isServed };
}

/** Whether calls are answered, as everyone is told it. */
export function servedText(isServed: boolean): string {
  return isServed ? 'as before' : 'no';
}

/** A problem in lines of text: where it is, what it is, and the place in the file. */
export function problemText(problem: {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly reason: string;
  readonly caret?: string | undefined;
  readonly served: string;
}): string {
  const { file, line, column, reason, caret, served } = problem;
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  const outcome = served === 'no' ? 'not in force' : 'its last good state is in force';
  const sentence = `${place === '' ? '' : `${place}: `}${reason} (${outcome})`;
  const lines = [sentence, ...(caret ?? '').split('\n')].filter((text) => text !== '');
  return lines.map((text) => shownText(text)).join('\n');
}
