import type { Express, Response } from 'express';
import { authenticateSender } from '../access/authenticate.ts';
import type { TellFailure } from '../http/failure.ts';
import { addRoute, type Handler } from '../http/http-route.ts';
import { parseQueryString } from '../http/query-string.ts';
import { sendJson } from '../http/response.ts';
import { type Door, type DoorOptions, doorHandler } from './door.ts';
import {
  ELASTICSEARCH_ANSWERS,
  ELASTICSEARCH_DOOR,
  markAsElasticsearch,
} from './elasticsearch-door.ts';
import { LOGFLARE_DOORS } from './logflare-doors.ts';
import { LOKI_DOOR } from './loki-door.ts';
import { OTLP_DOOR } from './otlp-door.ts';

/** Paths of the JSON door, below which Logflare has its others. */
export const LOG_PATHS = ['/api/logs', '/logs', '/api/events'] as const;

/** Where clients of Elasticsearch find it: by itself, and below a path that they are given. */
const ELASTICSEARCH_BASES = ['', '/elasticsearch'] as const;

const OTLP_PATH = '/v1/logs';
const LOKI_PATH = '/loki/api/v1/push';

/** Adds all doors but the JSON one. `counted` wraps the handler of each that takes posts. */
export function addDoors(
  app: Express,
  options: DoorOptions,
  counted: (handler: Handler) => Handler,
): void {
  const add = <Notes>(path: string, door: Door<Notes>): void => {
    addRoute(app, path, { POST: counted(doorHandler(door, options)) });
  };
  add(OTLP_PATH, OTLP_DOOR);
  add(LOKI_PATH, LOKI_DOOR);
  for (const base of LOG_PATHS) {
    for (const [path, door] of LOGFLARE_DOORS) add(`${base}${path}`, door);
  }
  addElasticsearch(app, options, counted);
}

function addElasticsearch(
  app: Express,
  options: DoorOptions,
  counted: (handler: Handler) => Handler,
): void {
  const bulk = counted(doorHandler(ELASTICSEARCH_DOOR, options));
  const marked: Handler = (request, response) => {
    markAsElasticsearch(response);
    return bulk(request, response);
  };
  const answer =
    (value: object): Handler =>
    (request, response: Response) => {
      markAsElasticsearch(response);
      authenticateSender(options.tokens, request, parseQueryString(request.url));
      sendJson(response, 200, value);
    };
  for (const base of ELASTICSEARCH_BASES) {
    for (const [path, value] of ELASTICSEARCH_ANSWERS) {
      // What is at the root of the service is not Elasticsearch's to say.
      if (path === '/' && base === '') continue;
      addRoute(app, path === '/' ? base : `${base}${path}`, { GET: answer(value) });
    }
    for (const path of ['/_bulk', '/:index/_bulk']) {
      addRoute(app, `${base}${path}`, { POST: marked, PUT: marked });
    }
  }
}

/** How a failure at a path is told where a door has words of its own. */
export function tellerAt(path: string): TellFailure | undefined {
  if (path === OTLP_PATH) return OTLP_DOOR.tellFailure;
  return /\/_bulk$/.test(path) ? ELASTICSEARCH_DOOR.tellFailure : undefined;
}
