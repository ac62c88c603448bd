import { caret } from '../../engine/columns.ts';

/** A place in a file. Line and column count from 1, columns in UTF-16 units. */
export type Position = { readonly line: number; readonly column: number };

export const FILE_START: Position = { line: 1, column: 1 };

/** Throws an error at a place. */
export type Refuse = (position: Position, reason: string) => never;

/**
 * What is wrong: the header; the statement, which the engine refused; an id or name that another
 * definition has; or too many definitions.
 */
export type DefinitionFault = 'header' | 'statement' | 'conflict' | 'limit';

/** A problem of a definition file, with its line and a caret below the column. */
export class DefinitionError extends Error {
  readonly file: string;
  readonly position: Position;
  /** The message without its place. */
  readonly reason: string;
  /** The line and a caret below the column; `undefined` for a file without text. */
  readonly caret: string | undefined;
  readonly fault: DefinitionFault;
  /** Further problems of the same file. */
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

/** Collects the problems of one file, so that one problem does not hide others. */
export class DefinitionProblems {
  readonly refuse: Refuse;
  readonly #found: DefinitionError[] = [];

  constructor(refuse: Refuse) {
    this.refuse = refuse;
  }

  /** Returns what `work` returns. If it throws a problem, notes it and returns `undefined`. */
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
   * @throws DefinitionError with the first problem in the file and all others, if there are any.
   * Missing keys come last, because a wrong line may have been meant to give one.
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

/** Formats a line of a text with a caret below a column. */
export function excerpt(fileText: string, { line, column }: Position): string {
  const lines = fileText.split('\n').slice(0, line - 1);
  const start = lines.reduce((offset, text) => offset + text.length + 1, 0) + column - 1;
  return caret(fileText, { start, end: start, line, column });
}
