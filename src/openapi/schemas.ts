import { SCOPES } from '../access/grant.ts';
import { ERROR_TABLE } from '../errors.ts';
import { HEALTH_CODES } from '../readiness.ts';
import type { Schema } from './operation-text.ts';

/** Refers to a schema below, which the document contains once. */
export function refTo(name: keyof typeof SCHEMAS): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export const STRING: Schema = { type: 'string' };
export const COUNT: Schema = { type: 'integer', minimum: 0 };

/** ISO 8601. */
export const TIME: Schema = { type: 'string', format: 'date-time' };

/** An object with these members, and with those of `optional` that may be absent. */
export function describeObject(
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  const names = Object.keys(required);
  const properties = Object.fromEntries([...Object.entries(required), ...Object.entries(optional)]);
  return { type: 'object', properties, ...(names.length > 0 && { required: names }) };
}

export function describeList(items: Schema): Schema {
  return { type: 'array', items };
}

/** A value of one of these schemas. */
export function describeUnion(schemas: readonly Schema[]): Schema {
  const texts = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const distinct = [...texts.values()];
  const only = distinct.length === 1 ? distinct[0] : undefined;
  return only ?? { anyOf: distinct };
}

/** Members of an error that give its place. */
const PLACE = {
  line: { type: 'integer', minimum: 1, description: 'Line in the SQL text' },
  column: { type: 'integer', minimum: 1, description: 'Column in that line' },
  caret: { type: 'string', description: 'The line, and a caret under the column' },
  parameter: { type: 'string', description: 'The parameter that is wrong' },
  request_id: { type: 'string', description: 'The id in X-Request-Id, which is also in the log' },
} as const;

/** Members of some errors only. */
const ERROR_MEMBERS = {
  ...PLACE,
  details: { description: 'A sentence for each refused event of a post', ...describeList(STRING) },
} as const;

const CODE: Schema = {
  type: 'string',
  enum: [...ERROR_TABLE.keys()],
  description: 'Stable, unlike the message',
};

const NO_INT64: Schema = { type: 'string', pattern: '^-?[0-9]+$' };

const PARAMETER_DEFINITION: Schema = { $ref: '#/components/schemas/ParameterDefinition' };

const DEFINITION = {
  id: { type: 'string', format: 'uuid' },
  name: STRING,
  alias: describeList(STRING),
  description: STRING,
  parameters: describeList(PARAMETER_DEFINITION),
  max_rows: COUNT,
  cache: { type: 'string', description: '`disabled`, or a duration such as `900s`' },
  warm: { type: 'string', description: '`disabled`, or a duration such as `300s`' },
  sandbox: { enum: ['enabled', 'disabled'] },
  query: { type: 'string', description: 'The statement' },
} as const;

export const PROJECT_RULE: Schema = {
  type: 'string',
  description:
    'The field of an event with its project: `project`, or a path such as `metadata.project`',
};

/** Members of a definition that extends another. */
const EXTENSION = {
  extends: {
    type: 'string',
    description: 'The definition that this one extends: its callers also see this one’s tables',
  },
} as const;

/** Named schemas that several operations use. */
export const SCHEMAS = {
  Failure: describeObject({
    error: describeObject({ code: CODE, message: STRING }, ERROR_MEMBERS),
  }),
  Problem: {
    description: 'A failure in the format of RFC 9457',
    ...describeObject(
      {
        type: { type: 'string', format: 'uri' },
        title: STRING,
        status: { type: 'integer' },
        detail: STRING,
        code: CODE,
      },
      ERROR_MEMBERS,
    ),
  },
  Sentence: {
    description: 'A failure in the format of the analytics container',
    ...describeObject({ error: STRING }),
  },
  RpcStatus: {
    description: 'A google.rpc.Status',
    ...describeObject({ code: { type: 'integer' }, message: STRING }),
  },
  ElasticsearchFailure: describeObject({
    status: { type: 'integer' },
    error: describeObject({
      type: CODE,
      reason: STRING,
      root_cause: describeList(describeObject({ type: CODE, reason: STRING })),
    }),
  }),
  Result: {
    description: 'Rows, with their keys in the order of the select list',
    ...describeObject(
      { result: describeList({ type: 'object' }) },
      { columns: describeList(describeObject({ name: STRING, type: STRING })) },
    ),
  },
  Timestamp: {
    description: 'Microseconds since the epoch; as text beyond 2^53',
    anyOf: [{ type: ['integer', 'null'] }, NO_INT64],
  },
  Int64: {
    description: 'Beyond 2^53 as text',
    anyOf: [{ type: ['integer', 'null'] }, NO_INT64],
  },
  Float64: {
    anyOf: [{ type: ['number', 'null'] }, { enum: ['NaN', 'Infinity', '-Infinity'] }],
  },
  Datetime: {
    description: 'A time without a zone, such as 2026-01-15T11:55:00',
    type: ['string', 'null'],
  },
  Explanation: {
    description: 'How a query is answered, and the work of its run',
    ...describeObject(
      {
        name: STRING,
        query: { type: 'object' },
        logical: { type: 'object' },
        optimized: { type: 'object' },
        physical: { type: 'object' },
      },
      { run: { type: 'object' } },
    ),
  },
  ParameterDefinition: describeObject(
    {
      name: STRING,
      type: { enum: ['string', 'int64', 'float64', 'bool', 'timestamp'] },
      required: { type: 'boolean' },
    },
    { default: STRING, enum: describeList(STRING), from: describeList(STRING) },
  ),
  Definition: describeObject(
    {
      ...DEFINITION,
      origin: { enum: ['built-in', 'folder', 'api'] },
      version: { type: 'integer', minimum: 1 },
      selects_from: { description: 'Names of other definitions', ...describeList(STRING) },
      inherited_parameters: {
        description: 'Parameters of the definitions that it selects from',
        ...describeList(PARAMETER_DEFINITION),
      },
    },
    EXTENSION,
  ),
  DefinitionInput: {
    ...describeObject(
      { name: DEFINITION.name, query: DEFINITION.query },
      { ...DEFINITION, ...EXTENSION },
    ),
    additionalProperties: false,
  },
  DefinitionProblem: describeObject(
    {
      origin: { enum: ['folder', 'api'] },
      file: STRING,
      message: STRING,
      served: { enum: ['as before', 'no'] },
    },
    { line: PLACE.line, column: PLACE.column, caret: PLACE.caret },
  ),
  Source: describeObject(
    { id: { type: 'string', format: 'uuid' }, name: STRING, project: PROJECT_RULE },
    { events: COUNT, bytes: COUNT },
  ),
  NumberedSource: {
    description: 'A source in the format of the analytics container',
    ...describeObject(
      { id: COUNT, token: { type: 'string', format: 'uuid' }, name: STRING, project: PROJECT_RULE },
      { events: COUNT, bytes: COUNT },
    ),
  },
  Token: describeObject(
    {
      id: STRING,
      name: STRING,
      scopes: describeList({ enum: SCOPES }),
      from: { enum: ['settings', 'file'], description: 'Tokens of the settings cannot be revoked' },
    },
    {
      projects: {
        ...describeList(STRING),
        description: 'The projects it is bound to; all if absent',
      },
      sources: {
        ...describeList(STRING),
        description: 'The sources it is bound to; all if absent',
      },
      endpoints: {
        ...describeList(STRING),
        description: 'The endpoints it is bound to; all if absent',
      },
      default_source: { type: 'string', description: 'The source of posts that do not name one' },
      events_per_day: {
        type: 'integer',
        description: 'How many events may be posted on a UTC day',
      },
      bytes_per_day: {
        type: 'integer',
        description: 'How many bytes after decompression may be posted on a UTC day',
      },
      stored_bytes: {
        type: 'integer',
        description: 'How many bytes after decompression may be posted within the retention',
      },
      used_today: {
        ...describeObject({ events: { type: 'integer' }, bytes: { type: 'integer' } }),
        description: 'What was posted today, if there is a daily quota',
      },
      used_stored_bytes: {
        type: 'integer',
        description: 'What was posted within the retention, if there is a quota of it',
      },
      created_at: TIME,
      expires_at: TIME,
    },
  ),
  Logged: describeObject({ message: { const: 'Logged!' } }),
  Refusals: {
    description: 'A sentence for each refused event, as the analytics container answers',
    ...describeObject({ message: describeList(STRING) }),
  },
  Event: {
    description: 'One log entry; other keys are kept, too',
    ...describeObject(
      {},
      {
        event_message: { description: 'The text; `message` is an alternative' },
        id: { description: 'A new UUID if absent' },
        timestamp: {
          description: 'A number read by its digits, ISO 8601, or another usual form; else now',
        },
        timestamp_text: { description: 'In a stored event: the timestamp that could not be read' },
        project: { description: 'The project, if the source’s rule reads it here' },
        metadata: { description: 'A map, or a list of maps' },
      },
    ),
  },
  DatadogFailure: describeObject({
    errors: describeList(describeObject({ detail: STRING, status: STRING, title: STRING })),
  }),
  HecAnswer: describeObject(
    { text: STRING, code: COUNT },
    { 'invalid-event-number': COUNT, ackId: COUNT, details: describeList(STRING) },
  ),
  BulkAnswer: {
    description: 'All members, or those that filter_path leaves',
    ...describeObject(
      {},
      {
        took: COUNT,
        errors: { type: 'boolean' },
        items: describeList({ type: 'object', minProperties: 1, maxProperties: 1 }),
      },
    ),
  },
  Health: describeObject(
    { status: STRING },
    {
      reason: STRING,
      reasons: describeList(describeObject({ code: { enum: HEALTH_CODES }, message: STRING })),
      recovering: describeObject({ posts_done: COUNT, bytes_done: COUNT, bytes_total: COUNT }),
      damage: describeObject({
        places: COUNT,
        posts_lost: COUNT,
        segments_lost: COUNT,
        columns_lost: COUNT,
        quarantined: COUNT,
      }),
      nodes_count: COUNT,
      memory_utilization: STRING,
    },
  ),
} as const satisfies Readonly<Record<string, Schema>>;
