import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { gunzipSync, inflateSync } from 'node:zlib';
import { type HttpMessage, HttpMessages } from './http-messages.ts';

/** What a sender posted, and how it was answered. */
export type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: HttpMessage['headers'];
  /** Without its content encoding. */
  readonly requestBody: Buffer;
  readonly status: number;
  readonly responseHeaders: HttpMessage['headers'];
  readonly responseBody: Buffer;
};

/**
 * Stands between a sender and the service and passes on every byte as it came, in both directions, while it listens
 * to what is said. It is there and away with the service: `close` refuses connections as a port does on which
 * nobody listens.
 *
 * Emits `request` when a whole one was passed on, and `exchange` when one was answered.
 */
export class HttpTap extends EventEmitter {
  readonly exchanges: Exchange[] = [];
  /** Of all requests, answered or not, without their content encoding. */
  readonly requestBodies: Buffer[] = [];
  readonly #servicePort: number;
  readonly #deadline: AbortSignal;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  private constructor(servicePort: number, deadline: AbortSignal) {
    super();
    this.#deadline = deadline;
    this.#servicePort = servicePort;
  }

  /** Nothing is waited for beyond the deadline. */
  static async open(servicePort: number, deadline: AbortSignal): Promise<HttpTap> {
    const tap = new HttpTap(servicePort, deadline);
    await tap.open();
    return tap;
  }

  /** The same after `close` and `open`. */
  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (sender) => this.#join(sender));
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Resolves when `holds` does, which is looked at after each exchange. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await once(this, 'exchange', { signal: this.#deadline });
  }

  /** Resolves when one more request was passed on. */
  async nextRequest(): Promise<void> {
    await once(this, 'request', { signal: this.#deadline });
  }

  #join(sender: Socket): void {
    const service = connect({ port: this.#servicePort, host: '127.0.0.1', allowHalfOpen: true });
    const both = [
      [sender, service],
      [service, sender],
    ] as const;
    this.#listen(sender, service);
    for (const [from, to] of both) {
      this.#sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('end', () => to.end());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      // What went wrong on one side is over on the other.
      from.on('error', () => to.resetAndDestroy());
    }
  }

  #listen(sender: Socket, service: Socket): void {
    const unanswered: HttpMessage[] = [];
    const requests = new HttpMessages(() => true);
    const responses = new HttpMessages(
      ({ firstLine }) =>
        !/^\S+ (?:1\d\d|204|304)/.test(firstLine) && !/^HEAD/.test(unanswered[0]?.firstLine ?? ''),
    );
    sender.on('data', (bytes) => {
      for (const request of requests.push(bytes)) {
        unanswered.push(request);
        this.requestBodies.push(inflated(request));
        this.emit('request');
      }
    });
    service.on('data', (bytes) => {
      for (const response of responses.push(bytes)) {
        if (/^\S+ 1\d\d/.test(response.firstLine)) continue;
        const request = unanswered.shift();
        // One that is refused may be answered before it has ended, and nobody counts it.
        if (request !== undefined) this.#answered(request, response);
      }
    });
  }

  #answered(request: HttpMessage, response: HttpMessage): void {
    const [method, path] = request.firstLine.split(' ');
    this.exchanges.push({
      method: method!,
      path: path!,
      requestHeaders: request.headers,
      requestBody: inflated(request),
      status: Number(response.firstLine.split(' ')[1]),
      responseHeaders: response.headers,
      responseBody: inflated(response),
    });
    this.emit('exchange');
  }
}

function inflated({ headers, body }: HttpMessage): Buffer {
  const encoding = headers.get('content-encoding');
  if (encoding === 'gzip') return gunzipSync(body);
  return encoding === 'deflate' ? inflateSync(body) : body;
}
