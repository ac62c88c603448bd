import type { Column } from '../../engine/index.ts';
import { ColumnsRewriter } from './columns-rewriter.ts';
import { CsvRewriter } from './csv-rewriter.ts';
import { NdjsonRewriter } from './ndjson-rewriter.ts';
import type { RowsRewriter } from './rows-rewriter.ts';

/** A column of an answer: an answer without rows has them, too. */
export type ResultColumn = Pick<Column, 'name' | 'type'>;

/**
 * A format of answers. The engine writes rows as JSON only, and other formats are converted from
 * these bytes, so one kept answer serves every format.
 */
export type AnswerFormat = {
  /** The name in entity tags and, after a dot, at the end of a path. */
  readonly name: string;
  /** The media types that `Accept` may name; the answer has the first. */
  readonly mediaTypes: readonly [string, ...string[]];
  readonly contentType: string;
  /** Absent for JSON, the format of the engine's rows. */
  readonly rewriter?: (rows: Uint8Array, columns: readonly ResultColumn[]) => RowsRewriter;
};

export const JSON_FORMAT: AnswerFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json; charset=utf-8',
};

/** JSON with the names and types of the columns behind the rows. */
export const COLUMNS_FORMAT: AnswerFormat = {
  ...JSON_FORMAT,
  name: 'columns',
  rewriter: (rows, columns) => new ColumnsRewriter(rows, columns),
};

/** All formats, in order of preference. */
export const ANSWER_FORMATS: readonly AnswerFormat[] = [
  JSON_FORMAT,
  {
    name: 'csv',
    mediaTypes: ['text/csv'],
    contentType: 'text/csv; charset=utf-8; header=present',
    rewriter: (rows, columns) =>
      new CsvRewriter(
        rows,
        columns.map(({ name }) => name),
      ),
  },
  {
    name: 'ndjson',
    mediaTypes: ['application/x-ndjson', 'application/ndjson'],
    contentType: 'application/x-ndjson; charset=utf-8',
    rewriter: (rows) => new NdjsonRewriter(rows),
  },
];
