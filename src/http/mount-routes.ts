import type { Express, Request, Response } from 'express';
import { bringsToken, TOKEN_HEADERS } from '../access/authenticate.ts';
import { authorize, type Grant } from '../access/grant.ts';
import type { RefusedTokens } from '../access/refused-tokens.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import type { Readiness } from '../readiness.ts';
import { hasBody, skipBody } from './body.ts';
import type { TellFailure } from './failure.ts';
import { parseQueryString } from './query-string.ts';
import { answerOnce, letIn, reportEnd } from './request-work.ts';
import { METHODS, type Operation, type Route } from './route.ts';

/** Pages of any origin may call, because tokens in headers protect the service, not cookies. */
const CORS_HEADERS =
  'Authorization, X-API-KEY, Content-Type, Content-Encoding, If-Match, If-None-Match, Last-Event-ID, X-Source, X-Collection, X-Request-Id, Weir-Query-Id';

/** Seconds for which browsers may cache an answer to OPTIONS; none caches longer than two hours. */
const CORS_AGE_S = 7200;

/** Answers a failed request, in the format of `tell`, and logs the failure if needed. */
export type Fail = (
  error: unknown,
  request: Request,
  response: Response,
  tell: TellFailure | undefined,
) => void;

type Parts = {
  readonly tokens: Tokens;
  readonly refusedTokens: RefusedTokens;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly fail: Fail;
};

/** A mounted route. */
type Served = {
  readonly route: Route;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly operations: ReadonlyMap<string, Operation>;
  /** All routes of the same path, in order. */
  readonly group: readonly Served[];
};

/**
 * Mounts the routes. Each request is checked before its handler runs: that the service is ready,
 * the method, and the token, in this order. Express tries paths one after another, so the most
 * frequent come first.
 */
export function mountRoutes(app: Express, routes: readonly Route[], parts: Parts): void {
  const byPath = new Map<string, Served[]>();
  for (const route of routes) {
    const group = byPath.get(route.path) ?? [];
    group.push(toServed(route, group));
    byPath.set(route.path, group);
  }
  for (const [path, group] of byPath) {
    app.all(path, async (request, response, next) => {
      const found = findServed(group, request, request.method);
      if (found === undefined) {
        next();
        return;
      }
      const fail = (error: unknown): void =>
        parts.fail(error, request, response, found.route.tellFailure);
      await answerOnce({ readiness: parts.readiness, response, fail }, () =>
        answer(found, request, response, parts),
      );
    });
  }
}

function toServed(route: Route, group: readonly Served[]): Served {
  const operations = new Map<string, Operation>();
  for (const method of METHODS) {
    const operation = route.operations[method];
    if (operation !== undefined) operations.set(method, operation);
  }
  return { route, headers: Object.entries(route.headers ?? {}), operations, group };
}

/** The route of a path that a request is for, by any method. */
function findServed(
  group: readonly Served[],
  request: Request,
  method: string,
): Served | undefined {
  return group.find(({ route }) => route.takes?.(request, method) ?? true);
}

/** The operation of a method. HEAD is handled as GET, unless it has an operation of its own. */
function findOperation({ operations }: Served, { method }: Request): Operation | undefined {
  return operations.get(method) ?? (method === 'HEAD' ? operations.get('GET') : undefined);
}

/** The methods that a path allows. */
function listMethods(group: readonly Served[], request: Request): readonly string[] {
  const allowed = METHODS.filter(
    (method) => findServed(group, request, method)?.operations.has(method) === true,
  );
  return [
    ...allowed.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method)),
    'OPTIONS',
  ];
}

async function answer(
  served: Served,
  request: Request,
  response: Response,
  parts: Parts,
): Promise<void> {
  const { route, headers, group } = served;
  for (const [name, value] of headers) response.setHeader(name, value);
  checkExpectation(request);
  if (request.method === 'OPTIONS') {
    if (hasBody(request)) await skipBody(request);
    response.statusCode = route.optionsStatus ?? 204;
    tellOptions(response, listMethods(group, request).join(', '));
    return;
  }
  if (route.isAlwaysServed !== true) parts.readiness.check();
  const operation = findOperation(served, request);
  if (operation === undefined) {
    const allow = listMethods(group, request);
    throw new ServiceError(
      'method_not_allowed',
      `the method must be ${allow.join(', ')} here; got ${request.method}`,
      { allow },
    );
  }
  if (route.ended === undefined) {
    await perform(operation, request, response, parts);
    return;
  }
  const { clock } = parts;
  await reportEnd(route.ended, { request, response, clock }, (onGrant) =>
    perform(operation, request, response, parts, onGrant),
  );
}

/** Refuses any expectation except 100-continue, the only one defined (RFC 9110 §10.1.1). */
function checkExpectation({ headers: { expect } }: Request): void {
  if (expect === undefined || /\b100-continue\b/i.test(expect)) return;
  throw new ServiceError('invalid_request', `Expect must be 100-continue; got ${echo(expect)}`);
}

function tellOptions(response: Response, allow: string): void {
  response.setHeader('Allow', allow);
  response.setHeader('Access-Control-Allow-Methods', allow);
  response.setHeader('Access-Control-Allow-Headers', CORS_HEADERS);
  response.setHeader('Access-Control-Max-Age', CORS_AGE_S);
  response.end();
}

/** Checks the caller's access and runs the handler. */
async function perform(
  operation: Operation,
  request: Request,
  response: Response,
  parts: Parts,
  onGrant?: (grant: Grant) => void,
): Promise<void> {
  if (operation.access === 'open') {
    if (hasBody(request)) await skipBody(request);
    await operation.handle(request, response);
    return;
  }
  // Answers to token holders are private unless the handler says otherwise.
  response.setHeader('Cache-Control', 'no-store');
  // If the handler allows caching, the answer varies by token: a browser must not reuse it for
  // another token.
  response.setHeader('Vary', TOKEN_HEADERS);
  const query = parseQueryString(request.url);
  if (operation.access === 'optional') {
    const places = { query, tokenIn: 'headers' } as const;
    const grant = bringsToken(request) ? letIn(parts, request, places) : undefined;
    const bearer = grant && { grant: grant instanceof Promise ? await grant : grant, query };
    if (hasBody(request)) await skipBody(request);
    await operation.handle(request, response, bearer);
    return;
  }
  const { scope, tokenIn } = operation.access;
  // A path with a part of this name has the token there, if it is nowhere else.
  const { token: pathToken } = request.params;
  const found = letIn(parts, request, {
    ...{ query, tokenIn },
    pathToken: typeof pathToken === 'string' ? pathToken : undefined,
  });
  const grant = found instanceof Promise ? await found : found;
  onGrant?.(grant);
  if (scope !== 'any') authorize(grant, scope);
  if (operation.body === undefined && hasBody(request)) await skipBody(request);
  await operation.handle(request, response, { grant, query });
}
