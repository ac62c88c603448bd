import { z } from 'zod';
import { must } from '../../engine/columns.ts';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';
import { echo } from '../echo.ts';
import { ERROR_TABLE, type ErrorCode, ServiceError } from '../errors.ts';
import { TRUNCATED_HEADER } from '../http/header-names.ts';
import { WARNINGS_HEADER } from '../http/warnings.ts';
import { COMMAND_MS_MAX } from '../limits.ts';
import { parseSettings, type Settings } from '../settings.ts';
import {
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  type Flag,
  UsageError,
} from './command.ts';

/** The flag for the address of the service. */
export const URL_FLAG: Flag = {
  placeholder: 'URL',
  text: 'address of the service; default: http://HOST:PORT of the settings',
};

/** The help text about the token, for commands that ask a service. */
export const TOKEN_NOTE =
  'The token of the service is read from PRIVATE_ACCESS_TOKEN or PRIVATE_ACCESS_TOKEN_FILE.';

/** Nothing at the address answers as weir does. */
export class UnreachableError extends CommandFailure {
  /** Whether a part of the request may have arrived. */
  readonly mayHaveSent: boolean;

  constructor(
    message: string,
    { cause, mayHaveSent = true }: { cause?: unknown; mayHaveSent?: boolean } = {},
  ) {
    super(message, cause);
    this.mayHaveSent = mayHaveSent;
  }
}

/** Failures before there is a connection: nothing was sent. */
const UNCONNECTED: ReadonlySet<string | undefined> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'ERR_SSL_WRONG_VERSION_NUMBER'],
]);

const PROBLEM_SCHEMA = z.object({
  code: z.string(),
  detail: z.string(),
  line: z.number().optional(),
  column: z.number().optional(),
  caret: z.string().optional(),
  details: z.array(z.string()).optional(),
});

/** Problem documents contain the code of a failure in every profile. */
const PROBLEM_TYPE = 'application/problem+json';

/** A successful answer. */
export type ServiceAnswer = {
  readonly text: string;
  /** The `ETag` of the answer, if it has one. */
  readonly tag: string | undefined;
  /** The header `Weir-Warnings`, if it has one. */
  readonly warnings: string | undefined;
  /** The number of rows in `Weir-Truncated`, if `max_rows` cut the answer. */
  readonly truncatedTo: string | undefined;
};

/** A client of a running service over HTTP. */
export class ServiceClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url.replace(/\/+$/, '');
    this.#token = token;
  }

  /**
   * Returns the text of a successful answer.
   *
   * @throws UnreachableError, or ServiceError when the service refuses.
   */
  async ask(path: string, request: RequestInit): Promise<string> {
    return (await this.answer(path, request)).text;
  }

  /** Returns a successful answer with some of its headers. Throws as `ask` does. */
  answer(path: string, request: RequestInit): Promise<ServiceAnswer> {
    const inTime = AbortSignal.timeout(COMMAND_MS_MAX);
    const signal = request.signal ? AbortSignal.any([request.signal, inTime]) : inTime;
    return this.#reached(async () => {
      const response = await this.#send(path, { ...request, signal });
      const { headers } = response;
      const tag = headers.get('ETag') ?? undefined;
      const warnings = headers.get(WARNINGS_HEADER) ?? undefined;
      const truncatedTo = headers.get(TRUNCATED_HEADER) ?? undefined;
      return { text: await response.text(), tag, warnings, truncatedTo };
    });
  }

  /**
   * Returns the pieces of a text that continues until either side ends it. Throws as `ask` does,
   * also while it is read.
   */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<string>> {
    const request = { headers: { ...headers, Accept: 'text/event-stream' }, signal };
    const response = await this.#reached(() => this.#send(path, request));
    return this.#pieces(response);
  }

  async *#pieces(response: Response): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    const chunks = must(response.body, 'a success has a body')[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await this.#reached(() => chunks.next());
      if (done === true) return;
      yield decoder.decode(value, { stream: true });
    }
  }

  /** Sends a request and returns a successful response. */
  async #send(path: string, request: RequestInit): Promise<Response> {
    const accept = new Headers(request.headers).get('Accept') ?? 'application/json';
    const headers = {
      ...request.headers,
      Accept: `${accept}, ${PROBLEM_TYPE}`,
      'X-API-KEY': this.#token,
    };
    const response = await fetch(this.#url + path, { ...request, headers });
    if (response.ok) return response;
    const problem = PROBLEM_SCHEMA.safeParse(parseJson(await response.text()));
    if (!problem.success) throw this.stranger();
    const { code, detail, details: refusals, ...place } = problem.data;
    if (!ERROR_TABLE.has(code as ErrorCode)) throw this.stranger();
    if (code === 'unknown_route') {
      throw new UnreachableError(
        `there is nothing at ${this.#url}${path}: --url must be the address of a service of this version`,
      );
    }
    const after = response.headers.get('Retry-After');
    const retryAfterS = after !== null && /^\d+$/.test(after) ? Number(after) : undefined;
    const warnings = response.headers.get(WARNINGS_HEADER);
    throw new ServiceError(code as ErrorCode, detail, {
      ...place,
      retryAfterS,
      ...(refusals !== undefined && { refusals }),
      ...(warnings !== null && { warnings }),
    });
  }

  /** Turns a failure on the way into UnreachableError. */
  async #reached<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ServiceError || error instanceof UnreachableError) throw error;
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const mayHaveSent = !UNCONNECTED.has(systemCode(reason));
      throw new UnreachableError(`no service answers at ${this.#url}: ${systemReason(reason)}`, {
        cause: error,
        mayHaveSent,
      });
    }
  }

  /** The error for an answer that this version does not understand. */
  stranger(): UnreachableError {
    return new UnreachableError(
      `the answer from ${this.#url} is not from a service of this version`,
    );
  }
}

/**
 * Makes a client for the service of `--url`, else of the settings. With `isForPosts`, it prefers
 * the token that may only post.
 *
 * @throws UsageError, CommandFailure or SettingsError when the address or the token is unknown.
 */
export function createServiceClient(
  words: CommandWords,
  { environment }: CommandWorld,
  { isForPosts = false }: { readonly isForPosts?: boolean } = {},
): ServiceClient {
  const url = urlOption(words);
  const settings = parseSettings(environment);
  const publicToken = isForPosts ? settings.publicAccessToken : undefined;
  const token = publicToken ?? settings.privateAccessToken;
  if (token !== undefined) return new ServiceClient(url ?? formatUrl(settings), token);
  throw new CommandFailure(
    isForPosts
      ? 'PUBLIC_ACCESS_TOKEN or PRIVATE_ACCESS_TOKEN must hold a token of the service; neither is set'
      : 'PRIVATE_ACCESS_TOKEN must hold a token of the service; it is not set',
  );
}

/**
 * The URL of `--url`, in which `http://` is optional.
 *
 * @throws UsageError when it is no address.
 */
export function urlOption(words: CommandWords): string | undefined {
  const text = words.find('url');
  if (text === undefined) return undefined;
  const url = parseAddress(text.trim());
  if (url !== undefined) return url;
  throw new UsageError(
    `--url must be the address of a service, such as localhost:4000 or https://logs.example.com; got ${echo(text)}`,
  );
}

/**
 * Without a scheme and two slashes, the text begins with a host name. Returns `undefined` for a
 * text that is no address.
 */
function parseAddress(text: string): string | undefined {
  // A number alone would parse as a host's IP address.
  if (!/^[a-z\d[]/i.test(text) || /^(?:\d+$|https?:(?!\/\/))/i.test(text)) return undefined;
  const url = text.includes('://') ? text : `http://${text}`;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  const { username, password, search, hash } = new URL(url);
  return [username, password, search, hash].join('') === '' ? url : undefined;
}

/** The URL of the service with these settings, from the same machine. */
export function formatUrl({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const anywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const reachable = anywhere[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns `undefined` for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
