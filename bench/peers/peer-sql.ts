import { DEFINITIONS } from './definition-sql.ts';
import type { Question } from './question.ts';
import { countsWindow, logsStartUs, statsWindow, UNIT_US, type Window } from './window.ts';

/**
 * What engines write differently. Timestamps are whole numbers of microseconds in all of them: what
 * each computes with fastest, and what the answer holds.
 */
export type Dialect = {
  /** Whether a text holds one of a few letters and signs, all plain. */
  readonly contains: (column: string, part: string) => string;
  /** Whether a text matches an expression, or `undefined` when the engine cannot tell fast. */
  readonly matches: (column: string, expression: string, bind: Bind) => string | undefined;
  /** One or two columns (or one list of both) with the 95th and the 99th percentile. */
  readonly quantiles: (column: string) => string;
  readonly percentile99: (column: string) => string;
  /** A number that shall not come as a decimal of any length. */
  readonly float: (expression: string) => string;
};

/** Takes a value for the statement, and gives back what stands for it in the text. */
export type Bind = (value: string | number) => string;

export type Statement = { readonly sql: string; readonly values: readonly (string | number)[] };

/** The text of a question for an engine; `undefined` where it cannot be asked. */
export function statementOf(
  question: Question,
  dialect: Dialect,
  placeholder: (value: string | number, index: number) => string,
): Statement | undefined {
  const values: (string | number)[] = [];
  const bind: Bind = (value) => placeholder(value, values.push(value) - 1);
  const sql = textOf(question, dialect, bind);
  return sql === undefined ? undefined : { sql, values };
}

function textOf(question: Question, dialect: Dialect, bind: Bind): string | undefined {
  switch (question.kind) {
    case 'invocation-stats':
      return statsText(question.project, statsWindow(question.interval), dialect, bind);
    case 'api-counts': {
      const condition = dialect.matches('url', question.expression, bind);
      if (condition === undefined) return undefined;
      return countsText(condition, countsWindow(question.interval), dialect, bind);
    }
    case 'logs-all':
      return `SELECT id, timestamp, event_message, metadata FROM full_edge
        WHERE project = ${bind(question.project)} AND timestamp > ${bind(logsStartUs())}
        ORDER BY timestamp DESC LIMIT 100`;
    case 'float-quantiles':
      return `SELECT count(*), ${dialect.quantiles('value')} FROM floats`;
    case 'definition':
      return DEFINITIONS.get(question.name)?.({ dialect, bind, project: question.project });
  }
}

function statsText(project: string, window: Window, dialect: Dialect, bind: Bind): string {
  const { startUs, unit } = window;
  return `SELECT timestamp - timestamp % ${UNIT_US[unit]} AS bucket,
      min(execution_time_ms), max(execution_time_ms), ${dialect.float('avg(execution_time_ms)')},
      ${dialect.quantiles('execution_time_ms')},
      count(*), count(*) FILTER (WHERE status_code >= 400)
    FROM invocations
    WHERE project = ${bind(project)} AND timestamp >= ${bind(startUs)}
    GROUP BY bucket ORDER BY bucket`;
}

function countsText(condition: string, window: Window, dialect: Dialect, bind: Bind): string {
  const { startUs, unit } = window;
  const counts = ['/rest', '/storage', '/auth', '/realtime'].map(
    (part) => `count(*) FILTER (WHERE ${dialect.contains('path', part)})`,
  );
  return `SELECT timestamp - timestamp % ${UNIT_US[unit]} AS bucket, ${counts.join(', ')}
    FROM edge
    WHERE ${condition} AND timestamp >= ${bind(startUs)}
    GROUP BY bucket ORDER BY bucket`;
}
