import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What becomes of one request between client and server. */
export const FAULTS = [
  /** The server never hears of it. */
  'request lost',
  /** The server gets half of it. */
  'request cut',
  /** It happens, and the client is not told. */
  'answer lost',
  /** It happens, and the client gets a part of the answer. */
  'answer cut',
  /** It happens, and the answer comes after the client has given up. */
  'answer late',
  /** It happens twice, one after the other. */
  'repeated',
  /** It happens twice at once. */
  'doubled',
  /** It happens now, and a second time later, when the client has gone on. */
  'repeated late',
  /** The proxy refuses it. */
  'refused',
  /** It happens, and the proxy answers that it failed. */
  'refused after',
] as const;
export type Fault = (typeof FAULTS)[number];

const REPEATED_LATE_MS = 30;

/** Stands between client and server and does with each request what `choose` says. */
export class FaultyProxy {
  readonly #server: Server;
  readonly #upstream: URL;
  readonly #pending = new Set<Promise<unknown>>();
  /** `undefined`: the request passes as it is. */
  choose: () => Fault | undefined = () => undefined;

  private constructor(upstream: string) {
    this.#upstream = new URL(upstream);
    this.#server = createServer((incoming, response) => {
      this.#track(
        this.#pass(incoming, response).catch(() => {
          incoming.socket.destroy();
        }),
      );
    });
  }

  static async open(upstream: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves when everything that was sent has been answered, or lost. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async close(): Promise<void> {
    await this.settled();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const fault = this.choose();
    if (fault === 'request lost') throw new Error(fault);
    if (fault === 'request cut') await this.#sendHalf(incoming, body);
    if (fault === 'refused') return refuse(response);
    const doubled = fault === 'doubled' ? this.#send(incoming, body) : undefined;
    const answer = await this.#send(incoming, body);
    await doubled;
    if (fault === 'repeated') await this.#send(incoming, body);
    if (fault === 'repeated late') {
      this.#track(wait(REPEATED_LATE_MS).then(() => this.#send(incoming, body)));
    }
    if (fault === 'answer lost') throw new Error(fault);
    if (fault === 'answer late') await hungUp(response);
    if (fault === 'refused after') return refuse(response);
    if (fault === 'answer cut') {
      incoming.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
      return;
    }
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  }

  /** Rejects, as the client's connection is then to be closed. */
  async #sendHalf(incoming: IncomingMessage, body: Buffer): Promise<never> {
    await new Promise<void>((resolve) => {
      const half = request(this.#target(incoming), {
        method: incoming.method,
        headers: {
          ...incoming.headers,
          'content-length': body.length,
          'transfer-encoding': undefined,
        } as never,
      });
      half.on('error', () => resolve());
      half.on('close', () => resolve());
      half.write(body.subarray(0, body.length >> 1), () => half.destroy());
    });
    throw new Error('request cut');
  }

  #send(
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<{
    readonly status: number;
    readonly headers: IncomingMessage['headers'];
    readonly body: Buffer;
  }> {
    return new Promise((resolve, reject) => {
      const { method } = incoming;
      const headers = { ...incoming.headers, 'content-length': String(body.length) };
      delete headers['transfer-encoding'];
      const outgoing = request(
        this.#target(incoming),
        { method, headers, agent: false },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const { 'transfer-encoding': _, connection: __, ...kept } = answer.headers;
            resolve({
              status: answer.statusCode ?? 500,
              headers: kept,
              body: Buffer.concat(chunks),
            });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  #target(incoming: IncomingMessage): URL {
    return new URL(incoming.url ?? '/', this.#upstream);
  }

  #track(work: Promise<unknown>): void {
    const tracked = work.catch(() => {}).finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }
}

/** Resolves when the client has closed its connection. */
async function hungUp(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close');
}

function refuse(response: ServerResponse): void {
  response.writeHead(503, { 'content-type': 'text/plain' });
  response.end('the cluster is busy');
}
