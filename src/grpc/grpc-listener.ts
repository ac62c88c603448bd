import { authorize } from '../access/grant.ts';
import type { RefusedTokens } from '../access/refused-tokens.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { findRequestId } from '../http/request-id.ts';
import { answerOnce, letIn, reportEnd } from '../http/request-work.ts';
import type { Access, Bearer, EndedRequest } from '../http/route.ts';
import type { TransportRequest } from '../http/transport.ts';
import type { Readiness } from '../readiness.ts';
import type { GrpcRequest } from './grpc-request.ts';
import type { GrpcResponse } from './grpc-response.ts';
import { toGrpcStatus } from './grpc-status.ts';

/** A unary method that requires a token. */
export type GrpcMethod = {
  readonly access: Access & { readonly scope: Exclude<Access['scope'], 'any'> };
  /** Reads the message from the request, and writes the answer's to the response. */
  readonly handle: (request: GrpcRequest, response: GrpcResponse, bearer: Bearer) => Promise<void>;
  /** Called when a call was answered. */
  readonly ended: (request: TransportRequest, ended: EndedRequest) => void;
};

/** Answers a call. Never rejects. */
export type GrpcListener = (request: GrpcRequest, response: GrpcResponse) => Promise<void>;

/** Calls have no query string. */
const NO_QUERY: ParameterTexts = new Map();

/**
 * Answers calls of these methods, by their paths. Each call is checked as a request over HTTP is, before its message is
 * read. `logged` logs a failure if the operator needs to know it.
 */
export function createGrpcListener(
  methods: ReadonlyMap<string, GrpcMethod>,
  parts: {
    readonly tokens: Tokens;
    readonly refusedTokens: RefusedTokens;
    readonly readiness: Readiness;
    readonly clock: Clock;
    readonly logged: (
      error: unknown,
      request: { readonly method: string; readonly path: string },
      requestId: string,
    ) => ServiceError;
  },
): GrpcListener {
  const { readiness, clock } = parts;
  return (request, response) => {
    const { path } = request;
    const requestId = findRequestId(request.headers);
    response.setHeader('X-Request-Id', requestId);
    const fail = (error: unknown): void => {
      const known = parts.logged(error, { method: 'POST', path }, requestId);
      response.fail(toGrpcStatus(known));
      request.destroy();
    };
    return answerOnce({ readiness, response, fail }, async () => {
      readiness.check();
      const method = methods.get(path);
      if (method === undefined) {
        throw new ServiceError('unknown_route', `there is no method ${echo(path)}`);
      }
      await reportEnd(method.ended, { request, response, clock }, async (onGrant) => {
        const { scope, tokenIn } = method.access;
        const found = letIn(parts, request, { query: NO_QUERY, tokenIn });
        const grant = found instanceof Promise ? await found : found;
        onGrant(grant);
        authorize(grant, scope);
        await request.begin();
        await method.handle(request, response, { grant, query: NO_QUERY });
      });
    });
  };
}
