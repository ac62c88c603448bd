import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, ServiceError } from '../errors.ts';
import { EXPLAIN_MS_MAX } from '../limits.ts';
import { CommandFailure } from './command.ts';

/** What the command needs to know of an endpoint to check its words. */
export type KnownEndpoint = {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly isSandboxed: boolean;
  readonly parameters: readonly { readonly name: string; readonly from: readonly string[] }[];
};

/** Nothing that speaks as a service of ours answers at the address. */
export class UnreachableError extends CommandFailure {}

const LIST_SCHEMA = z.object({
  result: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      alias: z.array(z.string()).default([]),
      sandbox: z.string().optional(),
      parameters: z.array(z.object({ name: z.string(), from: z.array(z.string()).default([]) })),
    }),
  ),
});

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
export class ExplainClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  /**
   * The definitions the service knows.
   *
   * @throws UnreachableError, or ServiceError for what the service refuses.
   */
  async list(): Promise<readonly KnownEndpoint[]> {
    const text = await this.#ask('/api/endpoints', { method: 'GET' });
    const parsed = LIST_SCHEMA.safeParse(parseJson(text));
    if (!parsed.success) throw this.#stranger();
    return parsed.data.result.map(({ alias, sandbox, ...endpoint }) => ({
      ...endpoint,
      aliases: alias,
      isSandboxed: sandbox === 'enabled',
    }));
  }

  /** How one call is answered, as text or as JSON. Throws as `list` does. */
  async explain(call: {
    readonly id: string;
    readonly parameters: ReadonlyMap<string, string>;
    readonly sql: string | undefined;
    readonly isJson: boolean;
  }): Promise<string> {
    const { id, parameters, sql, isJson } = call;
    const text = await this.#ask(`/api/endpoints/query/${encodeURIComponent(id)}?explain=true`, {
      method: 'POST',
      headers: {
        Accept: isJson ? 'application/json' : 'text/plain',
        'Content-Type': 'application/json',
      },
      // Without a text there is no such member.
      body: JSON.stringify({ ...Object.fromEntries(parameters), sql }),
    });
    return isJson ? JSON.stringify(parseJson(text), null, 2) : text;
  }

  async #ask(path: string, request: RequestInit): Promise<string> {
    const accept = new Headers(request.headers).get('Accept') ?? 'application/json';
    const headers = {
      ...request.headers,
      Accept: `${accept}, ${PROBLEM_TYPE}`,
      'X-API-KEY': this.#token,
    };
    const signal = AbortSignal.timeout(EXPLAIN_MS_MAX);
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
    if (status === 200) return text;
    const problem = PROBLEM_SCHEMA.safeParse(parseJson(text));
    if (!problem.success) throw this.#stranger();
    const { code, detail, ...place } = problem.data;
    if (!ERROR_TABLE.has(code as ErrorCode)) throw this.#stranger();
    throw new ServiceError(code as ErrorCode, detail, place);
  }

  #stranger(): UnreachableError {
    return new UnreachableError(`what answers at ${this.#url} is not a service of this version`);
  }
}

/** `undefined` for what is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
