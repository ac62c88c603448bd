import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';
import { QueryError } from '../../engine/query-error.ts';
import type { Source } from '../../ingest/source.ts';
import type { Quotas } from '../access/quotas.ts';
import { RefusedTokens } from '../access/refused-tokens.ts';
import type { Tokens } from '../access/tokens.ts';
import type { CallerQueries } from '../call/caller-queries.ts';
import type { EndpointCaller } from '../call/endpoint-call.ts';
import { ExploredTables } from '../call/explored-tables.ts';
import { NamedRuns } from '../call/named-runs.ts';
import type { QueryEngine } from '../call/query-engine.ts';
import type { Clock } from '../clock.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import type { Definitions } from '../definition/definitions.ts';
import { echo } from '../echo.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import type { Followers } from '../follow/followers.ts';
import { CALL_BODIES_BYTES_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import { LogThrottle, StackThrottle } from '../log-throttle.ts';
import type { MemoryDivision } from '../memory-shares.ts';
import type { RequestMemory } from '../metrics/memory-parts.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Profile } from '../profile.ts';
import type { Readiness } from '../readiness.ts';
import type { LogIntake } from '../store/log-intake.ts';
import type { Sources } from '../store/sources.ts';
import { packageVersion } from '../version.ts';
import type { PostHistory } from '../watch/post-history.ts';
import type { ServiceHistory } from '../watch/service-history.ts';
import { AnswerBudget } from './answer-budget.ts';
import { BodyReader } from './body.ts';
import { useExpressMessages } from './express-messages.ts';
import type { ServedApp } from './http-server.ts';
import { type Fail, mountRoutes } from './mount-routes.ts';
import { COMMON_HEADERS, getRequestId, sendError } from './response.ts';
import type { Route } from './route.ts';
import { CHANGING_METHODS, serviceRoutes } from './routes.ts';
import type { ServiceState } from './service-route.ts';
import { WorkTurns } from './work-turns.ts';

export type AppOptions = {
  readonly profile: Profile;
  readonly catalogue: Catalogue;
  /** Without it, definitions are read-only. */
  readonly definitions?: Definitions | undefined;
  readonly caller: EndpointCaller;
  readonly callerQueries: CallerQueries;
  readonly engine: Pick<QueryEngine, 'takeSnapshot' | 'countFields'>;
  readonly intake: LogIntake;
  /** Without it, no sources can be made. */
  readonly sources?: Sources | undefined;
  readonly followers: Followers;
  /** The source of posts that name none. */
  readonly defaultSource: Source;
  readonly tokens: Tokens;
  /** Without it, posts are unlimited. */
  readonly quotas?: Quotas | undefined;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly log: Log;
  readonly bodies?: BodyReader;
  /** The memory of bodies and answers; by default their absolute limits. */
  readonly memory?: MemoryDivision;
  /** Delay of the refusal of a wrong token after many from its address; by default the limit's. */
  readonly refusedTokenWaitMs?: number | undefined;
  readonly posts: PostHistory;
  readonly history: ServiceHistory;
  readonly serviceState: () => ServiceState;
  /** Without it, nothing is counted and `/metrics` does not exist. */
  readonly metrics?: Metrics | undefined;
};

/** The allowed request ids of callers. They cannot break a log line or a header. */
const REQUEST_ID = /^[\w.:+/=-]{1,128}$/;

/** Headers that give a request its id, in this order. The second is that of Amazon Data Firehose. */
const REQUEST_ID_HEADERS = ['x-request-id', 'x-amz-firehose-request-id'] as const;

/** Paths that call endpoints, or read or change definitions. */
const ENDPOINT_PATH = /^(?:\/api)?\/endpoints(?:\/|$)/;

/** The app that an HTTP server serves, with all its routes. */
export type ServiceApp = ServedApp & {
  readonly listener: Express;
  readonly routes: readonly Route[];
  /** Memory of the requests in progress. */
  readonly memory: () => Omit<RequestMemory, 'followed'>;
};

export function createApp(options: AppOptions): ServiceApp {
  const { profile, readiness, tokens, clock, intake, memory } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.use(beginResponse);
  const fail = failing(options);
  const nowMs = () => clock.monotonicMs();
  const turns = new WorkTurns(nowMs);
  const bodies =
    options.bodies ??
    new BodyReader({
      nowMs,
      turns,
      durableMs: () => intake.durableMs(),
      heldBytesMax: memory?.shares.bodies,
      largeBytesMax: memory?.largeBodiesBytesMax,
    });
  const callBodies = new BodyReader({
    nowMs,
    turns,
    heldBytesMax: memory?.shares.callBodies ?? CALL_BODIES_BYTES_MAX,
    refusal: 'overloaded',
  });
  const answers = new AnswerBudget(memory?.answersBytesMax);
  const runs = new NamedRuns(nowMs);
  const tables = new ExploredTables(options.catalogue);
  const shared = { bodies, callBodies, answers, turns, runs, tables };
  const routes = serviceRoutes({ ...options, version: packageVersion(), ...shared });
  const refusedTokens = new RefusedTokens({
    nowMs,
    waitMs: options.refusedTokenWaitMs,
    onRefused: (reason) => options.metrics?.countRefusedToken(reason),
  });
  mountRoutes(app, routes, { tokens, refusedTokens, readiness, clock, fail });
  app.use((request) => {
    readiness.check();
    throw new ServiceError('unknown_route', `there is nothing at ${echo(request.path)}`);
  });
  const failElsewhere: ErrorRequestHandler = (error, request, response, _next) => {
    const isCall = ENDPOINT_PATH.test(request.path) && !CHANGING_METHODS.includes(request.method);
    fail(error, request, response, isCall ? profile.tellFailedCall : undefined);
  };
  app.use(failElsewhere);
  const requestMemory = () => ({
    bodies: bodies.heldBytes,
    callBodies: callBodies.heldBytes,
    answers: answers.heldBytes,
  });
  return { listener: app, messages: useExpressMessages(app), routes, memory: requestMemory };
}

/**
 * Returns a function that logs a failure if the operator needs to know it, and answers the caller.
 */
function failing({ profile, log, clock }: AppOptions): Fail {
  const logFailure = failureLog(log, clock);
  return (error, request, response, tell) => {
    const known = asServiceError(error, getRequestId(response));
    if (known.status >= 500) logFailure(known, request, getRequestId(response));
    if (response.headersSent || response.destroyed) response.destroy();
    else {
      const nowMs = Math.floor(clock.nowUs() / 1_000);
      sendError(request, response, known, { tell: tell ?? profile.tellFailure, nowMs });
    }
  };
}

/** Logs failures that are bugs or that the operator should know. */
function failureLog(
  log: Log,
  clock: Clock,
): (known: ServiceError, request: Request, requestId: string) => void {
  const throttle = new LogThrottle();
  const stacks = new StackThrottle(() => clock.monotonicMs());
  return (known, { method, path }, requestId) => {
    const nowMs = clock.monotonicMs();
    // Overload is logged now and then; `/metrics` counts every refusal.
    const leftOut = known.retryAfterS === undefined ? 0 : throttle.admit(known.code, nowMs);
    if (leftOut === undefined) return;
    let error = known.message;
    if (known.code === 'internal') {
      // A bug is logged with its stack, at intervals and only here; an expected failure needs only
      // its message.
      error = stacks.describe(known.details.cause ?? known);
    }
    log({
      level: 'error',
      event: 'request_failed',
      request_id: requestId,
      method,
      path: withoutSecret(path),
      status: known.status,
      code: known.code,
      error,
      ...(leftOut > 0 && { left_out: leftOut }),
    });
  };
}

/**
 * A ticket needs no token, so its id is shown only in part. Progress and cancel go by the same id. Some senders of
 * Datadog have the token in the path.
 */
function withoutSecret(path: string): string {
  return path
    .replace(/^(\/api\/query\/(?:tickets|runs)\/[^/]{0,6}).*/s, '$1…')
    .replace(/^(\/v1\/input\/).+/s, '$1…');
}

function beginResponse(request: Request, response: Response, next: NextFunction): void {
  const given = REQUEST_ID_HEADERS.map((name) => request.headers[name]).find(Boolean);
  const isUsable = typeof given === 'string' && REQUEST_ID.test(given);
  response.setHeader('X-Request-Id', isUsable ? given : randomUUID());
  for (const [name, value] of COMMON_HEADERS) response.setHeader(name, value);
  checkHost(request);
  next();
}

/**
 * Refuses several `Host` headers (RFC 9112 §3.2): Node uses the first, while a proxy in front may
 * have used another.
 */
function checkHost({ rawHeaders }: Request): void {
  let hostCount = 0;
  for (const [index, text] of rawHeaders.entries()) {
    const isName = index % 2 === 0;
    if (isName && text.length === 4 && text.toLowerCase() === 'host') hostCount++;
  }
  if (hostCount <= 1) return;
  throw new ServiceError('invalid_request', `Host must be given once; got ${hostCount} of it`);
}

function asServiceError(error: unknown, requestId: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof QueryError) return fromQueryError(error);
  // The router throws this for a path that does not decode.
  if (error instanceof URIError) {
    const message = 'a % in the path must begin UTF-8 in hexadecimal';
    return new ServiceError('invalid_request', message, { cause: error });
  }
  const message = `internal error; the log of the service has the details of request ${requestId}`;
  return new ServiceError('internal', message, { cause: error });
}
