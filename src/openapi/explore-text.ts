import { EXPLORE_BUCKETS_MAX, EXPLORE_ROWS_MAX } from '../limits.ts';
import { QUERY_ID_PARAMETER } from './call-text.ts';
import type { OperationText, Schema } from './operation-text.ts';
import { describeList, describeObject, TIME } from './schemas.ts';

const STRING: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

const TIME_DESCRIPTION = 'An ISO 8601 time or date, `now`, or a time before now such as `-3h`';

const OTHER_TIMES: readonly Schema[] = [
  { type: 'string', format: 'date' },
  { type: 'string', pattern: '^-\\d{1,9}[smhdw]$' },
];
const NOW: Schema = { enum: ['now'] };
const FROM: Schema = { anyOf: [TIME, NOW, ...OTHER_TIMES], description: TIME_DESCRIPTION };
const TO: Schema = { anyOf: [NOW, TIME, ...OTHER_TIMES], description: TIME_DESCRIPTION };

const PLACE: Schema = {
  description: '`next` of an earlier answer, or the timestamp and id of an event',
  anyOf: [STRING, describeObject({ timestamp: { type: 'integer' }, id: STRING }), { type: 'null' }],
};

/** Failures of runs. */
const RUN_FAILURES = [
  'query_failed',
  'query_limit',
  'answer_too_large',
  'overloaded',
  'worker_lost',
  'storage_failed',
  'store_unavailable',
  'query_timeout',
] as const;

export const EXPLORE_BODY = describeObject(
  { source: STRING },
  {
    project: { type: 'string', minLength: 1 },
    from: FROM,
    to: TO,
    search: { ...STRING, description: 'A search: words, phrases, and conditions on fields' },
    where: { ...STRING, description: 'A condition in GoogleSQL over the table `t`' },
    by: { ...STRING, description: 'The field of the series of the histogram' },
    buckets: { type: 'integer', minimum: 1, maximum: EXPLORE_BUCKETS_MAX },
    limit: { type: 'integer', minimum: 1, maximum: EXPLORE_ROWS_MAX },
    before: PLACE,
    after: PLACE,
    histogram: { type: 'boolean' },
  },
);

/** The description of exploring. */
export const EXPLORE_TEXT: OperationText = {
  summary: 'List events, and count them over time',
  description:
    'Reads one snapshot of the data. The lines of the answer are JSON: the queries, the rows, the buckets as they are counted, and the end or an error.',
  tag: 'queries',
  parameters: [QUERY_ID_PARAMETER],
  body: {
    isRequired: true,
    description: 'The events to list and to count',
    content: {
      'application/json': {
        schema: EXPLORE_BODY,
        example: { source: 'cloudflare.logs.prod', from: '-3h', search: 'GET -debug' },
      },
    },
  },
  answers: {
    200: {
      description: 'The lines',
      content: { 'application/x-ndjson': { schema: { type: 'string' } } },
    },
  },
  failures: [
    'invalid_body',
    'invalid_parameter',
    'out_of_reach',
    'unknown_source',
    'invalid_sql',
    'invalid_regular_expression',
    ...RUN_FAILURES,
  ],
};

const FIELD = describeObject({
  path: { ...STRING, description: 'The field in the syntax of a search' },
  keys: describeList(STRING),
  kinds: describeList({ enum: ['BOOL', 'INT64', 'FLOAT64', 'STRING', 'ARRAY'] }),
  events: COUNT,
  distinct: COUNT,
  distinct_is_exact: { type: 'boolean' },
  top: describeList(describeObject({ value: {}, count: COUNT })),
  top_is_exact: { type: 'boolean' },
});

/** The description of the fields of a source. */
export const FIELDS_TEXT: OperationText = {
  summary: 'List the fields of a source',
  description:
    'Lists the paths and kinds of the fields in a time range, with the exact number of events that have each. Distinct and most frequent values are exact for few events, and estimated for more. With ClickHouse as the store, all numbers of more than 500 events are estimates from `sampled_events`.',
  tag: 'sources',
  parameters: [
    {
      name: 'project',
      in: 'query',
      description: 'Only events of this project, by the rule of the source',
      schema: { type: 'string', minLength: 1 },
    },
    { name: 'from', in: 'query', description: TIME_DESCRIPTION, schema: FROM },
    { name: 'to', in: 'query', description: `${TIME_DESCRIPTION}; not included`, schema: TO },
  ],
  answers: {
    200: {
      description: 'The fields, most events first',
      content: {
        'application/json': {
          schema: describeObject(
            {
              source: STRING,
              from: STRING,
              to: STRING,
              events: COUNT,
              fields: describeList(FIELD),
              is_cut: { type: 'boolean' },
            },
            { sampled_events: COUNT },
          ),
        },
      },
    },
  },
  failures: [
    'invalid_parameter',
    'repeated_parameter',
    'out_of_reach',
    'unknown_source',
    ...RUN_FAILURES,
  ],
};
