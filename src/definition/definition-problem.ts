import { basename } from 'node:path';
import { shownText } from '../shown-text.ts';
import type { DefinitionError } from './definition-error.ts';
import type { Origin } from './saved-definition.ts';

/** A problem of a definition file, for those who manage definitions. */
export type DefinitionProblem = {
  readonly origin: Origin;
  /** Name without the folder; empty for the folder itself. */
  readonly file: string;
  readonly reason: string;
  /** A place in the file. */
  readonly line?: number;
  readonly column?: number;
  /** The line and a caret below the column. */
  readonly caret?: string;
  /** Whether an earlier version of the file is in force. */
  readonly isServed: boolean;
};

/** Describes an error as a problem. */
export function toProblem(
  origin: Origin,
  { file, reason, position, caret }: DefinitionError,
  isServed: boolean,
): DefinitionProblem {
  const place = { ...position, ...(caret !== undefined && { caret }) };
  return { origin, file: basename(file), reason, ...place, isServed };
}

/** Says whether calls of the definition are answered. */
export function servedText(isServed: boolean): string {
  return isServed ? 'as before' : 'no';
}

/** Formats a problem: its place, the message, and the line with a caret. */
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
  const outcome = served === 'no' ? 'not in force' : 'its last valid version is in force';
  const sentence = `${place === '' ? '' : `${place}: `}${reason} (${outcome})`;
  const lines = [sentence, ...(caret ?? '').split('\n')].filter((text) => text !== '');
  return lines.map((text) => shownText(text)).join('\n');
}
