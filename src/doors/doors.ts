import { ADDRESS_KEYS } from '../../ingest/known-key.ts';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation, Route } from '../http/route.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { addressParameters, POST_TEXT } from '../openapi/post-text.ts';
import { type PostHistory, senderOf } from '../watch/post-history.ts';
import type { ServiceHistory } from '../watch/service-history.ts';
import { type Door, type DoorOptions, doorHandler } from './door.ts';
import {
  ELASTICSEARCH_ANSWERS,
  ELASTICSEARCH_DOOR,
  ELASTICSEARCH_HEADERS,
  REFRESHED,
} from './elasticsearch-door.ts';
import { FIREHOSE_DOOR } from './firehose-door.ts';
import { GELF_DOOR } from './gelf-door.ts';
import { journalRoute } from './journal-door.ts';
import { LOGFLARE_DOORS } from './logflare-doors.ts';
import { LOKI_DOOR } from './loki-door.ts';
import { OTLP_DOOR } from './otlp-door.ts';
import { createSplunkDoors, splunkRoutes } from './splunk-door.ts';

/** Paths of the JSON receiver. Logflare's receivers are below them. */
export const LOG_PATHS = ['/api/logs', '/logs', '/api/events'] as const;

/**
 * Base paths for clients of Elasticsearch: one to configure, and the root. In this order, or the
 * first would be taken for an index.
 */
const ELASTICSEARCH_BASES = ['/elasticsearch', ''] as const;

/** Counts and reports how posts ended. */
export function recordPosts({
  metrics,
  history,
  posts,
}: {
  readonly metrics?: Metrics | undefined;
  readonly history: ServiceHistory;
  readonly posts: PostHistory;
}): Route['ended'] {
  return (request, ended) => {
    metrics?.countPost(ended);
    history.countPost(ended);
    const { status, code, message, grant } = ended;
    const from = request.socket.remoteAddress;
    posts.addAnswer(senderOf(request, grant), { status, code, message, from });
  };
}

/** The routes of all receivers except the JSON one. */
export function doorRoutes(
  options: DoorOptions & {
    readonly metrics?: Metrics | undefined;
    readonly history: ServiceHistory;
  },
): readonly Route[] {
  const ended = recordPosts(options);
  const route = <Notes>(path: string, door: Door<Notes>): Route => {
    const post = posting(door, options);
    const { tellFailure, failureSchemas, optionsStatus } = door;
    const operations = { POST: post };
    return { path, operations, tellFailure, failureSchemas, optionsStatus, ended };
  };
  // Ids of acknowledgements go on after a restart: a sender may still wait for earlier ones.
  const firstAckId = Math.floor(options.clock.nowUs() / 1_000);
  return [
    route('/v1/logs', OTLP_DOOR),
    route('/loki/api/v1/push', LOKI_DOOR),
    route('/firehose', FIREHOSE_DOOR),
    route('/gelf', GELF_DOOR),
    journalRoute(options, ended),
    ...LOG_PATHS.flatMap((base) =>
      Array.from(LOGFLARE_DOORS, ([path, door]) => route(`${base}${path}`, door)),
    ),
    ...elasticsearchRoutes(options, ended),
    ...Array.from(createSplunkDoors(firstAckId), ([path, door]) => route(path, door)),
    ...splunkRoutes(options),
  ];
}

function elasticsearchRoutes(options: DoorOptions, ended: Route['ended']): readonly Route[] {
  const bulk = posting(ELASTICSEARCH_DOOR, options);
  const { tellFailure, failureSchemas } = ELASTICSEARCH_DOOR;
  const bulks = {
    operations: { POST: bulk, PUT: bulk },
    headers: ELASTICSEARCH_HEADERS,
    tellFailure,
    failureSchemas,
    ended,
  };
  return ELASTICSEARCH_BASES.flatMap((base) => [
    { path: `${base}/_bulk`, ...bulks },
    {
      path: `${base}/:index/_bulk`,
      pathParameters: {
        index: { description: 'Source of documents whose index is not the name of a source' },
      },
      ...bulks,
    },
    ...Array.from(ELASTICSEARCH_ANSWERS, ([path, value]): Route => {
      const answer = telling(
        'Answer what clients of Elasticsearch request before they send',
        value,
      );
      return {
        path: `${base}${path}`,
        operations: { GET: answer },
        headers: ELASTICSEARCH_HEADERS,
      };
    }),
    ...['/_refresh', '/:index/_refresh'].map((path): Route => {
      const answer = telling('Refresh; stored events are visible without it', REFRESHED);
      return {
        path: `${base}${path}`,
        pathParameters: path.startsWith('/:') ? { index: { description: 'Any' } } : undefined,
        operations: { GET: answer, POST: answer },
        headers: ELASTICSEARCH_HEADERS,
      };
    }),
  ]);
}

function telling(summary: string, value: object): GuardedOperation {
  return {
    summary,
    tag: 'posting',
    answers: {
      200: {
        description: 'Always the same',
        content: { 'application/json': { schema: { const: value } } },
      },
    },
    access: { scope: 'any', tokenIn: 'password' },
    handle: (_request, response) => sendJson(response, 200, value),
  };
}

function posting<Notes>(door: Door<Notes>, options: DoorOptions): GuardedOperation {
  const content = Array.from(door.formats.keys(), (type) => [type, door.bodyText(type)]);
  return {
    ...POST_TEXT,
    summary: door.summary,
    parameters: [
      ...addressParameters(door.addressKeys ?? ADDRESS_KEYS),
      ...(door.parameters ?? []),
    ],
    body: { isRequired: false, content: Object.fromEntries(content) },
    answers: door.answers,
    failures: [...POST_TEXT.failures, ...(door.refusalCode ? [door.refusalCode] : [])],
    access: { scope: 'ingest', tokenIn: 'password' },
    handle: doorHandler(door, options),
  };
}
