import { ADDRESS_KEYS } from '../../ingest/known-key.ts';
import type { Access, EndedRequest, GuardedOperation, Route } from '../http/route.ts';
import type { TransportRequest } from '../http/transport.ts';
import { type Metrics, OTHER_SIGNALS } from '../metrics/metrics.ts';
import { addressParameters, POST_TEXT } from '../openapi/post-text.ts';
import { identifySender, type PostHistory } from '../watch/post-history.ts';
import type { ServiceHistory } from '../watch/service-history.ts';
import { DATADOG_DOORS, DATADOG_ROUTE } from './datadog-door.ts';
import { type Door, type DoorOptions, doorHandler } from './door.ts';
import {
  ELASTICSEARCH_DOCUMENT_DOOR,
  ELASTICSEARCH_DOOR,
  ELASTICSEARCH_HEADERS,
} from './elasticsearch-door.ts';
import { ELASTICSEARCH_BASES } from './elasticsearch-routes.ts';
import { FIREHOSE_DOOR } from './firehose-door.ts';
import { GELF_DOOR } from './gelf-door.ts';
import { journalRoute } from './journal-door.ts';
import { LOGFLARE_DOORS } from './logflare-doors.ts';
import { LOKI_DOOR } from './loki-door.ts';
import { OTLP_DOOR } from './otlp-door.ts';
import { otlpOtherDoor } from './otlp-other-door.ts';
import { createSplunkDoors, splunkRoutes } from './splunk-door.ts';
import { createVercelDoor, VERCEL_VERIFICATION } from './vercel-door.ts';

/** Paths of the JSON receiver. Logflare's receivers are below them. */
export const LOG_PATHS = ['/api/logs', '/logs', '/api/events'] as const;

/** The access of receivers, except the JSON one. */
export const DOOR_ACCESS = { scope: 'ingest', tokenIn: 'password' } as const satisfies Access;

const TOKEN_IN_PATH = { token: { description: 'The token, if it is nowhere else' } };

/** Counts and reports how posts ended. */
export function recordPosts({
  metrics,
  history,
  posts,
}: {
  readonly metrics?: Metrics | undefined;
  readonly history: ServiceHistory;
  readonly posts: PostHistory;
}): (request: TransportRequest, ended: EndedRequest) => void {
  return (request, ended) => {
    metrics?.countPost(ended);
    history.countPost(ended);
    const { status, code, message, grant } = ended;
    const from = request.socket.remoteAddress;
    posts.addAnswer(identifySender(request, grant), { status, code, message, from });
  };
}

/** The routes of all receivers except the JSON one. */
export function doorRoutes(
  options: DoorOptions & {
    readonly metrics?: Metrics | undefined;
    readonly history: ServiceHistory;
    /** Without it, signatures of Vercel are not checked. */
    readonly vercelDrainSecret?: string | undefined;
  },
): readonly Route[] {
  const ended = recordPosts(options);
  const route = <Notes>(path: string, door: Door<Notes>): Route => {
    const post = posting(door, options);
    const { tellFailure, failureSchemas, optionsStatus } = door;
    const operations = { POST: post };
    const pathParameters = path.endsWith('/:token') ? TOKEN_IN_PATH : undefined;
    const told = { tellFailure, failureSchemas, optionsStatus, ended };
    return { path, pathParameters, operations, ...told };
  };
  const vercelDoor = createVercelDoor(options.vercelDrainSecret);
  // Ids of acknowledgements go on after a restart: a sender may still wait for earlier ones.
  const firstAckId = Math.floor(options.clock.nowUs() / 1_000);
  return [
    route('/v1/logs', OTLP_DOOR),
    ...OTHER_SIGNALS.map((signal) => {
      const onDiscarded = (count: number): void => options.metrics?.countDiscarded(signal, count);
      return route(`/v1/${signal}`, otlpOtherDoor(signal, onDiscarded));
    }),
    route('/loki/api/v1/push', LOKI_DOOR),
    route('/firehose', FIREHOSE_DOOR),
    route('/gelf', GELF_DOOR),
    journalRoute(options, ended),
    ...LOG_PATHS.flatMap((base) =>
      Array.from(LOGFLARE_DOORS, ([path, door]) => route(`${base}${path}`, door)),
    ),
    ...LOG_PATHS.map((base): Route => {
      const vercel = route(`${base}/vercel`, vercelDoor);
      return { ...vercel, operations: { ...vercel.operations, GET: VERCEL_VERIFICATION } };
    }),
    ...elasticsearchRoutes(options, ended),
    ...Array.from(createSplunkDoors(firstAckId), ([path, door]) => route(path, door)),
    ...splunkRoutes(options),
    ...Array.from(DATADOG_DOORS, ([path, door]) => route(path, door)),
    DATADOG_ROUTE,
  ];
}

/** The posts of clients of Elasticsearch; `elasticsearchCallRoutes` has their other requests. */
function elasticsearchRoutes(options: DoorOptions, ended: Route['ended']): readonly Route[] {
  const route = <Notes>(
    path: string,
    methods: readonly ('POST' | 'PUT')[],
    door: Door<Notes>,
  ): Route => {
    const post = posting(door, options);
    const { tellFailure, failureSchemas } = door;
    return {
      path,
      pathParameters: ELASTICSEARCH_PARAMETERS,
      operations: Object.fromEntries(methods.map((method) => [method, post])),
      headers: ELASTICSEARCH_HEADERS,
      tellFailure,
      failureSchemas,
      ended,
    };
  };
  return ELASTICSEARCH_BASES.flatMap((base) => [
    route(`${base}/_bulk`, ['POST', 'PUT'], ELASTICSEARCH_DOOR),
    route(`${base}/:index/_bulk`, ['POST', 'PUT'], ELASTICSEARCH_DOOR),
    route(`${base}/:index/_doc`, ['POST'], ELASTICSEARCH_DOCUMENT_DOOR),
    route(`${base}/:index/_doc/:id`, ['POST', 'PUT'], ELASTICSEARCH_DOCUMENT_DOOR),
    route(`${base}/:index/_create/:id`, ['POST', 'PUT'], ELASTICSEARCH_DOCUMENT_DOOR),
  ]);
}

const ELASTICSEARCH_PARAMETERS = {
  index: { description: 'Source of documents that name no other; else the default source' },
  id: { description: 'Id of the event' },
};

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
    failures: [
      ...POST_TEXT.failures,
      ...(door.check === undefined ? [] : (['invalid_parameter'] as const)),
      ...(door.checkSent === undefined ? [] : (['invalid_signature'] as const)),
      ...(door.refusalCode ? [door.refusalCode] : []),
    ],
    access: DOOR_ACCESS,
    handle: doorHandler(door, options),
  };
}
