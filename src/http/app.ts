import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';
import { QueryError } from '../../engine/query-error.ts';
import { isUuid, type Source } from '../../ingest/source.ts';
import type { Tokens } from '../access/tokens.ts';
import type { CallerQueries } from '../call/caller-queries.ts';
import type { EndpointCaller } from '../call/endpoint-call.ts';
import type { Clock } from '../clock.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { addDoors, LOG_PATHS, tellerAt } from '../doors/doors.ts';
import { logHandler } from '../doors/log-route.ts';
import { echo } from '../echo.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { type Log, stackOf } from '../log.ts';
import { LogThrottle } from '../log-throttle.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Profile } from '../profile.ts';
import type { Readiness } from '../readiness.ts';
import type { LogIntake } from '../store/log-intake.ts';
import { BodyReader } from './body.ts';
import { callHandler, pathParameter } from './call-route.ts';
import { useExpressMessages } from './express-messages.ts';
import { addRoute, type Handler } from './http-route.ts';
import type { ServedApp } from './http-server.ts';
import { endpointHandler, endpointListHandler, sourceListHandler } from './management-route.ts';
import { counted, metricsHandler } from './metrics-route.ts';
import { requestIdOf, sendError, sendJson } from './response.ts';

export type AppOptions = {
  readonly profile: Profile;
  readonly catalogue: Catalogue;
  readonly caller: EndpointCaller;
  readonly callerQueries: CallerQueries;
  readonly intake: LogIntake;
  /** Of senders who name none. */
  readonly defaultSource: Source;
  readonly tokens: Tokens;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly log: Log;
  readonly bodies?: BodyReader | undefined;
  /** Left out, nothing is counted and nothing is at `/metrics`. */
  readonly metrics?: Metrics | undefined;
};

/** What a caller may name its request: nothing that would break a log or a header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** Headers that pages of other origins may read. */
const EXPOSED_HEADERS = 'X-Request-Id, Server-Timing, Age, Cache-Status, ETag, Retry-After, Allow';

/** Where endpoints are called, and their definitions told. */
const CALL_PATH = /^(?:\/api)?\/endpoints(?:\/|$)/;

/** All routes of the service, for a server to serve. */
export function createApp(options: AppOptions): ServedApp & { readonly listener: Express } {
  const { profile, readiness, metrics, tokens } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.use(beginResponse);
  app.use(checkExpectation);
  addHealthRoutes(app, readiness, profile);
  // Whoever watches wants the numbers of a service that is starting or stopping, too.
  if (metrics !== undefined)
    addRoute(app, '/metrics', { GET: metricsHandler({ metrics, tokens }) });
  app.use((request, _response, next) => {
    if (request.method !== 'OPTIONS') readiness.check();
    next();
  });
  addServiceRoutes(app, { ...options, bodies: options.bodies ?? new BodyReader() });
  app.use((request) => {
    throw new ServiceError('unknown_route', `there is nothing at ${echo(request.path)}`);
  });
  app.use(failureHandler(options));
  return { listener: app, messages: useExpressMessages(app) };
}

/** Logs what should be known here, and tells the caller. Express knows it by its four parameters. */
function failureHandler({ profile, log, clock }: AppOptions): ErrorRequestHandler {
  const throttle = new LogThrottle();
  return (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    const known = asServiceError(error, requestIdOf(response));
    logFailure(known, request, response, (entry) => {
      // That there is too much to do is said now and then; `/metrics` counts every time.
      const leftOut =
        known.retryAfterS === undefined ? 0 : throttle.admit(known.code, clock.monotonicMs());
      if (leftOut !== undefined) log(leftOut === 0 ? entry : { ...entry, left_out: leftOut });
    });
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const isCall = CALL_PATH.test(request.path);
    const tell = isCall ? profile.tellFailedCall : profile.tellFailure;
    sendError(request, response, known, tellerAt(request.path) ?? tell);
  };
}

function beginResponse(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
  response.setHeader('X-Request-Id', isUsable ? given : randomUUID());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  next();
}

/** The one thing that can be expected of a server (RFC 9110 §10.1.1). */
function checkExpectation(request: Request, _response: Response, next: NextFunction): void {
  const { expect } = request.headers;
  if (expect !== undefined && !/\b100-continue\b/i.test(expect)) {
    throw new ServiceError('invalid_request', `Expect must be 100-continue; got ${echo(expect)}`);
  }
  next();
}

function addHealthRoutes(app: Express, readiness: Readiness, { healthMembers }: Profile): void {
  const handler = (words: { readonly good: string; readonly bad: string }): Handler => {
    return (_request, response) => {
      const { reason, details } = readiness;
      response.setHeader('Cache-Control', 'no-store');
      const bad = details.recovering === undefined ? words.bad : 'recovering';
      if (reason === undefined)
        sendJson(response, 200, { status: words.good, ...healthMembers, ...details });
      else sendJson(response, 503, { status: bad, reason, ...details });
    };
  };
  addRoute(app, '/health', { GET: handler({ good: 'ok', bad: 'coming_up' }) });
  addRoute(app, '/ready', { GET: handler({ good: 'ready', bad: 'not_ready' }) });
}

function addServiceRoutes(
  app: Express,
  options: AppOptions & { readonly bodies: BodyReader },
): void {
  const call = countedCalls(callHandler(options), options);
  const calls = { GET: call, POST: call };
  const definition = { GET: endpointHandler(options) };
  const logs = { POST: countedPosts(logHandler(options), options) };
  // Express looks at one route after another: what is asked most comes first.
  addRoute(app, LOG_PATHS[0], logs);
  addRoute(app, '/api/endpoints/query/:idOrName', calls);
  addRoute(app, '/api/endpoints/query/name/:name', calls);
  addRoute(app, '/endpoints/query/:idOrName', calls);
  addRoute(app, '/api/endpoints/:idOrName', (request) =>
    isUuid(String(request.params['idOrName'])) ? definition : calls,
  );
  addRoute(app, '/api/endpoints', { GET: endpointListHandler(options) });
  addRoute(app, '/api/sources', { GET: sourceListHandler(options) });
  for (const path of LOG_PATHS.slice(1)) addRoute(app, path, logs);
  addDoors(app, options, (handler) => countedPosts(handler, options));
}

function countedCalls(handler: Handler, { metrics, catalogue, clock }: AppOptions): Handler {
  if (metrics === undefined) return handler;
  return counted(handler, clock, (request, outcome) => {
    metrics.countCall(catalogue.find(pathParameter(request))?.definition.name, outcome);
  });
}

function countedPosts(handler: Handler, { metrics, clock }: AppOptions): Handler {
  if (metrics === undefined) return handler;
  return counted(handler, clock, (_request, outcome) => metrics.countPost(outcome));
}

/** A failure that is ours, or that whoever runs the service should know of. */
function logFailure(known: ServiceError, request: Request, response: Response, log: Log): void {
  if (known.status < 500) return;
  log({
    level: 'error',
    event: 'request_failed',
    request_id: requestIdOf(response),
    method: request.method,
    path: request.path,
    status: known.status,
    code: known.code,
    // A bug is told in full, here only; of what is expected the message says all.
    error: known.code === 'internal' ? stackOf(known.details.cause ?? known) : known.message,
  });
}

function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof QueryError) return fromQueryError(error);
  // The router's own word for a path that does not decode.
  if (error instanceof URIError) {
    const message = 'a % in the path must begin UTF-8 in hexadecimal';
    return new ServiceError('invalid_request', message, { cause: error });
  }
  const message = `the service made a mistake; its log tells more about the request ${requestId}`;
  return new ServiceError('internal', message, { cause: error });
}
