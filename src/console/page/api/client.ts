import { token } from '../state/token.ts';

/** The members of an error in an answer of the service. */
type FailureDetails = {
  readonly code?: string;
  readonly message?: string;
  readonly line?: number;
  readonly column?: number;
  readonly hint?: string;
  readonly parameter?: string;
};

/** A call that failed: in the words of the service, or because it did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 where no answer came. */
  readonly status: number;
  /** The code of the service; `unreachable` where no answer came, `cancelled` where nobody waits for it. */
  readonly code: string;
  readonly details: FailureDetails;

  constructor(status: number, details: FailureDetails) {
    super(details.message ?? `the service answered with the status ${status}`);
    this.status = status;
    this.code = details.code ?? 'unknown';
    this.details = details;
  }

  /** Any error as one of a call. */
  static from(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    const { name, message } = error as Error;
    if (name === 'AbortError') return new ApiError(0, { code: 'cancelled', message: 'cancelled' });
    // What fetch throws where no answer comes.
    if (error instanceof TypeError && /fetch|network|load/i.test(message)) {
      return new ApiError(0, { code: 'unreachable', message: 'the service does not answer' });
    }
    throw error;
  }

  /** Whether the token is not, or no longer, known. */
  get isUnauthorized(): boolean {
    return this.status === 401;
  }

  /** Whether the token may not do this. */
  get isRefused(): boolean {
    return this.status === 403;
  }
}

export type Asked = {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** Hears that the service does not know the token: it is revoked or has expired. */
let onUnauthorized: (error: ApiError) => void = () => {};

export function listenUnauthorized(listener: (error: ApiError) => void): void {
  onUnauthorized = listener;
}

/** The address of a path, which has no leading slash: weir may be served below a path. */
export function resolveAddress(path: string): URL {
  return new URL(path, document.baseURI.replace(/[?#].*/, ''));
}

/**
 * Asks the service; `path` is as in `resolveAddress`.
 *
 * @throws ApiError when it refuses or does not answer.
 */
export async function send(path: string, asked: Asked = {}): Promise<Response> {
  const { method = 'GET', json, text, headers = {}, signal } = asked;
  const body = json === undefined ? text : JSON.stringify(json);
  const known = token();
  let response: Response;
  try {
    response = await fetch(resolveAddress(path), {
      method,
      headers: {
        ...(known !== undefined && { 'X-API-KEY': known }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
      cache: 'no-store',
    });
  } catch (error) {
    throw ApiError.from(error);
  }
  if (response.ok) return response;
  const error = new ApiError(response.status, await readFailure(response));
  if (error.isUnauthorized && known === token()) onUnauthorized(error);
  throw error;
}

/** The body of an answer in JSON, as the caller knows it to be. */
export async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
  const response = await send(path, asked);
  return (await response.json()) as T;
}

async function readFailure(response: Response): Promise<FailureDetails> {
  try {
    const value = (await response.json()) as { error?: FailureDetails | string; message?: string };
    const { error } = value;
    if (typeof error === 'string') return { message: error };
    if (error !== undefined) return error;
    return value.message === undefined ? {} : { message: value.message };
  } catch {
    return {};
  }
}
