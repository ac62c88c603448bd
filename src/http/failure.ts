import type { ErrorCode, ServiceError } from '../errors.ts';
import { acceptWeight } from './media-type.ts';

/** A failure as it is sent: never more than a caller may know. */
export type Failure = {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /**
   * Whether the connection ends one byte before the announced end of the body, for senders that check nothing else and
   * take any complete answer for success.
   */
  readonly isCutShort?: boolean;
};

/** The known properties of the failed request; none if it could not be read. */
export type FailedRequest = {
  readonly requestId: string;
  readonly accept: string | undefined;
  readonly contentType?: string | undefined;
  /** The time of the failure, in milliseconds since the epoch. */
  readonly nowMs?: number | undefined;
};

/** Formats a failure for a profile. */
export type TellFailure = (error: ServiceError, request: FailedRequest) => Failure;

/** The default format: the code's status, and code, message and details. */
export const tellFailure: TellFailure = (error, request) => {
  if (prefersProblem(request.accept)) return tellProblem(error, request);
  const { code, status, message } = error;
  return jsonFailure(status, { error: { code, message, ...toMembers(error, request) } });
};

/**
 * The format of the analytics container: a sentence only. Forbidden and missing things have one answer, so that callers
 * cannot learn what exists. A caller that requests a problem is not one of its clients, and gets all details.
 */
export const tellFailureLikeContainer: TellFailure = (error, request) => {
  if (prefersProblem(request.accept)) return tellProblem(error, request);
  if (CODES_UNAUTHORIZED.has(error.code)) return jsonFailure(401, { error: 'Unauthorized' });
  if (error.code === 'ingest_overloaded') return jsonFailure(error.status, { error: BUFFER_FULL });
  const { line, column, refusals } = error.details;
  if (refusals !== undefined) return jsonFailure(error.status, { message: refusals });
  const place = line === undefined ? '' : ` (line ${line}, column ${column})`;
  return jsonFailure(error.status, { error: error.message + place });
};

/**
 * The container's format for failed calls: the container answers a query that cannot be run with a 200, whose `error`
 * its reader checks. Not used for posts, whose senders would take the events for stored.
 */
export const tellFailedCallLikeContainer: TellFailure = (error, request) => {
  const failure = tellFailureLikeContainer(error, request);
  const isTold = failure.contentType === JSON_TYPE && STATUSES_TOLD_AS_200.has(failure.status);
  return isTold ? { ...failure, status: 200 } : failure;
};

const JSON_TYPE = 'application/json; charset=utf-8';

const CODES_UNAUTHORIZED: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'forbidden',
  'out_of_reach',
  'unknown_endpoint',
  'unknown_source',
  'missing_source',
]);

const STATUSES_TOLD_AS_200: ReadonlySet<number> = new Set([400, 422, 504]);

/** The sender waits and retries, as with Retry-After. */
const BUFFER_FULL = 'Buffer Full: Too Many Requests';

/** The format of RFC 9457 §3.1. */
function tellProblem(error: ServiceError, request: FailedRequest): Failure {
  const { code, status, title, message } = error;
  const type = `urn:weir:error:${code}`;
  const problem = { type, title, status, detail: message, code, ...toMembers(error, request) };
  return {
    status,
    contentType: 'application/problem+json; charset=utf-8',
    body: Buffer.from(JSON.stringify(problem)),
  };
}

function jsonFailure(status: number, value: object): Failure {
  return { status, contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(value)) };
}

function toMembers({ details }: ServiceError, { requestId }: FailedRequest): object {
  const { line, column, caret, parameter, refusals } = details;
  const request_id = requestId === '' ? undefined : requestId;
  return { line, column, caret, parameter, details: refusals, request_id };
}

/** Whether `Accept` names problem+json, and plain JSON with no higher weight. */
function prefersProblem(accept: string | undefined): boolean {
  const weight = acceptWeight(accept, 'application/problem+json');
  return weight > 0 && weight >= acceptWeight(accept, 'application/json');
}
