import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { gunzipSync, inflateSync } from 'node:zlib';
import { lastingPort } from '../support/lasting-port.ts';
import { type HttpMessage, HttpMessages } from './http-messages.ts';
import { Tap } from './tap.ts';

/** A tap of HTTP/1, which passes on every byte as it came, in both directions, while it listens to what is said. */
export class HttpTap extends Tap {
  override readonly port: number;
  readonly #servicePort: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  private constructor(servicePort: number, deadline: AbortSignal, port: number) {
    super(deadline);
    this.#servicePort = servicePort;
    this.port = port;
  }

  static async open(servicePort: number, deadline: AbortSignal): Promise<HttpTap> {
    const tap = new HttpTap(servicePort, deadline, await lastingPort());
    await tap.open();
    return tap;
  }

  override async open(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (sender) => this.#join(sender));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  override async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
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
        this.sent(inflated(request));
      }
    });
    service.on('data', (bytes) => {
      for (const response of responses.push(bytes)) {
        if (/^\S+ 1\d\d/.test(response.firstLine)) continue;
        const request = unanswered.shift();
        // One that is refused may be answered before it has ended, and nobody counts it.
        if (request !== undefined) this.#tell(request, response);
      }
    });
  }

  #tell(request: HttpMessage, response: HttpMessage): void {
    const [method, path] = request.firstLine.split(' ');
    this.answered({
      method: method!,
      path: path!,
      requestHeaders: request.headers,
      requestBody: inflated(request),
      status: Number(response.firstLine.split(' ')[1]),
      responseHeaders: response.headers,
      responseBody: inflated(response),
    });
  }
}

function inflated({ headers, body }: HttpMessage): Buffer {
  const encoding = headers.get('content-encoding');
  if (encoding === 'gzip') return gunzipSync(body);
  return encoding === 'deflate' ? inflateSync(body) : body;
}
