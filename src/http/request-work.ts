import type { IncomingMessage } from 'node:http';
import { QueryError } from '../../engine/columns.ts';
import { authenticate, TokenError, type TokenSearch } from '../access/authenticate.ts';
import type { Grant } from '../access/grant.ts';
import type { RefusedTokens } from '../access/refused-tokens.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import { DRAIN_MS_MAX } from '../limits.ts';
import type { Readiness } from '../readiness.ts';
import type { EndedRequest } from './route.ts';
import type { Connection, TransportResponse } from './transport.ts';

/** What surrounds the work of every request, over HTTP or gRPC. */

/** Does the work of a request. If it fails, or the service stops before it has an answer, calls `fail` once. */
export async function answerOnce(
  parts: {
    readonly readiness: Readiness;
    readonly response: Pick<TransportResponse, 'headersSent'>;
    readonly fail: (error: unknown) => void;
  },
  work: () => Promise<void>,
): Promise<void> {
  const { readiness, response, fail } = parts;
  let isGivenUp = false;
  const answered = readiness.answering(() => {
    // An answer that is being sent gets more time.
    if (response.headersSent) return;
    isGivenUp = true;
    fail(stoppedTooSoon());
  });
  try {
    await work();
  } catch (error) {
    // A late failure must not follow another answer.
    if (!isGivenUp) fail(error);
  } finally {
    answered();
  }
}

function stoppedTooSoon(): ServiceError {
  return new ServiceError(
    'draining',
    `the service is stopping, and the answer did not come within ${DRAIN_MS_MAX} ms`,
  );
}

/**
 * Finds the caller. Returns a promise, which rejects, if the refusal of a wrong token is delayed.
 */
export function letIn(
  { tokens, refusedTokens }: { readonly tokens: Tokens; readonly refusedTokens: RefusedTokens },
  request: Pick<IncomingMessage, 'headers'> & { readonly socket: Connection },
  places: TokenSearch,
): Grant | Promise<never> {
  try {
    return authenticate(tokens, request, places);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return refusedTokens.hold(error, request.socket).then(() => {
      throw error;
    });
  }
}

/** Does the work of a request, and reports how it ended. The work calls `onGrant` when it knows the caller. */
export async function reportEnd<R>(
  ended: (request: R, ended: EndedRequest) => void,
  {
    request,
    response,
    clock,
  }: {
    readonly request: R;
    readonly response: Pick<TransportResponse, 'statusCode'>;
    readonly clock: Clock;
  },
  work: (onGrant: (grant: Grant) => void) => Promise<void>,
): Promise<void> {
  const startMs = clock.monotonicMs();
  let grant: Grant | undefined;
  const end = (how: Pick<EndedRequest, 'status' | 'code' | 'message'>): void =>
    ended(request, { ...how, grant, seconds: (clock.monotonicMs() - startMs) / 1e3 });
  try {
    await work((found) => {
      grant = found;
    });
  } catch (error) {
    const { status, code, message } = toFailure(error);
    end({ status, code, message });
    throw error;
  }
  end({ status: response.statusCode, code: 'ok' });
}

function toFailure(error: unknown): Pick<ServiceError, 'status' | 'code' | 'message'> {
  if (error instanceof ServiceError) return error;
  if (error instanceof QueryError) return fromQueryError(error);
  return { status: 500, code: 'internal', message: 'internal error' };
}
