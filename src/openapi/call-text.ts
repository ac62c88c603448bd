import { ANSWER_FORMATS } from '../call/answer-format.ts';
import { SQL_PARAMETER } from '../call/caller-sql.ts';
import { RUN_ID } from '../call/named-runs.ts';
import { COMPLETE_UNTIL_HEADER, RUN_ID_HEADER, TRUNCATED_HEADER } from '../http/header-names.ts';
import { WARNINGS_HEADER } from '../http/warnings.ts';
import type { MediaText, OperationText, ParameterText } from './operation-text.ts';
import { describeUnion, refTo } from './schemas.ts';

const TEXT: MediaText = { schema: { type: 'string' } };

/** A flag of calls and queries. */
export const COLUMNS_PARAMETER: ParameterText = {
  name: 'columns',
  in: 'query',
  description: 'Whether a JSON answer has the names and types of its columns, too',
  schema: { type: 'string', enum: ['true', 'false'] },
};

export const QUERY_ID_PARAMETER: ParameterText = {
  name: RUN_ID_HEADER,
  in: 'header',
  description:
    'A new id of the caller’s choice, with which it asks for the progress of the query and cancels it',
  schema: { type: 'string', pattern: RUN_ID.source },
};

/** The description of a call of any endpoint; `definition-call.ts` adds that of a single one. */
export const CALL_TEXT: OperationText = {
  summary: 'Call a saved query',
  description:
    'Runs the query, or returns a cached answer. Parameters are in the query string or in a JSON body; undeclared ones are ignored. `Accept` selects the format; `.csv`, `.ndjson` or `.json` after a name selects it, too.',
  tag: 'calls',
  parameters: [
    {
      name: 'parameters',
      in: 'query',
      description: 'The parameters of the definition, by name',
      schema: { type: 'object', additionalProperties: { type: 'string' } },
      isSet: true,
    },
    {
      name: SQL_PARAMETER,
      in: 'query',
      description: "The caller's own SQL, where the definition has a sandbox",
      schema: { type: 'string' },
      mayBeEmpty: true,
    },
    {
      name: 'explain',
      in: 'query',
      description:
        'Return the plan and the work of each operator instead of the rows; needs the scope manage',
      schema: { type: 'string', enum: ['true', 'false'] },
    },
    COLUMNS_PARAMETER,
    QUERY_ID_PARAMETER,
    {
      name: 'If-None-Match',
      in: 'header',
      description: 'The ETag of the caller’s answer',
      schema: { type: 'string' },
    },
  ],
  body: {
    isRequired: false,
    description: 'Parameters, as in the query string; or only SQL',
    content: {
      'application/json': { schema: { type: 'object' } },
      'application/sql': { schema: { type: 'string' } },
      'text/plain': { schema: { type: 'string' } },
    },
  },
  answers: {
    200: {
      description: 'The rows',
      content: {
        ...Object.fromEntries(ANSWER_FORMATS.map(({ mediaTypes }) => [mediaTypes[0], TEXT])),
        'application/json': { schema: describeUnion([refTo('Result'), refTo('Explanation')]) },
        'text/plain': { schema: { type: 'string', description: 'An explanation for people' } },
      },
      headers: {
        Age: 'Seconds since the run read the data, if the answer may be kept',
        'Cache-Control': 'How long a browser may keep the answer',
        'Cache-Status': 'Whether the answer was kept (RFC 9211)',
        ETag: 'Of these bytes',
        'Server-Timing':
          'Milliseconds of the steps, and of what the threads ran while it waited for one',
        [WARNINGS_HEADER]: 'Days of which rows or values are missing because of damage',
        [TRUNCATED_HEADER]: 'The number of rows, if `max_rows` cut the answer',
        [COMPLETE_UNTIL_HEADER]:
          'With ClickHouse as the store: all events acknowledged before this time are in the answer',
      },
    },
    304: { description: 'The caller’s answer is current' },
  },
  failures: [
    'missing_parameter',
    'repeated_parameter',
    'invalid_parameter',
    'invalid_regular_expression',
    'forbidden',
    'out_of_reach',
    'unknown_endpoint',
    'not_acceptable',
    'invalid_sql',
    'query_failed',
    'query_limit',
    'answer_too_large',
    'overloaded',
    'worker_lost',
    'storage_failed',
    'store_unavailable',
    'query_timeout',
  ],
};
