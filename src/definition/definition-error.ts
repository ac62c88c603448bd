import { caret } from '../../engine/sql/caret.ts';

/** Where in a file something is wrong; both from 1, columns in UTF-16 units. */
export type Position = { readonly line: number; readonly column: number };

export const FILE_START: Position = { line: 1, column: 1 };

/** Throws the problem at a place. */
export type Refuse = (position: Position, reason: string) => never;

/**
 * What is wrong: the header; the statement below it, which the engine refused; its id or one of its
 * names, which is another's; or that there are too many.
 */
export type DefinitionFault = 'header' | 'statement' | 'conflict' | 'limit';

/** Something wrong with a definition file, told with the line it is in and a caret below it. */
export class DefinitionError extends Error {
  readonly file: string;
  readonly position: Position;
  /** The message without its place. */
  readonly reason: string;
  /** The line, and a caret below the place; `undefined` where the file has no text. */
  readonly caret: string | undefined;
  readonly fault: DefinitionFault;
  /** Other problems that were found in the file, behind this one. */
  readonly further: DefinitionError[] = [];

  constructor(
    file: string,
    fileText: string,
    position: Position,
    reason: string,
    fault: DefinitionFault = 'header',
  ) {
    const caret = excerpt(fileText, position);
    super(`${file}:${position.line}:${position.column}: ${reason}\n${caret}`);
    this.name = 'DefinitionError';
    this.file = file;
    this.position = position;
    this.reason = reason;
    this.caret = fileText === '' ? undefined : caret;
    this.fault = fault;
  }
}

/** Collects the problems of one file: what is wrong in one place hides nothing in another. */
export class DefinitionProblems {
  readonly refuse: Refuse;
  readonly #found: DefinitionError[] = [];

  constructor(refuse: Refuse) {
    this.refuse = refuse;
  }

  /** What `work` gives; `undefined` where it refuses, which is noted. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      this.#found.push(error);
      return undefined;
    }
  }

  /**
   * @throws DefinitionError the first problem in the file, with all others, if any was noted. What is missing comes last,
   * because a wrong line may have been meant to give it.
   */
  check(): void {
    const [first, ...others] = this.#found.sort(
      ({ position: left }, { position: right }) =>
        Number(isFileStart(left)) - Number(isFileStart(right)) ||
        left.line - right.line ||
        left.column - right.column,
    );
    if (first === undefined) return;
    first.further.push(...others);
    throw first;
  }
}

function isFileStart({ line, column }: Position): boolean {
  return line === FILE_START.line && column === FILE_START.column;
}

/** The line of a text with a caret below a place in it. */
export function excerpt(fileText: string, { line, column }: Position): string {
  const lines = fileText.split('\n').slice(0, line - 1);
  const start = lines.reduce((offset, text) => offset + text.length + 1, 0) + column - 1;
  return caret(fileText, { start, end: start, line, column });
}
