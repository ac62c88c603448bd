import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, ServiceError } from '../errors.ts';
import { COMMAND_MS_MAX } from '../limits.ts';
import type { Settings } from '../settings.ts';
import { CommandFailure } from './command.ts';

/** Nothing that speaks as a service of ours answers at the address. */
export class UnreachableError extends CommandFailure {}

const PROBLEM_SCHEMA = z.object({
  code: z.string(),
  detail: z.string(),
  line: z.number().optional(),
  column: z.number().optional(),
  caret: z.string().optional(),
});

/** In every profile it tells the code of a failure. */
const PROBLEM_TYPE = 'application/problem+json';

/** Asks a running service through its HTTP door, as anybody else would. */
export class ServiceClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  /**
   * The text of an answer that is a success.
   *
   * @throws UnreachableError, or ServiceError for what the service refuses.
   */
  async ask(path: string, request: RequestInit): Promise<string> {
    const accept = new Headers(request.headers).get('Accept') ?? 'application/json';
    const headers = {
      ...request.headers,
      Accept: `${accept}, ${PROBLEM_TYPE}`,
      'X-API-KEY': this.#token,
    };
    const signal = AbortSignal.timeout(COMMAND_MS_MAX);
    let status: number;
    let text: string;
    try {
      const response = await fetch(this.#url + path, { ...request, headers, signal });
      status = response.status;
      text = await response.text();
    } catch (error) {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const words = reason instanceof Error ? reason.message : String(reason);
      throw new UnreachableError(`no service answers at ${this.#url}: ${words}`, error);
    }
    if (status >= 200 && status < 300) return text;
    const problem = PROBLEM_SCHEMA.safeParse(parseJson(text));
    if (!problem.success) throw this.stranger();
    const { code, detail, ...place } = problem.data;
    if (!ERROR_TABLE.has(code as ErrorCode)) throw this.stranger();
    throw new ServiceError(code as ErrorCode, detail, place);
  }

  /** What answers speaks otherwise than this version does. */
  stranger(): UnreachableError {
    return new UnreachableError(`what answers at ${this.#url} is not a service of this version`);
  }
}

/** Where the service of these settings listens, as seen from the same machine. */
export function urlOf({ host, port }: Settings): string {
  const anywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const reachable = anywhere[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** `undefined` for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
