import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

/** A whole answer. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

export type HttpRequest = {
  readonly method: string;
  /** With its query string, as it is sent. */
  readonly path: string;
  /** Those that are `undefined` are left out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string | Uint8Array | undefined;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
};

/** Asks one service on connections that are kept. */
export class HttpClient {
  readonly #base: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(base: string) {
    this.#base = base;
  }

  /** Rejects when the connection, or the signal, ends before the answer does. */
  ask({ method, path, headers = {}, body, signal }: HttpRequest): Promise<HttpAnswer> {
    const { hostname, port } = new URL(this.#base);
    // Of GET and the like Node does not say by itself that a body follows.
    const length = body === undefined ? undefined : String(Buffer.byteLength(body));
    const given = Object.entries({ 'Content-Length': length, ...headers }).filter(
      ([, value]) => value !== undefined,
    );
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        hostname,
        port,
        method,
        path,
        signal,
        agent: this.#agent,
        headers: Object.fromEntries(given) as Record<string, string>,
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
