import type { Request } from 'express';
import { isUuid } from '../../ingest/source.ts';
import { findCalled } from '../call/called-endpoint.ts';
import { doorRoutes, LOG_PATHS } from '../doors/doors.ts';
import { logHandler } from '../doors/log-route.ts';
import type { Outcome } from '../metrics/metrics.ts';
import type { AppOptions } from './app.ts';
import type { BodyReader } from './body.ts';
import { callHandler } from './call-route.ts';
import { healthHandler } from './health-route.ts';
import { endpointHandler, endpointListHandler, sourceListHandler } from './management-route.ts';
import { metricsHandler } from './metrics-route.ts';
import { type Access, type GuardedOperation, pathParameter, type Route } from './route.ts';

export type RouteOptions = AppOptions & { readonly bodies: BodyReader };

/** Who calls, or posts, may have nothing but a URL. */
const CALLING: Access = { scope: 'query', tokenIn: 'url' };
const POSTING: Access = { scope: 'ingest', tokenIn: 'url' };
const MANAGING: Access = { scope: 'manage', tokenIn: 'headers' };

/** Everything the service answers, what is asked most first. */
export function serviceRoutes(options: RouteOptions): readonly Route[] {
  const [firstLogs, ...otherLogs] = logRoutes(options);
  return [
    firstLogs!,
    ...endpointRoutes(options),
    ...otherLogs,
    ...doorRoutes(options),
    ...watchRoutes(options),
  ];
}

function logRoutes(options: RouteOptions): readonly Route[] {
  const { metrics } = options;
  const operation: GuardedOperation = {
    summary: 'Store log events',
    access: POSTING,
    handle: logHandler(options),
  };
  const ended = metrics && ((_request: Request, outcome: Outcome) => metrics.countPost(outcome));
  return LOG_PATHS.map((path) => ({ path, operations: { POST: operation }, ended }));
}

function endpointRoutes(options: RouteOptions): readonly Route[] {
  const { catalogue, intake, metrics, profile } = options;
  const { tellFailedCall: tellFailure } = profile;
  const call: GuardedOperation = {
    summary: 'Call a saved query',
    access: CALLING,
    handle: callHandler(options),
  };
  const calls: Omit<Route, 'path'> = {
    operations: { GET: call, POST: call },
    tellFailure,
    ended:
      metrics &&
      ((request, outcome) => {
        const called = findCalled(catalogue, pathParameter(request));
        metrics.countCall(called?.endpoint.definition.name, outcome);
      }),
  };
  return [
    { path: '/api/endpoints/query/:idOrName', ...calls },
    { path: '/api/endpoints/query/name/:name', ...calls },
    { path: '/endpoints/query/:idOrName', ...calls },
    {
      path: '/api/endpoints/:idOrName',
      takes: (request) => isUuid(pathParameter(request)),
      operations: { GET: managing('Read a definition', endpointHandler(catalogue)) },
      tellFailure,
    },
    { path: '/api/endpoints/:idOrName', ...calls },
    {
      path: '/api/endpoints',
      operations: { GET: managing('List all definitions', endpointListHandler(catalogue)) },
      tellFailure,
    },
    {
      path: '/api/sources',
      operations: {
        GET: {
          summary: 'List the sources of events',
          access: { scope: 'any', tokenIn: 'headers' },
          handle: sourceListHandler(intake),
        },
      },
    },
  ];
}

/** Whoever watches wants to know of a service that is starting or stopping, too. */
function watchRoutes({ readiness, metrics, profile }: RouteOptions): readonly Route[] {
  const health = (summary: string, good: string, bad: string): Route['operations'] => ({
    GET: {
      summary,
      access: 'open',
      handle: healthHandler(readiness, { good, bad }, profile.healthMembers),
    },
  });
  const watched: Omit<Route, 'isAlwaysServed'>[] = [
    { path: '/health', operations: health('Whether the service is well', 'ok', 'coming_up') },
    { path: '/ready', operations: health('Whether calls are taken', 'ready', 'not_ready') },
  ];
  if (metrics !== undefined) {
    const operations = { GET: managing('Numbers for Prometheus', metricsHandler(metrics)) };
    watched.push({ path: '/metrics', operations });
  }
  return watched.map((route) => ({ ...route, isAlwaysServed: true }));
}

function managing(summary: string, handle: GuardedOperation['handle']): GuardedOperation {
  return { summary, access: MANAGING, handle };
}
