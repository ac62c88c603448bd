import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that answers a query when the test says so, and notes its requests. */
export class SlowService {
  readonly asked: string[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  #query: ServerResponse | undefined;
  /** Called with the method of each request before it is answered. */
  onRun: (method: string) => void = () => {};

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  finish(): void {
    this.#query?.end('n\r\n1\r\n');
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    this.asked.push(`${method} ${url}`);
    if (method === 'POST') {
      this.asked.push(`named ${headers['weir-query-id']}`);
      this.#query = response;
      response.on('close', () => this.asked.push('closed'));
      this.onRun(method);
      return;
    }
    if (url !== '/api/openapi.json') this.onRun(method);
    if (method === 'DELETE') response.writeHead(204).end();
    else if (url === '/api/openapi.json') response.end('{"paths":{}}');
    else response.end(JSON.stringify({ state: 'running', rows_total: 50, share: 0.42 }));
  }
}
