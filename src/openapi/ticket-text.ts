import { CALL_TEXT } from './call-text.ts';
import { EXPLORE_BODY, EXPLORE_TEXT } from './explore-text.ts';
import type { OperationText, Schema } from './operation-text.ts';
import { QUERY_BODY, QUERY_TEXT } from './query-text.ts';
import { describeObject, describeUnion, refTo, STRING, TIME } from './schemas.ts';

/** A body that may have more: the format of the download. */
function withFormat(body: Schema, formats: readonly string[]): Schema {
  const { properties, required } = body as {
    readonly properties: Readonly<Record<string, Schema>>;
    readonly required: readonly string[];
  };
  const all = { ...properties, format: { enum: formats } };
  return { ...body, properties: all, required: [...required, 'format'] };
}

/** The description of making a ticket. */
export const TICKET_TEXT: OperationText = {
  summary: 'Create a URL for one download',
  description:
    'Downloads the answer of a query, or all events that an explore request matches. The URL works once, within 60 s, and needs no token.',
  tag: 'queries',
  body: {
    isRequired: true,
    description: 'A query or an explore request, and the format',
    content: {
      'application/json': {
        schema: describeUnion([
          withFormat(QUERY_BODY, ['csv', 'ndjson', 'json']),
          withFormat(EXPLORE_BODY, ['csv', 'ndjson']),
        ]),
        example: { sql: 'SELECT 1 AS one', format: 'csv' },
      },
    },
  },
  answers: {
    201: {
      description: 'The ticket',
      content: {
        'application/json': {
          schema: describeObject({
            result: describeObject({
              id: {
                ...STRING,
                description: 'Also the id of the run, for its progress and to cancel it',
              },
              url: STRING,
              expires_at: TIME,
            }),
          }),
        },
      },
    },
  },
  failures: [...new Set([...(QUERY_TEXT.failures ?? []), ...(EXPLORE_TEXT.failures ?? [])])],
};

/** The description of using a ticket. */
export const DOWNLOAD_TEXT: OperationText = {
  summary: 'Download what a ticket is for',
  description: 'Works once. After a failure later than the first byte, weir closes the connection.',
  tag: 'queries',
  answers: {
    200: {
      description: 'The rows, in the format of the ticket',
      content: {
        'text/csv': { schema: STRING },
        'application/x-ndjson': { schema: STRING },
        'application/json': { schema: refTo('Result') },
      },
      headers: {
        ...CALL_TEXT.answers[200]?.headers,
        'Content-Disposition': 'The name of the file to save',
      },
    },
    ...(CALL_TEXT.answers[304] && { 304: CALL_TEXT.answers[304] }),
  },
  failures: ['unauthorized', 'unknown_ticket', ...(TICKET_TEXT.failures ?? [])],
};
