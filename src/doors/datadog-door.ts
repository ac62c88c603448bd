import { STATUS_CODES } from 'node:http';
import { datadogLines, datadogLogs } from '../../ingest/wire/datadog.ts';
import { syslog } from '../../ingest/wire/syslog.ts';
import { TokenError } from '../access/authenticate.ts';
import type { ServiceError } from '../errors.ts';
import type { TellFailure } from '../http/failure.ts';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation, Route } from '../http/route.ts';
import type { FailureSchemas, MediaText } from '../openapi/operation-text.ts';
import { textParameters } from '../openapi/post-text.ts';
import { refTo } from '../openapi/schemas.ts';
import type { Door } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

const JSON_TYPE = 'application/json';
const LOGPLEX = 'application/logplex-1';

const PARAMETERS = textParameters(
  ['ddsource', 'ddtags', 'hostname', 'service'],
  (name) => `The ${name} of logs without one`,
);

const BODIES: ReadonlyMap<string, MediaText> = new Map([
  [
    JSON_TYPE,
    {
      schema: { type: ['array', 'object'] },
      example: [{ message: 'order made', ddsource: 'shop', ddtags: 'env:prod,project:alpha' }],
    },
  ],
  ['text/plain', { schema: { type: 'string' }, example: 'order made\norder paid\n' }],
  [
    LOGPLEX,
    {
      schema: { type: 'string' },
      example: '<13>1 2026-01-15T11:55:00Z host app - - - order made\n',
    },
  ],
]);

const FAILURE_SCHEMAS: FailureSchemas = { [JSON_TYPE]: () => refTo('DatadogFailure') };

/**
 * Datadog's intake of logs (its API reference, "Send logs"). Its agent drops what gets 400, 401, 403 or 413, and repeats
 * after all other failures.
 */
function createDatadogDoor(status: 200 | 202): Door<void> {
  return {
    summary: 'Store logs of Datadog’s senders',
    formats: new Map([
      [JSON_TYPE, datadogLogs],
      ['text/plain', datadogLines],
      // Heroku's drains.
      [LOGPLEX, syslog],
    ]),
    bodyText: (mediaType) => BODIES.get(mediaType) ?? { schema: { type: 'string' } },
    answers: {
      [status]: {
        description: 'All is stored',
        headers: WARNINGS_TEXT,
        content: { [JSON_TYPE]: { schema: { const: {} } } },
      },
    },
    sourceElse: 'default',
    parameters: PARAMETERS,
    refusalCode: 'events_refused',
    tell: (_request, response) => sendJson(response, status, {}),
    tellFailure: tellLikeDatadog,
    failureSchemas: FAILURE_SCHEMAS,
  };
}

const LATEST = createDatadogDoor(202);
const EARLIER = createDatadogDoor(200);

/** The receivers, by path. The last path has the token in it. */
export const DATADOG_DOORS: ReadonlyMap<string, Door<void>> = new Map([
  ['/api/v2/logs', LATEST],
  ['/v1/input', EARLIER],
  ['/v1/input/:token', EARLIER],
]);

const VALID = { valid: true } as const;

const VALIDATION: GuardedOperation = {
  summary: 'Answer Datadog’s senders that their token is valid',
  tag: 'posting',
  answers: {
    200: { description: 'It is', content: { [JSON_TYPE]: { schema: { const: VALID } } } },
  },
  access: { scope: 'any', tokenIn: 'password' },
  handle: (_request, response) => sendJson(response, 200, VALID),
};

/** What senders ask before they send. */
export const DATADOG_ROUTE: Route = {
  path: '/api/v1/validate',
  operations: { GET: VALIDATION },
  tellFailure: tellLikeDatadog,
  failureSchemas: FAILURE_SCHEMAS,
};

function tellLikeDatadog(error: ServiceError): ReturnType<TellFailure> {
  const { code, message, details } = error;
  let { status } = error;
  if (error instanceof TokenError && error.reason !== 'missing') status = 403;
  // The agent would repeat a post after 406.
  if (code === 'events_refused') status = 400;
  const title = STATUS_CODES[status] ?? '';
  const errors = [message, ...(details.refusals ?? [])].map((detail) => ({
    detail,
    status: String(status),
    title,
  }));
  const contentType = 'application/json; charset=utf-8';
  return { status, contentType, body: Buffer.from(JSON.stringify({ errors })) };
}
