import { DEFINITION_ROWS_MAX } from '../limits.ts';
import { CALL_TEXT, COLUMNS_PARAMETER, QUERY_ID_PARAMETER } from './call-text.ts';
import type { OperationText, Schema } from './operation-text.ts';
import { describeObject } from './schemas.ts';

const ROWS: Schema = { type: 'integer', minimum: 1, maximum: DEFINITION_ROWS_MAX };
const SQL = { schema: { type: 'string', minLength: 1 }, example: 'SELECT 1 AS one' } as const;

/** Failures of calls that a query has, too. */
const CALL_FAILURES = (CALL_TEXT.failures ?? []).filter((code) => code !== 'unknown_endpoint');

/** A query in a JSON body. */
export const QUERY_BODY = describeObject(
  { sql: { type: 'string', minLength: 1 } },
  {
    parameters: {
      type: 'object',
      description:
        'By name: a string, a number, a boolean, or a type with its value, as in {"type": "TIMESTAMP", "value": "2026-01-15T12:00:00Z"}',
    },
    max_rows: ROWS,
  },
);

/** The description of running SQL that is no definition's. */
export const QUERY_TEXT: OperationText = {
  summary: 'Run SQL',
  description:
    'Runs SQL over all sources and saved queries in reach of the token. The answer has the format of a saved query, and is never cached.',
  tag: 'queries',
  parameters: [
    {
      name: 'parameters',
      in: 'query',
      description: 'Parameters of the text, each by its name; all are STRING',
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      isSet: true,
    },
    {
      name: 'explain',
      in: 'query',
      description: 'Return the plan and the work of each operator instead of the rows',
      schema: { type: 'string', enum: ['true', 'false'] },
    },
    COLUMNS_PARAMETER,
    QUERY_ID_PARAMETER,
    {
      name: 'max_rows',
      in: 'query',
      description: 'The most rows of the answer, if the body does not say; 1,000 by default',
      schema: ROWS,
    },
  ],
  body: {
    isRequired: true,
    description: 'The SQL, or the SQL with its parameters',
    content: {
      'application/json': {
        schema: QUERY_BODY,
        example: { sql: 'SELECT @name AS name', parameters: { name: 'weir' } },
      },
      'application/sql': SQL,
      'text/plain': SQL,
    },
  },
  answers: { 200: { ...CALL_TEXT.answers[200], description: 'The rows' } },
  failures: CALL_FAILURES,
};
