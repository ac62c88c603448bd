/** What every engine is asked: a query and its parameters, as plain values. */
export type Question =
  /** `functions.invocation-stats`: rows of [bucket µs, min, max, avg, p95, p99, count, errors], by bucket. */
  | {
      readonly kind: 'invocation-stats';
      readonly project: string;
      readonly interval: '5min' | '15min' | '1hr' | '1day' | '7day';
    }
  /** `usage.api-counts`: rows of [bucket µs, rest, storage, auth, realtime], by bucket. */
  | {
      readonly kind: 'api-counts';
      /** An expression of RE2; the reference of a project is one, too. */
      readonly expression: string;
      readonly interval: 'minutely' | 'hourly' | 'daily';
    }
  /** `logs.all`: rows of [id, timestamp µs, event_message, metadata as JSON text], the newest first. */
  | { readonly kind: 'logs-all'; readonly project: string }
  /** One row of [count, p95, p99] over all values of `floats`. */
  | { readonly kind: 'float-quantiles' }
  /**
   * One of the further definitions, by its file's name without the ending; its rows in its order. Some
   * are of all projects.
   */
  | { readonly kind: 'definition'; readonly name: string; readonly project?: string };

/** A value of an answer; timestamps are numbers of microseconds, JSON is text. */
export type CellValue = string | number | boolean | null;

/** A row of an answer: its values in the order that the question says. */
export type AnswerRow = readonly CellValue[];
