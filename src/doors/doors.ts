import type { Request } from 'express';
import { sendJson } from '../http/response.ts';
import type { GuardedOperation, Route } from '../http/route.ts';
import type { Metrics, Outcome } from '../metrics/metrics.ts';
import { type Door, type DoorOptions, doorHandler } from './door.ts';
import {
  ELASTICSEARCH_ANSWERS,
  ELASTICSEARCH_DOOR,
  ELASTICSEARCH_HEADERS,
} from './elasticsearch-door.ts';
import { LOGFLARE_DOORS } from './logflare-doors.ts';
import { LOKI_DOOR } from './loki-door.ts';
import { OTLP_DOOR } from './otlp-door.ts';

/** Paths of the JSON door, below which Logflare has its others. */
export const LOG_PATHS = ['/api/logs', '/logs', '/api/events'] as const;

/** Where clients of Elasticsearch find it: by itself, and below a path that they are given. */
const ELASTICSEARCH_BASES = ['', '/elasticsearch'] as const;

/** All doors but the JSON one. */
export function doorRoutes(
  options: DoorOptions & { readonly metrics?: Metrics | undefined },
): readonly Route[] {
  const { metrics } = options;
  const ended =
    metrics && ((_request: Request, outcome: Outcome): void => metrics.countPost(outcome));
  const route = <Notes>(path: string, door: Door<Notes>): Route => {
    const post = posting(door, options);
    return { path, operations: { POST: post }, tellFailure: door.tellFailure, ended };
  };
  return [
    route('/v1/logs', OTLP_DOOR),
    route('/loki/api/v1/push', LOKI_DOOR),
    ...LOG_PATHS.flatMap((base) =>
      Array.from(LOGFLARE_DOORS, ([path, door]) => route(`${base}${path}`, door)),
    ),
    ...elasticsearchRoutes(options, ended),
  ];
}

function elasticsearchRoutes(options: DoorOptions, ended: Route['ended']): readonly Route[] {
  const bulk = posting(ELASTICSEARCH_DOOR, options);
  const { tellFailure } = ELASTICSEARCH_DOOR;
  const bulks = {
    operations: { POST: bulk, PUT: bulk },
    headers: ELASTICSEARCH_HEADERS,
    tellFailure,
    ended,
  };
  return ELASTICSEARCH_BASES.flatMap((base) => [
    ...['/_bulk', '/:index/_bulk'].map((path) => ({ path: `${base}${path}`, ...bulks })),
    ...Array.from(ELASTICSEARCH_ANSWERS, ([path, value]): Route => {
      const answer: GuardedOperation = {
        summary: 'What clients of Elasticsearch ask before they send',
        access: { scope: 'any', tokenIn: 'password' },
        handle: (_request, response) => sendJson(response, 200, value),
      };
      return {
        path: path === '/' ? base : `${base}${path}`,
        operations: { GET: answer },
        headers: ELASTICSEARCH_HEADERS,
      };
    }),
    // What is at the root of the service is not Elasticsearch's to say.
  ]).filter(({ path }) => path !== '');
}

function posting<Notes>(door: Door<Notes>, options: DoorOptions): GuardedOperation {
  return {
    summary: door.summary,
    access: { scope: 'ingest', tokenIn: 'password' },
    handle: doorHandler(door, options),
  };
}
