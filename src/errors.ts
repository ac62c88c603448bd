import { caret, type QueryError, type Span } from '../engine/columns.ts';
import { RETRY_AFTER_S } from './limits.ts';

type ErrorEntry = {
  readonly status: number;
  /** The meaning of the code, used as the title of a problem document. */
  readonly title: string;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number;
};

/**
 * Every code that a caller may receive; docs/http-api.md explains each. A code is stable; its
 * messages are not.
 */
const TABLE = {
  invalid_request: { status: 400, title: 'The request is not well-formed HTTP' },
  missing_parameter: { status: 400, title: 'A required parameter is missing or empty' },
  repeated_parameter: { status: 400, title: 'A parameter is given more than once' },
  invalid_parameter: {
    status: 400,
    title: 'A parameter does not have its type, or is not one of its allowed values',
  },
  invalid_regular_expression: { status: 400, title: 'A regular expression is not valid in RE2' },
  invalid_body: { status: 400, title: 'The body does not match its headers' },
  invalid_definition: { status: 400, title: 'The definition is not valid' },
  invalid_source: { status: 400, title: 'The name of the source or its project rule is not valid' },
  missing_source: { status: 400, title: 'The post names no source' },
  lines_refused: {
    status: 400,
    title: 'Some lines of a Loki push were refused; the others are stored',
  },
  unauthorized: { status: 401, title: 'The access token is missing or unknown' },
  forbidden: { status: 403, title: 'The access token does not allow this' },
  invalid_signature: { status: 403, title: 'The signature of the post is missing or wrong' },
  out_of_reach: {
    status: 403,
    title: 'The token is bound to other projects, sources or endpoints',
  },
  unknown_route: { status: 404, title: 'There is nothing at this path' },
  unknown_endpoint: { status: 404, title: 'There is no such endpoint' },
  unknown_source: { status: 404, title: 'There is no such source' },
  unknown_run: { status: 404, title: 'There is no such call under way' },
  unknown_ticket: { status: 404, title: 'There is no such ticket, or it is used or expired' },
  unknown_token: { status: 404, title: 'There is no such token' },
  method_not_allowed: { status: 405, title: 'The path does not allow this method' },
  not_acceptable: { status: 406, title: 'The answer has no format that Accept allows' },
  events_refused: {
    status: 406,
    title: 'Some events of the post were refused; the others are stored',
  },
  token_conflict: { status: 409, title: 'The token is one of the settings, or its name is taken' },
  source_conflict: {
    status: 409,
    title: 'The source exists with another project rule, its name is in use, or there are too many',
  },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  definition_conflict: { status: 409, title: 'Another definition has this id or name' },
  definition_in_use: { status: 409, title: 'Other definitions need it unchanged' },
  definition_limit: { status: 409, title: 'The maximum number of definitions is reached' },
  definition_read_only: { status: 409, title: 'The definition cannot be changed here' },
  precondition_failed: {
    status: 412,
    title: 'The resource has changed since the version that If-Match names',
  },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not supported here' },
  unsupported_encoding: { status: 415, title: 'The content encoding is not supported here' },
  invalid_sql: { status: 422, title: 'The SQL text does not parse or bind' },
  query_failed: { status: 422, title: 'The query computed a value that is not allowed' },
  query_limit: { status: 422, title: 'The query exceeded a limit' },
  answer_too_large: { status: 422, title: 'The answer has too many bytes' },
  precondition_required: { status: 428, title: 'If-Match must name the version to change' },
  ingest_overloaded: {
    status: 429,
    title: 'More logs arrive than can be stored',
    retryAfterS: RETRY_AFTER_S,
  },
  quota_exceeded: {
    status: 429,
    title: 'The quota of the token or its project is used up',
    retryAfterS: RETRY_AFTER_S,
  },
  tokens_refused: {
    status: 429,
    title: 'Too many wrong access tokens came from the same address',
    retryAfterS: RETRY_AFTER_S,
  },
  headers_too_large: { status: 431, title: 'The URL and the headers are too long' },
  query_cancelled: { status: 499, title: 'The caller disconnected before the answer' },
  internal: { status: 500, title: 'A bug in weir' },
  overloaded: { status: 503, title: 'Too many calls at once', retryAfterS: RETRY_AFTER_S },
  worker_lost: {
    status: 503,
    title: 'The thread that ran the query died; another has replaced it',
    retryAfterS: RETRY_AFTER_S,
  },
  not_ready: { status: 503, title: 'The service is starting', retryAfterS: RETRY_AFTER_S },
  draining: { status: 503, title: 'The service is stopping', retryAfterS: RETRY_AFTER_S },
  storage_failed: {
    status: 503,
    title: 'The disk cannot be written or read at present',
    retryAfterS: RETRY_AFTER_S,
  },
  store_unavailable: {
    status: 503,
    title: 'The store of the events cannot be reached at present',
    retryAfterS: RETRY_AFTER_S,
  },
  query_timeout: { status: 504, title: 'The query took too long' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof TABLE;

export const ERROR_TABLE: ReadonlyMap<ErrorCode, ErrorEntry> = new Map(
  Object.entries(TABLE) as [ErrorCode, ErrorEntry][],
);

/** Codes of posts whose events were stored except for some that were refused. */
export const REFUSAL_CODES = ['events_refused', 'lines_refused'] as const satisfies ErrorCode[];

export type RefusalCode = (typeof REFUSAL_CODES)[number];

export type ErrorDetails = {
  /** Position in the SQL text; line and column count from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /**
   * The line of the caller's text that the error is in, and a second line with a caret under the
   * column.
   */
  readonly caret?: string | undefined;
  /** The parameter of the call that the error is about. */
  readonly parameter?: string;
  /** A sentence for each refused event of a post. */
  readonly refusals?: readonly string[];
  /** `Weir-Warnings` of an answer that a client got: about the events that were stored. */
  readonly warnings?: string;
  /** The methods that the path allows, for `Allow`. */
  readonly allow?: readonly string[];
  /** Seconds for `Retry-After`, where they differ from the table's. */
  readonly retryAfterS?: number | undefined;
  readonly cause?: unknown;
};

/** An error for the caller: a code of the table and a sentence for people. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return TABLE[this.code].status;
  }

  get title(): string {
    return TABLE[this.code].title;
  }

  get retryAfterS(): number | undefined {
    const entry: ErrorEntry = TABLE[this.code];
    return this.details.retryAfterS ?? entry.retryAfterS;
  }
}

/**
 * Translates an engine error to a service error; the codes are the same. `text` is the text of the
 * query, if the caller sent it.
 */
export function fromQueryError(error: QueryError, text?: string): ServiceError {
  // Fails to compile if the table lacks a code of the engine.
  const code: ErrorCode = error.code;
  const span: Span | undefined = error.span;
  return new ServiceError(code, error.message, {
    line: span?.line,
    column: span?.column,
    caret: text === undefined || span === undefined ? undefined : caret(text, span),
    retryAfterS: error.retryAfterS,
    cause: error,
  });
}
