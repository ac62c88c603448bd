import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from 'express';
import { QueryError } from '../../engine/columns.ts';
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
import { otlpGrpcMethods } from '../doors/otlp-grpc.ts';
import { echo } from '../echo.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import type { Followers } from '../follow/followers.ts';
import { createGrpcListener, type GrpcListener } from '../grpc/grpc-listener.ts';
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
import { findRequestId } from './request-id.ts';
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
  /** The secret with which drains of Vercel sign; without it, signatures are not checked. */
  readonly vercelDrainSecret?: string | undefined;
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

/** Paths that call endpoints, or read or change definitions. */
const ENDPOINT_PATH = /^(?:\/api)?\/endpoints(?:\/|$)/;

/** The app that the servers for HTTP and gRPC serve, with all routes of HTTP. */
export type ServiceApp = ServedApp & {
  readonly listener: Express;
  readonly routes: readonly Route[];
  /** Answers calls over gRPC. */
  readonly grpc: GrpcListener;
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
  const logged = failureLog(options);
  const fail = failing(options, logged);
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
  const parts = { tokens, refusedTokens, readiness, clock };
  mountRoutes(app, routes, { ...parts, fail });
  const methods = otlpGrpcMethods({ ...options, bodies });
  const grpc = createGrpcListener(methods, { ...parts, logged });
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
  const messages = useExpressMessages(app);
  return { listener: app, messages, routes, grpc, memory: requestMemory };
}

/** Translates a failure to an error for the caller, and logs it if the operator needs to know it. */
type FailureLog = (
  error: unknown,
  request: Pick<Request, 'method' | 'path'>,
  requestId: string,
) => ServiceError;

/** Returns a function that logs a failure, and answers the caller. */
function failing({ profile, clock }: AppOptions, logged: FailureLog): Fail {
  return (error, request, response, tell) => {
    const known = logged(error, request, getRequestId(response));
    if (response.headersSent || response.destroyed) response.destroy();
    else {
      const nowMs = Math.floor(clock.nowUs() / 1_000);
      sendError(request, response, known, { tell: tell ?? profile.tellFailure, nowMs });
    }
  };
}

/** Logs failures that are bugs or that the operator should know. */
function failureLog({ log, clock }: AppOptions): FailureLog {
  const throttle = new LogThrottle();
  const stacks = new StackThrottle(() => clock.monotonicMs());
  return (failure, { method, path }, requestId) => {
    const known = asServiceError(failure, requestId);
    if (known.status < 500) return known;
    const nowMs = clock.monotonicMs();
    // Overload is logged now and then; `/metrics` counts every refusal.
    const leftOut = known.retryAfterS === undefined ? 0 : throttle.admit(known.code, nowMs);
    if (leftOut === undefined) return known;
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
    return known;
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
  response.setHeader('X-Request-Id', findRequestId(request.headers));
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
