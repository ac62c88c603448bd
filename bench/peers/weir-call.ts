import type { AnswerRow, CellValue, Question } from './question.ts';

/** What weir is called with for a question. */
export type WeirCall = {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
};

/** `floatProject` is the one that all measurements are of. */
export function weirCallOf(question: Question, floatProject: string): WeirCall {
  switch (question.kind) {
    case 'invocation-stats': {
      const { project, interval } = question;
      return { endpoint: 'functions.invocation-stats', parameters: { project, interval } };
    }
    case 'api-counts': {
      const { expression: project, interval } = question;
      return { endpoint: 'usage.api-counts', parameters: { project, interval } };
    }
    case 'logs-all': {
      const { project } = question;
      return { endpoint: 'logs.all', parameters: { project, project_tier: 'PRO' } };
    }
    case 'float-quantiles':
      return { endpoint: 'bench.float-quantiles', parameters: { project: floatProject } };
    case 'definition': {
      const { name, project } = question;
      return { endpoint: `bench.${name}`, parameters: project === undefined ? {} : { project } };
    }
  }
}

/** The rows of an answer as all engines give them; `json` is a list of objects. */
export function rowsOf(question: Question, json: string): readonly AnswerRow[] {
  const rows = JSON.parse(json) as readonly Readonly<Record<string, unknown>>[];
  const cells = rows.map((row) => Object.values(row).map(cellOf));
  if (question.kind !== 'api-counts') return cells;
  // A DATETIME is a text without a zone.
  return cells.map(([time, ...counts]) => [Date.parse(`${time}Z`) * 1000, ...counts]);
}

function cellOf(value: unknown): CellValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
