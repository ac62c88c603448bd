import { EventEmitter } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { must } from '../../engine/columns.ts';
import { ServiceError } from '../errors.ts';
import { BODY_TIME_MESSAGE, bodyMsAllowed, type SlownessLimits } from '../http/exchange-watch.ts';
import { listenAt } from '../http/listen-at.ts';
import type { Connection } from '../http/transport.ts';
import {
  ANSWER_MS_MAX,
  DRAIN_LAST_MS,
  DRAIN_MS_MAX,
  GRPC_CALLS_MAX,
  GRPC_CONNECTIONS_MAX,
  GRPC_STREAMS_MAX,
  HEADERS_BYTES_MAX,
  KEEP_ALIVE_MS,
  REQUEST_MS_MAX,
  SLOW_LOOK_MS,
} from '../limits.ts';
import type { GrpcListener } from './grpc-listener.ts';
import { GrpcRequest } from './grpc-request.ts';
import { GrpcResponse } from './grpc-response.ts';
import { toGrpcStatus } from './grpc-status.ts';

/** The limits of callers; by default as in `limits.ts`. */
export type GrpcLimits = Pick<SlownessLimits, 'bodyMsMax' | 'bodyBytesPerSMin'> & {
  readonly callsMax: number;
  readonly answerMsMax: number;
  /** The time after which a connection without calls is closed. */
  readonly idleMsMax: number;
  readonly lookMs: number;
};

/** A call under way. */
type Call = {
  readonly stream: ServerHttp2Stream;
  readonly request: GrpcRequest;
  readonly response: GrpcResponse;
  /** Milliseconds since the call began, and since it was answered. */
  bodyMs: number;
  answerMs: number;
};

/**
 * A listening server for unary calls of gRPC, over HTTP/2 without TLS, that can be drained and stopped.
 *
 * Node's HTTP/2 limits pings, settings, resets, frames and headers of a connection. What a call holds before its token
 * is checked is at most HTTP/2's window of a stream. The body of an admitted call is held as that of a post over HTTP.
 */
export class GrpcServer {
  readonly #server: Http2Server;
  readonly #listener: GrpcListener;
  readonly #limits: Partial<GrpcLimits>;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #calls = new Set<Call>();
  #isDraining = false;

  private constructor(listener: GrpcListener, limits: Partial<GrpcLimits>) {
    this.#listener = listener;
    this.#limits = limits;
    this.#server = createServer({
      settings: {
        maxConcurrentStreams: GRPC_STREAMS_MAX,
        maxHeaderListSize: HEADERS_BYTES_MAX,
        enablePush: false,
      },
    });
    this.#server.maxConnections = GRPC_CONNECTIONS_MAX;
    this.#server.setTimeout(limits.idleMsMax ?? KEEP_ALIVE_MS);
    this.#server.on('timeout', (session: ServerHttp2Session) => this.#closeIdle(session));
    this.#server.on('session', (session) => this.#join(session));
    // Such a connection is closed already.
    this.#server.on('sessionError', () => {});
    const lookMs = limits.lookMs ?? SLOW_LOOK_MS;
    const looking = setInterval(() => this.#cutSlow(lookMs), lookMs).unref();
    this.#server.on('close', () => clearInterval(looking));
  }

  /** Rejects with the system's error if the address cannot be listened on. */
  static async listen(
    listener: GrpcListener,
    address: { readonly host: string; readonly port: number },
    limits: Partial<GrpcLimits> = {},
  ): Promise<GrpcServer> {
    const server = new GrpcServer(listener, limits);
    await listenAt(server.#server, address);
    return server;
  }

  get port(): number {
    return (must(this.#server.address()) as AddressInfo).port;
  }

  /**
   * Stops the server: tells callers to send no more calls here, and resolves when the calls under way are answered. It
   * cuts what is left shortly after `drainMs`.
   */
  async drain({ drainMs = DRAIN_MS_MAX }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    const timer = setTimeout(() => {
      for (const session of this.#sessions) session.destroy();
    }, drainMs + Math.min(drainMs, DRAIN_LAST_MS));
    await closed;
    clearTimeout(timer);
  }

  #join(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    const connection = Object.assign(new EventEmitter(), {
      remoteAddress: session.socket.remoteAddress,
    });
    // Each of its calls may wait for its end.
    connection.setMaxListeners(GRPC_STREAMS_MAX);
    session.on('stream', (stream, headers) => this.#take(stream, headers, connection));
    session.on('close', () => {
      this.#sessions.delete(session);
      connection.emit('close');
    });
    if (this.#isDraining) session.close();
  }

  #closeIdle(session: ServerHttp2Session): void {
    const isUsed = [...this.#calls].some(({ stream }) => stream.session === session);
    if (!isUsed) session.close();
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, connection: Connection): void {
    // The call ends with the close that follows.
    stream.on('error', () => {});
    if (headers[':method'] !== 'POST' || !isGrpc(headers['content-type'])) {
      stream.respond({ ':status': 415 }, { endStream: true });
      stream.close();
      stream.resume();
      return;
    }
    const request = new GrpcRequest(stream, headers, connection);
    const response = new GrpcResponse(stream);
    const callsMax = this.#limits.callsMax ?? GRPC_CALLS_MAX;
    if (this.#calls.size >= callsMax) {
      const message = `${callsMax} calls may be under way; got one more`;
      response.fail(toGrpcStatus(new ServiceError('ingest_overloaded', message)));
      request.destroy();
      return;
    }
    const call = { stream, request, response, bodyMs: 0, answerMs: 0 };
    this.#calls.add(call);
    stream.on('close', () => this.#calls.delete(call));
    void this.#listener(request, response);
  }

  /** Ends calls whose message arrives too slowly, and those whose answer is not read. */
  #cutSlow(passedMs: number): void {
    const { answerMsMax = ANSWER_MS_MAX } = this.#limits;
    for (const call of this.#calls) {
      const { stream, request, response } = call;
      if (response.headersSent) {
        call.answerMs += passedMs;
        if (call.answerMs > answerMsMax) stream.close(constants.NGHTTP2_CANCEL);
      } else if (!request.isComplete) {
        call.bodyMs += passedMs;
        const allowedMs = Math.min(
          bodyMsAllowed(request.arrivedBytes, this.#limits),
          REQUEST_MS_MAX,
        );
        if (call.bodyMs > allowedMs) {
          request.destroy(new ServiceError('request_timeout', BODY_TIME_MESSAGE));
        }
      }
    }
  }
}

/** Whether a media type is that of gRPC with messages in Protobuf. */
function isGrpc(contentType: string | undefined): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/i.test(contentType ?? '');
}
