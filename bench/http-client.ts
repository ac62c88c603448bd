import { Agent, type IncomingMessage, request } from 'node:http';

export type HttpAnswer = { readonly status: number; readonly body: Buffer };

/** A client that costs as little as Node's own HTTP allows: kept connections, no body parsing. */
export class HttpClient {
  readonly #url: URL;
  readonly #token: string;
  readonly #agent: Agent;

  constructor(url: string, token: string, connectionCount: number) {
    this.#url = new URL(url);
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
  }

  get(path: string): Promise<HttpAnswer> {
    return this.#send('GET', path, undefined);
  }

  post(path: string, body: Buffer): Promise<HttpAnswer> {
    return this.#send('POST', path, body);
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body: Buffer | undefined): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { 'X-API-KEY': this.#token };
      if (body !== undefined) {
        headers['Content-Type'] = 'application/json';
        headers['Content-Length'] = body.length;
      }
      const { hostname, port } = this.#url;
      const sent = request(
        { hostname, port, path, method, headers, agent: this.#agent },
        (response: IncomingMessage) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts) }),
          );
          response.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
