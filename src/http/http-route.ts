import type { Express, Request, Response } from 'express';
import { ServiceError } from '../errors.ts';

export type Handler = (request: Request, response: Response) => Promise<void> | void;

/** What a path does for each method it takes; HEAD and OPTIONS come by themselves. */
export type Handlers = {
  readonly GET?: Handler | undefined;
  readonly POST?: Handler | undefined;
  readonly PUT?: Handler | undefined;
};

/** Callers may come from pages of any origin: a token in a header is what protects, not a cookie. */
const CORS_HEADERS =
  'Authorization, X-API-KEY, Content-Type, Content-Encoding, If-None-Match, X-Source, X-Collection, X-Request-Id';

/** Seconds a browser may keep an answer to OPTIONS; two hours is the most any keeps. */
const CORS_AGE_S = 7200;

/**
 * Adds a path. `choose` may pick the handlers by the request, where one path means two things.
 * Methods without a handler are refused with those that have one in `Allow`.
 */
export function addRoute(
  app: Express,
  path: string,
  choose: Handlers | ((request: Request) => Handlers),
): void {
  app.all(path, async (request, response) => {
    const handlers = typeof choose === 'function' ? choose(request) : choose;
    const allow = allowedMethods(handlers);
    if (request.method === 'OPTIONS') {
      response.setHeader('Allow', allow.join(', '));
      response.setHeader('Access-Control-Allow-Methods', allow.join(', '));
      response.setHeader('Access-Control-Allow-Headers', CORS_HEADERS);
      response.setHeader('Access-Control-Max-Age', CORS_AGE_S);
      response.statusCode = 204;
      response.end();
      return;
    }
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handler = isHandled(method) ? handlers[method] : undefined;
    if (handler !== undefined) {
      await handler(request, response);
      return;
    }
    throw new ServiceError(
      'method_not_allowed',
      `the method must be ${allow.join(', ')} here; got ${request.method}`,
      { allow },
    );
  });
}

function isHandled(method: string): method is keyof Handlers {
  return method === 'GET' || method === 'POST' || method === 'PUT';
}

function allowedMethods({ GET, POST, PUT }: Handlers): readonly string[] {
  const methods: string[] = [];
  if (GET !== undefined) methods.push('GET', 'HEAD');
  if (POST !== undefined) methods.push('POST');
  if (PUT !== undefined) methods.push('PUT');
  return [...methods, 'OPTIONS'];
}
