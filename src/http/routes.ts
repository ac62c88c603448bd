import { isUuid } from '../../ingest/source.ts';
import { findCalled } from '../call/called-endpoint.ts';
import type { ExploredTables } from '../call/explored-tables.ts';
import type { NamedRuns } from '../call/named-runs.ts';
import { readPageFiles } from '../console/page-files.ts';
import { doorRoutes, LOG_PATHS, recordPosts } from '../doors/doors.ts';
import { elasticsearchCallRoutes } from '../doors/elasticsearch-routes.ts';
import { LOG_TEXT, logHandler } from '../doors/log-route.ts';
import { CALL_TEXT } from '../openapi/call-text.ts';
import type { AnswerText, OperationText, Schema } from '../openapi/operation-text.ts';
import { describeObject, PROJECT_RULE, refTo } from '../openapi/schemas.ts';
import type { AnswerBudget } from './answer-budget.ts';
import type { AppOptions } from './app.ts';
import type { BodyReader } from './body.ts';
import { callHandler } from './call-route.ts';
import { consoleRoute } from './console-route.ts';
import {
  definitionChangeOperations,
  definitionListOperations,
  definitionReadOperations,
} from './definition-operations.ts';
import { exploreRoute } from './explore-route.ts';
import { fieldsRoute } from './fields-route.ts';
import { FOLLOW_TEXT, followHandler } from './follow-route.ts';
import { healthHandler, readyHandler } from './health-route.ts';
import { metricsHandler } from './metrics-route.ts';
import { DOCUMENT_TEXT, openapiHandler } from './openapi-route.ts';
import { postsRoute } from './posts-route.ts';
import { queryRoutes } from './query-route.ts';
import { rootRoutes } from './root-route.ts';
import {
  type Access,
  type GuardedOperation,
  type OpenOperation,
  pathParameter,
  type Route,
} from './route.ts';
import { runRoute } from './run-route.ts';
import { serviceRoute } from './service-route.ts';
import { sourceListHandler, sourceMakingHandler } from './source-route.ts';
import { ticketRoutes } from './ticket-route.ts';
import { tokenRoutes } from './token-routes.ts';
import { WARNINGS_HEADER } from './warnings.ts';
import type { WorkTurns } from './work-turns.ts';

export type RouteOptions = AppOptions & {
  /** Bodies of posts. */
  readonly bodies: BodyReader;
  /** Bodies of all other requests, which have room even when posts use all of theirs. */
  readonly callBodies: BodyReader;
  readonly answers: AnswerBudget;
  /** Turns of the work on bodies and on callers' SQL texts. */
  readonly turns: WorkTurns;
  /** Calls under way that their callers have named. */
  readonly runs: NamedRuns;
  /** What the SQL of tokens with the scope `explore` may name. */
  readonly tables: ExploredTables;
  /** The version of the service. */
  readonly version: string;
};

/** The access of calls and posts, whose senders may be able to set only a URL. */
const CALLING: Access = { scope: 'query', tokenIn: 'url' };
const POSTING: Access = { scope: 'ingest', tokenIn: 'url' };
const MANAGING: Access = { scope: 'manage', tokenIn: 'headers' };

const ID_OR_NAME = { idOrName: { description: 'UUID of an endpoint, or one of its names' } };
const NAME = { name: { description: 'One of the names of an endpoint' } };
const CHANGED_ID_OR_NAME = {
  idOrName: { description: 'UUID of a definition, or one of its names' },
};
/** The id in a path that may also contain a name. */
const ID = {
  idOrName: {
    description: 'UUID of a definition',
    schema: { type: 'string', format: 'uuid' },
  },
};

/** Methods that change a definition, by its id or by a name. The other methods at a name call it. */
export const CHANGING_METHODS: readonly string[] = ['PUT', 'PATCH', 'DELETE'];

/** All routes of the service, the most frequent first. */
export function serviceRoutes(options: RouteOptions): readonly Route[] {
  const pageFiles = readPageFiles();
  const [firstLogs, ...otherLogs] = logRoutes(options);
  const routes: readonly Route[] = [
    firstLogs!,
    ...endpointRoutes(options),
    ...queryRoutes(options),
    exploreRoute(options),
    fieldsRoute(options),
    runRoute(options),
    ...ticketRoutes(options),
    ...sourceRoutes(options),
    ...tokenRoutes(options),
    followRoute(options),
    ...otherLogs,
    ...doorRoutes(options),
    ...watchRoutes(options),
    postsRoute(options.posts, options.intake),
    serviceRoute(options.serviceState),
    ...rootRoutes(options.version, pageFiles),
    consoleRoute(pageFiles),
    documentRoute(options, () => routes),
    ...elasticsearchCallRoutes(),
  ];
  return routes;
}

function documentRoute(
  { catalogue, profile, version }: RouteOptions,
  routes: () => readonly Route[],
): Route {
  const failureForm = { tell: profile.tellFailure, schemas: profile.failureSchemas };
  const handle = openapiHandler({ routes, catalogue, document: { version, failureForm } });
  return {
    path: '/api/openapi.json',
    operations: { GET: { ...DOCUMENT_TEXT, access: 'optional', handle } },
  };
}

function logRoutes(options: RouteOptions): readonly Route[] {
  const operation: GuardedOperation = {
    ...LOG_TEXT,
    access: POSTING,
    handle: logHandler(options),
  };
  const ended = recordPosts(options);
  return LOG_PATHS.map((path) => ({ path, operations: { POST: operation }, ended }));
}

function endpointRoutes(options: RouteOptions): readonly Route[] {
  const { catalogue, metrics, history, profile } = options;
  const { tellFailedCall: tellFailure } = profile;
  const call: GuardedOperation = {
    ...CALL_TEXT,
    access: CALLING,
    handle: callHandler({ ...options, bodies: options.callBodies }),
  };
  const calls: Omit<Route, 'path'> = {
    operations: { GET: call, POST: call },
    tellFailure,
    ended: (request, outcome) => {
      const called = findCalled(catalogue, pathParameter(request));
      const name = called?.endpoint.definition.name;
      metrics?.countCall(name, outcome);
      history.countCall(name, outcome);
    },
  };
  return [
    { path: '/api/endpoints/query/:idOrName', pathParameters: ID_OR_NAME, ...calls },
    { path: '/api/endpoints/query/name/:name', pathParameters: NAME, ...calls },
    { path: '/endpoints/query/:idOrName', pathParameters: ID_OR_NAME, ...calls },
    {
      path: '/api/endpoints/:idOrName',
      pathParameters: CHANGED_ID_OR_NAME,
      takes: (_request, method) => CHANGING_METHODS.includes(method),
      operations: definitionChangeOperations({ ...options, access: MANAGING }),
    },
    {
      path: '/api/endpoints/:idOrName',
      pathParameters: ID,
      takes: (request) => isUuid(pathParameter(request)),
      operations: definitionReadOperations({ catalogue, access: MANAGING }),
    },
    {
      path: '/api/endpoints/:idOrName',
      pathParameters: ID_OR_NAME,
      isTemplateOfCalls: true,
      ...calls,
    },
    {
      path: '/api/endpoints',
      operations: definitionListOperations({ ...options, access: MANAGING }),
    },
  ];
}

function sourceRoutes(options: RouteOptions): readonly Route[] {
  const { intake, sources, callBodies, catalogue, profile } = options;
  const list: Route = {
    path: '/api/sources',
    operations: {
      GET: {
        summary: 'List the sources of events',
        description: 'For a token that may manage, also their sizes.',
        tag: 'sources',
        answers: jsonAnswer(profile.sourceList.schema),
        access: { scope: 'any', tokenIn: 'headers' },
        handle: sourceListHandler(intake, profile.sourceList),
      },
    },
  };
  if (sources === undefined) return [list];
  const making: GuardedOperation = {
    ...SOURCE_TEXT,
    access: MANAGING,
    handle: sourceMakingHandler(sources, { bodies: callBodies, catalogue }),
  };
  const pathParameters = { name: { description: 'Name of the source' } };
  return [list, { path: '/api/sources/:name', pathParameters, operations: { PUT: making } }];
}

/** The description of making a source. */
const SOURCE_TEXT: OperationText = {
  summary: 'Create a source',
  description:
    'Posts, queries and followers can use it at once. An existing source with the same rule does not change. A rule cannot be changed.',
  tag: 'sources',
  body: {
    isRequired: false,
    description: 'The field of an event with its project; `project` without a body',
    content: {
      'application/json': {
        schema: describeObject({}, { project: PROJECT_RULE }),
        example: { project: 'metadata.project' },
      },
    },
  },
  answers: {
    200: sourceAnswer('It exists already, with this rule'),
    201: sourceAnswer('It is made'),
  },
  failures: [
    'invalid_body',
    'invalid_source',
    'source_conflict',
    'overloaded',
    'storage_failed',
    'store_unavailable',
  ],
};

function sourceAnswer(description: string): AnswerText {
  const schema = describeObject({ result: refTo('Source') });
  const headers = { [WARNINGS_HEADER]: 'A warning if a saved query has the same name' };
  return { description, content: { 'application/json': { schema } }, headers };
}

function followRoute(options: RouteOptions): Route {
  const follow: GuardedOperation = {
    ...FOLLOW_TEXT,
    access: CALLING,
    handle: followHandler(options),
  };
  const path = '/api/sources/:idOrName/tail';
  const pathParameters = { idOrName: { description: 'Name or UUID of a source' } };
  return { path, pathParameters, operations: { GET: follow } };
}

/** Routes for monitoring, which also answer while the service starts and stops. */
function watchRoutes({ readiness, metrics, profile }: RouteOptions): readonly Route[] {
  const watching = (summary: string, handle: OpenOperation['handle']): Route['operations'] => ({
    GET: {
      summary,
      tag: 'watching',
      answers: {
        200: { description: 'Yes', content: { 'application/json': { schema: refTo('Health') } } },
        503: {
          description: 'No, with the reason',
          content: { 'application/json': { schema: refTo('Health') } },
        },
      },
      access: 'open',
      handle,
    },
  });
  const { healthMembers } = profile;
  const health = healthHandler(readiness, healthMembers);
  const ready = readyHandler(readiness, healthMembers);
  const watched: Omit<Route, 'isAlwaysServed'>[] = [
    { path: '/health', operations: watching('Whether the service is healthy', health) },
    { path: '/ready', operations: watching('Whether calls and posts are accepted', ready) },
  ];
  if (metrics !== undefined) {
    const operation: GuardedOperation = {
      summary: 'Numbers for Prometheus',
      tag: 'watching',
      answers: {
        200: {
          description: 'In Prometheus’s text format',
          content: { 'text/plain': { schema: { type: 'string' } } },
        },
      },
      access: MANAGING,
      handle: metricsHandler(metrics),
    };
    watched.push({ path: '/metrics', operations: { GET: operation } });
  }
  return watched.map((route) => ({ ...route, isAlwaysServed: true }));
}

function jsonAnswer(schema: Schema): OperationText['answers'] {
  return { 200: { description: 'As asked for', content: { 'application/json': { schema } } } };
}
