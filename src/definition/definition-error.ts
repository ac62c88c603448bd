import { caret } from '../../engine/sql/caret.ts';

/** Where in a file something is wrong; both from 1, columns in UTF-16 units. */
export type Position = { readonly line: number; readonly column: number };

/** Throws the problem at a place. */
export type Refuse = (position: Position, reason: string) => never;

/** Something wrong with a definition file, told with the line it is in and a caret below it. */
export class DefinitionError extends Error {
  readonly file: string;
  readonly position: Position;
  /** The message without its place. */
  readonly reason: string;

  constructor(file: string, fileText: string, position: Position, reason: string) {
    super(`${file}:${position.line}:${position.column}: ${reason}\n${excerpt(fileText, position)}`);
    this.name = 'DefinitionError';
    this.file = file;
    this.position = position;
    this.reason = reason;
  }
}

function excerpt(fileText: string, { line, column }: Position): string {
  const lines = fileText.split('\n').slice(0, line - 1);
  const start = lines.reduce((offset, text) => offset + text.length + 1, 0) + column - 1;
  return caret(fileText, { start, end: start, line, column });
}
