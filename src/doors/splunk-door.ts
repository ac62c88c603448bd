import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { refusalSentences } from '../../ingest/admission.ts';
import { HEC_SENTENCES, splunkEvents, splunkLines } from '../../ingest/wire/splunk-hec.ts';
import type { WireFormat } from '../../ingest/wire/wire-format.ts';
import { TokenError } from '../access/authenticate.ts';
import { toTenant } from '../access/tenant.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { TellFailure } from '../http/failure.ts';
import { parseJson, textOfBody } from '../http/json-body.ts';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation, OpenOperation, Route } from '../http/route.ts';
import { ACKS_BYTES_MAX, ACKS_MAX } from '../limits.ts';
import type { FailureSchemas, ParameterText } from '../openapi/operation-text.ts';
import { textParameters } from '../openapi/post-text.ts';
import { COUNT, describeList, describeObject, refTo } from '../openapi/schemas.ts';
import type { Door, DoorOptions } from './door.ts';
import { WARNINGS_TEXT } from './post-warnings.ts';

/**
 * Splunk takes any media type, and its senders give what their HTTP client gives: Docker none, Vector the first, and
 * curl the third.
 */
const MEDIA_TYPES = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/x-ndjson',
  'application/octet-stream',
] as const;

const CHANNEL_HEADER = 'x-splunk-request-channel';

const CHANNELS: readonly ParameterText[] = [
  {
    name: 'X-Splunk-Request-Channel',
    in: 'header',
    description: 'The channel of acknowledgements, any text',
    schema: { type: 'string' },
  },
  ...textParameters(['channel'], () => 'The same'),
];

const SHARED = textParameters(
  ['host', 'source', 'sourcetype', 'index', 'time'],
  (name) => `The ${name} of events without one`,
);

const EVENTS_EXAMPLE =
  '{"time":1768478100,"host":"host1","event":"order made"}{"event":{"message":"order paid","order":7}}';

/**
 * The receivers of Splunk's HTTP Event Collector, by path ("HTTP Event Collector REST API endpoints"). Ids of
 * acknowledgements count up from `firstAckId`, so that they differ on each channel.
 *
 * A sender that gets anything but 200 sends the whole body again (Docker) or drops it (Vector, Fluent Bit). So a post
 * with stored events gets 200, which lists the refused ones, and a failure means that nothing is stored.
 */
export function createSplunkDoors(firstAckId: number): ReadonlyMap<string, Door<void>> {
  let nextAckId = firstAckId;
  const tell: Door<void>['tell'] = (request, response, { refusals }, query) => {
    const details = refusalSentences(refusals);
    sendJson(response, 200, {
      ...SUCCESS,
      ...(hasChannel(request, query) && { ackId: nextAckId++ }),
      ...(details.length > 0 && { details }),
    });
  };
  const create = (summary: string, format: WireFormat, example: string): Door<void> => ({
    summary,
    formats: new Map(MEDIA_TYPES.map((type) => [type, format])),
    bodyText: () => ({ schema: { type: 'string' }, example }),
    answers: {
      200: {
        description: 'Stored; `details` lists the refused events, if any',
        headers: WARNINGS_TEXT,
        content: { 'application/json': { schema: refTo('HecAnswer') } },
      },
    },
    sourceElse: 'default',
    // Splunk's own parameter `source` is the origin of the events.
    addressKeys: ['source_name', 'collection_name'],
    parameters: [...CHANNELS, ...SHARED],
    refusalCode: 'events_refused',
    tellsRefusals: true,
    tell,
    tellFailure: tellLikeSplunk,
    failureSchemas: FAILURE_SCHEMAS,
    // Docker looks for this before it starts a container.
    optionsStatus: 200,
  });
  const events = create('Store events of Splunk’s senders', splunkEvents, EVENTS_EXAMPLE);
  const lines = create('Store lines of Splunk’s senders', splunkLines, 'order made\norder paid\n');
  return new Map([
    ['/services/collector', events],
    ['/services/collector/event', events],
    ['/services/collector/event/1.0', events],
    ['/services/collector/raw', lines],
    ['/services/collector/raw/1.0', lines],
  ]);
}

/** What senders ask before and after they send. */
export function splunkRoutes(options: Pick<DoorOptions, 'bodies'>): readonly Route[] {
  const told = { tellFailure: tellLikeSplunk, failureSchemas: FAILURE_SCHEMAS };
  const acks = { POST: acksOperation(options) };
  return [
    { path: '/services/collector/ack', operations: acks, ...told },
    ...['/services/collector/health', '/services/collector/health/1.0'].map((path) => ({
      path,
      operations: { GET: HEALTH },
      ...told,
    })),
  ];
}

const SUCCESS = { text: 'Success', code: 0 } as const;
const HEALTHY = { text: 'HEC is healthy', code: 17 } as const;

const HEALTH: OpenOperation = {
  summary: 'Answer Splunk’s senders that they may send',
  tag: 'posting',
  answers: {
    200: {
      description: 'Always the same',
      content: { 'application/json': { schema: { const: HEALTHY } } },
    },
  },
  access: 'open',
  handle: (_request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    sendJson(response, 200, HEALTHY);
  },
};

const ACKS = z.object({ acks: z.array(z.int().min(0)).max(ACKS_MAX) });

/** A post gets its id after its events are durable. So each id is acknowledged, and none need be remembered. */
function acksOperation({ bodies }: Pick<DoorOptions, 'bodies'>): GuardedOperation {
  return {
    summary: 'Answer Splunk’s senders whether posts are durable',
    tag: 'posting',
    parameters: CHANNELS,
    body: {
      isRequired: true,
      content: {
        'application/json': {
          schema: describeObject({ acks: describeList(COUNT) }),
          example: { acks: [1, 2] },
        },
      },
    },
    answers: {
      200: {
        description: 'All are: a post without durable events gets no id',
        content: {
          'application/json': { schema: describeObject({ acks: { type: 'object' } }) },
        },
      },
    },
    failures: ['ingest_overloaded'],
    access: { scope: 'ingest', tokenIn: 'password' },
    handle: async (request, response, { grant }) => {
      const terms = { bytesMax: ACKS_BYTES_MAX, tenant: toTenant(grant) };
      const ids = await bodies.use(request, response, terms, async (pieces) =>
        parseAckIds(textOfBody(Buffer.concat(pieces))),
      );
      sendJson(response, 200, { acks: Object.fromEntries(ids.map((id) => [id, true])) });
    },
  };
}

function parseAckIds(text: string): readonly number[] {
  const parsed = ACKS.safeParse(parseJson(text));
  if (parsed.success) return parsed.data.acks;
  throw new ServiceError(
    'invalid_body',
    `the body must be {"acks": […]} with at most ${ACKS_MAX} ids; got something else`,
  );
}

function hasChannel({ headers }: IncomingMessage, query: ParameterTexts): boolean {
  const header = headers[CHANNEL_HEADER] ?? '';
  return header !== '' || (query.get('channel')?.[0] ?? '') !== '';
}

const FAILURE_SCHEMAS: FailureSchemas = { 'application/json': () => refTo('HecAnswer') };

/** A failure of Splunk. Only codes about events have an `invalid-event-number`. */
type HecFailure = { readonly status: number; readonly code: number; readonly text: string };

const BUSY: HecFailure = { status: 503, code: 9, text: 'Server is busy' };
const TOKEN_INVALID: HecFailure = { status: 403, code: 4, text: 'Invalid token' };
const INDEX_INCORRECT: HecFailure = { status: 400, code: 7, text: 'Incorrect index' };
const FORMAT_INVALID: HecFailure = { status: 400, code: 6, text: 'Invalid data format' };

/** "Troubleshoot HTTP Event Collector", "Possible error codes". */
const FAILURES: ReadonlyMap<ErrorCode, HecFailure> = new Map([
  ['unauthorized', { status: 401, code: 2, text: 'Token is required' }],
  ['forbidden', TOKEN_INVALID],
  ['out_of_reach', INDEX_INCORRECT],
  ['unknown_source', INDEX_INCORRECT],
  ['events_refused', FORMAT_INVALID],
  ['invalid_body', FORMAT_INVALID],
  ['unsupported_media_type', FORMAT_INVALID],
  ['unsupported_encoding', FORMAT_INVALID],
  ['body_too_large', { ...FORMAT_INVALID, status: 413 }],
  ['internal', { status: 500, code: 8, text: 'Internal server error' }],
]);

const EVENT_CODES: ReadonlySet<number> = new Set([
  FORMAT_INVALID.code,
  ...Object.values(HEC_SENTENCES).map(({ code }) => code),
]);

/** Begins with Splunk's sentence, which some senders log alone. Nothing before the invalid event 0 is stored. */
function tellLikeSplunk(error: ServiceError): ReturnType<TellFailure> {
  const { message, details } = error;
  const { status, code, text } = toHecFailure(error);
  const value = {
    text: message.startsWith(text) ? message : `${text}: ${message}`,
    code,
    ...(EVENT_CODES.has(code) && { 'invalid-event-number': 0 }),
    details: details.refusals,
  };
  const contentType = 'application/json; charset=utf-8';
  return { status, contentType, body: Buffer.from(JSON.stringify(value)) };
}

function toHecFailure(error: ServiceError): HecFailure {
  const { code, status, title, message, retryAfterS } = error;
  // Some versions of Fluent Bit drop what gets 429.
  if (retryAfterS !== undefined) return BUSY;
  if (error instanceof TokenError && error.reason !== 'missing') return TOKEN_INVALID;
  // A reason keeps its sentence on its way from the decoding thread, but not its class.
  const sentence = Object.values(HEC_SENTENCES).find(({ text }) => message.startsWith(text));
  if (code === 'invalid_body' && sentence !== undefined) return { ...sentence, status: 400 };
  // Splunk answers this for a path that does not exist.
  return FAILURES.get(code) ?? { status, code: status, text: title };
}
