import { CsvRewriter } from './csv-rewriter.ts';
import { NdjsonRewriter } from './ndjson-rewriter.ts';
import type { RowsRewriter } from './rows-rewriter.ts';

/**
 * A form in which an answer may leave. The engine writes rows as JSON only, and the other forms are made of these bytes:
 * so one kept answer serves every form.
 */
export type AnswerFormat = {
  /** As an entity tag has it, and, behind a point, the end of a path. */
  readonly name: string;
  /** What `Accept` may call it; the answer has the first. */
  readonly mediaTypes: readonly [string, ...string[]];
  readonly contentType: string;
  /** Left out of JSON, which is the form that rows come in. */
  readonly rewriter?: (rows: Uint8Array, columns: readonly string[]) => RowsRewriter;
};

export const JSON_FORMAT: AnswerFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json; charset=utf-8',
};

/** All of them, the ones we give rather first. */
export const ANSWER_FORMATS: readonly AnswerFormat[] = [
  JSON_FORMAT,
  {
    name: 'csv',
    mediaTypes: ['text/csv'],
    contentType: 'text/csv; charset=utf-8; header=present',
    rewriter: (rows, columns) => new CsvRewriter(rows, columns),
  },
  {
    name: 'ndjson',
    mediaTypes: ['application/x-ndjson', 'application/ndjson'],
    contentType: 'application/x-ndjson; charset=utf-8',
    rewriter: (rows) => new NdjsonRewriter(rows),
  },
];
