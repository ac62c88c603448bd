import { QueryError } from '../../engine/query-error.ts';
import { authenticate, authorize } from '../access/authenticate.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Clock } from '../clock.ts';
import { fromQueryError, ServiceError } from '../errors.ts';
import type { Metrics, Outcome } from '../metrics/metrics.ts';
import type { Handler } from './http-route.ts';
import { sendBytes } from './response.ts';

/** The numbers of the service, for a token that may manage. */
export function metricsHandler(options: {
  readonly metrics: Metrics;
  readonly tokens: Tokens;
}): Handler {
  const { metrics, tokens } = options;
  return async (request, response) => {
    authorize(authenticate(tokens, request), 'manage');
    response.setHeader('Cache-Control', 'no-store');
    sendBytes(response, 200, metrics.contentType, [Buffer.from(await metrics.text())]);
  };
}

/** A handler that tells `count` how each request ended. */
export function counted(
  handler: Handler,
  clock: Clock,
  count: (request: Parameters<Handler>[0], outcome: Outcome) => void,
): Handler {
  return async (request, response) => {
    const startMs = clock.monotonicMs();
    const end = (status: number, code: string) =>
      count(request, { status, code, seconds: (clock.monotonicMs() - startMs) / 1e3 });
    try {
      await handler(request, response);
    } catch (error) {
      const { status, code } = failureOf(error);
      end(status, code);
      throw error;
    }
    end(response.statusCode, 'ok');
  };
}

function failureOf(error: unknown): { readonly status: number; readonly code: string } {
  if (error instanceof ServiceError) return error;
  if (error instanceof QueryError) return fromQueryError(error);
  return { status: 500, code: 'internal' };
}
