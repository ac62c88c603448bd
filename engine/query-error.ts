/**
 * What can go wrong with a query through no fault of ours. Codes are stable and stand in docs/http-api.md.
 *
 * - `invalid_sql`: the text does not parse or bind; carries line and column.
 * - `invalid_regular_expression`: a pattern RE2 does not take.
 * - `query_failed`: a value met at run time has no answer (division by zero, a failed CAST).
 * - `query_limit`: over a limit of memory, groups, rows or text.
 * - `answer_too_large`: the rows of the answer have too many bytes.
 * - `query_timeout`, `query_cancelled`: stopped from outside.
 * - `out_of_reach`: it asks for a source or a project that its caller may not read.
 * - `overloaded`: too many queries wait already; this one was not begun.
 * - `storage_failed`: a file of what it reads cannot be read at present, or what does not fit into memory cannot be written.
 * - `store_unavailable`: another service has the events, and cannot be reached at present.
 * - `worker_lost`: the thread that ran it is no more; another has taken its place.
 */
export type QueryErrorCode =
  | 'invalid_sql'
  | 'invalid_regular_expression'
  | 'query_failed'
  | 'query_limit'
  | 'answer_too_large'
  | 'query_timeout'
  | 'query_cancelled'
  | 'out_of_reach'
  | 'overloaded'
  | 'storage_failed'
  | 'store_unavailable'
  | 'worker_lost';

/** Line and column of the first character, both from 1; offsets in UTF-16 units, half open. */
export type Span = {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
  /**
   * Where it stands in the text of a view, when it is no part of the text but of one that is selected from
   * at this place.
   */
  readonly view?: ViewPlace;
};

/** A place in the text of the view of this name. */
type ViewPlace = {
  readonly name: string;
  readonly line: number;
  readonly column: number;
};

/** The message tells of a place in a view; what is left of the span is a place in the text itself. */
export class QueryError extends Error {
  readonly code: QueryErrorCode;
  readonly span: Span | undefined;
  /** Seconds after which the same query may fare better, where that is known. */
  readonly retryAfterS: number | undefined;
  /** The name of a table that does not exist and that is near to none. */
  readonly unknownTable: string | undefined;

  constructor(
    code: QueryErrorCode,
    message: string,
    span?: Span,
    options?: ErrorOptions & {
      readonly retryAfterS?: number | undefined;
      readonly unknownTable?: string | undefined;
    },
  ) {
    const { view, ...place } = span ?? {};
    super(
      view === undefined
        ? message
        : `in ${view.name}, line ${view.line}, column ${view.column}: ${message}`,
      options,
    );
    this.name = 'QueryError';
    this.code = code;
    this.span = view === undefined ? span : (place as Span);
    this.retryAfterS = options?.retryAfterS;
    this.unknownTable = options?.unknownTable;
  }
}

/**
 * Thrown by a checkpoint through a run that has to stop: its caller has gone, its time is over, it holds too much, or the
 * disk does not take what it cannot hold. It is
 * no QueryError: what remembers the error of a value, puts its place in the text to it, or makes NULL of it must not
 * do so with this one.
 */
export class RunStoppedError extends Error {
  readonly code: Extract<
    QueryErrorCode,
    'query_cancelled' | 'query_timeout' | 'query_limit' | 'storage_failed'
  >;

  constructor(code: RunStoppedError['code'], message: string) {
    super(message);
    this.name = 'RunStoppedError';
    this.code = code;
  }
}

/** Refuses the text: it parses, but does not mean anything. */
export function refuse(sentence: string, span: Span | undefined): never {
  throw new QueryError('invalid_sql', sentence, span);
}

/**
 * The line of `text` on which the span begins, and under it a caret at the span's first character.
 * Tabs stay tabs, so that both lines are indented alike. Of a very long line only the part around
 * the caret is shown.
 */
export function caret(text: string, span: Span): string {
  const at = Math.min(span.start, text.length);
  const lead = lastLine(text.slice(Math.max(0, at - LINE_SHOWN_MAX), at));
  const rest = firstLine(text.slice(at, at + LINE_SHOWN_MAX));
  const indent = Array.from(lead, (character) => (character === '\t' ? '\t' : ' ')).join('');
  return `${lead}${rest}\n${indent}^`;
}

/** Characters shown on either side of the caret: a line of a terminal. */
const LINE_SHOWN_MAX = 120;

function lastLine(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1);
}

/** What stands before the first line break. */
export function firstLine(text: string): string {
  const end = text.search(/[\r\n]/);
  return end < 0 ? text : text.slice(0, end);
}
