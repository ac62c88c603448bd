import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { lastingPort } from '../support/lasting-port.ts';
import { Tap } from './tap.ts';

/** HTTP/2's code for a call that was not passed on, which may be sent again. */
const REFUSED_STREAM = 7;

/** The flag of a last frame. */
const END_STREAM = 1;

/** A tap of gRPC, which passes on the calls of each connection on one of its own. */
export class GrpcTap extends Tap {
  override readonly port: number;
  readonly #servicePort: number;
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;

  private constructor(servicePort: number, deadline: AbortSignal, port: number) {
    super(deadline);
    this.#servicePort = servicePort;
    this.port = port;
  }

  static async open(servicePort: number, deadline: AbortSignal): Promise<GrpcTap> {
    const tap = new GrpcTap(servicePort, deadline, await lastingPort());
    await tap.open();
    return tap;
  }

  override async open(): Promise<void> {
    const server = createServer();
    server.on('session', (session) => this.#join(session));
    server.on('sessionError', () => {});
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  override async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  #join(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    const service = connect(`http://127.0.0.1:${this.#servicePort}`);
    service.on('error', () => session.destroy());
    // What is over on one side is over on the other.
    service.on('close', () => session.destroy());
    session.on('close', () => {
      this.#sessions.delete(session);
      service.destroy();
    });
    session.on('stream', (stream, headers) => this.#pass(stream, headers, service));
  }

  #pass(from: ServerHttp2Stream, headers: IncomingHttpHeaders, service: ClientHttp2Session): void {
    from.on('error', () => {});
    if (service.closed || service.destroyed) {
      from.close(REFUSED_STREAM);
      return;
    }
    const to = service.request(headers);
    to.on('error', () => {});
    const sent: Buffer[] = [];
    const got: Buffer[] = [];
    let response: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    from.on('data', (chunk: Buffer) => {
      sent.push(chunk);
      to.write(chunk);
    });
    from.on('end', () => {
      this.sent(messageOf(sent, headers));
      to.end();
    });
    to.on('response', (answer, flags) => {
      response = answer;
      const isAll = (flags & END_STREAM) !== 0;
      if (isAll) trailers = answer;
      if (!from.destroyed)
        from.respond(answer, isAll ? { endStream: true } : { waitForTrailers: true });
    });
    from.on('wantTrailers', () => from.sendTrailers(trailers));
    to.on('trailers', (last) => {
      trailers = last;
    });
    to.on('data', (chunk: Buffer) => {
      got.push(chunk);
      from.write(chunk);
    });
    to.on('end', () => from.end());
    to.on('close', () => {
      if (trailers['grpc-status'] === undefined) {
        from.destroy();
        return;
      }
      this.answered({
        method: String(headers[':method']),
        path: String(headers[':path']),
        requestHeaders: mapOf(headers),
        requestBody: messageOf(sent, headers),
        status: Number(trailers['grpc-status']),
        responseHeaders: mapOf(response),
        responseBody: messageOf(got, response),
      });
    });
  }
}

/** The message of a call without its prefix and its compression, as far as it has come. */
function messageOf(chunks: readonly Buffer[], headers: IncomingHttpHeaders): Buffer {
  const bytes = Buffer.concat(chunks);
  const isPacked = bytes[0] === 1 && headers['grpc-encoding'] === 'gzip';
  const message = bytes.subarray(5);
  return isPacked ? gunzipSync(message) : message;
}

function mapOf(headers: IncomingHttpHeaders): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
