import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../engine/columns.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import {
  CONNECTIONS_MAX,
  DRAIN_ACCEPT_MS,
  DRAIN_LAST_MS,
  DRAIN_MS_MAX,
  DRAIN_SILENT_MS,
  HEADERS_MS_MAX,
  KEEP_ALIVE_MS,
  LINGER_MS,
  REQUEST_MS_MAX,
  SLOW_LOOK_MS,
} from '../limits.ts';
import { BODY_TIME_MESSAGE, ExchangeWatch, type SlownessLimits } from './exchange-watch.ts';
import type { HttpMessages } from './express-messages.ts';
import type { TellFailure } from './failure.ts';
import { listenAt } from './listen-at.ts';
import { rawErrorResponse } from './response.ts';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** The request handler, and its classes of requests and responses. */
export type ServedApp = {
  readonly listener: RequestListener;
  readonly messages: HttpMessages;
};

export type HttpManners = {
  /** The most bytes of one request's headers, including its URL. */
  readonly headersBytesMax: number;
  /** Formats the answer to a request that could not be read. */
  readonly tellFailure: TellFailure;
};

/** How slow callers may be, and the period of checking; by default as in `limits.ts`. */
export type CallerLimits = SlownessLimits & {
  readonly headersMsMax: number;
  readonly lookMs: number;
  readonly lingerMs: number;
};

/** Times of a drain; by default as in `limits.ts`. */
export type DrainOptions = {
  readonly drainMs?: number;
  readonly silentMs?: number;
  /** Has all waiting callers answered. */
  readonly giveUp?: () => void;
};

/** A listening HTTP server that can be drained and stopped. */
export class HttpServer {
  readonly #server: Server;
  readonly #responses = new Set<ServerResponse>();
  readonly #sockets = new Set<Socket>();
  readonly #manners: HttpManners;
  readonly #watch: ExchangeWatch;
  readonly #lookMs: number;
  readonly #lingerMs: number;
  #isDraining = false;

  private constructor(
    { listener, messages }: ServedApp,
    manners: HttpManners,
    limits: Partial<CallerLimits>,
  ) {
    this.#manners = manners;
    this.#watch = new ExchangeWatch(limits);
    this.#lookMs = limits.lookMs ?? SLOW_LOOK_MS;
    this.#lingerMs = limits.lingerMs ?? LINGER_MS;
    const track: RequestListener = (request, response) => {
      this.#responses.add(response);
      this.#watch.add(request, response);
      response.on('close', () => this.#responses.delete(response));
      if (this.#isDraining) response.setHeader('Connection', 'close');
      listener(request, response);
    };
    this.#server = createServer(
      {
        ...messages,
        maxHeaderSize: manners.headersBytesMax,
        headersTimeout: limits.headersMsMax ?? HEADERS_MS_MAX,
        // Node's default period is 30 s.
        connectionsCheckingInterval: this.#lookMs,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      track,
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
    // Above its default count, Node drops headers silently, possibly a token. Their bytes are limited.
    this.#server.maxHeadersCount = 0;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // A caller that asks before it sends a body gets 100 only after the request was accepted.
    this.#server.on('checkContinue', track);
    this.#server.on('checkExpectation', track);
    this.#server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket));
    const looking = setInterval(() => this.#cutSlow(), this.#lookMs).unref();
    this.#server.on('close', () => clearInterval(looking));
  }

  /** Rejects with the system's error if the address cannot be listened on. */
  static async listen(
    app: ServedApp,
    address: { readonly host: string; readonly port: number },
    manners: HttpManners,
    limits: Partial<CallerLimits> = {},
  ): Promise<HttpServer> {
    const server = new HttpServer(app, manners, limits);
    await listenAt(server.#server, address);
    return server;
  }

  get port(): number {
    return (must(this.#server.address()) as AddressInfo).port;
  }

  /**
   * Stops the server. New requests are answered for a moment, and the promise resolves when the answers under way have
   * left. After `drainMs` it calls `giveUp`, to have the others answered, and shortly after cuts the rest. A connection
   * without complete headers is cut after `silentMs`.
   */
  async drain({
    drainMs = DRAIN_MS_MAX,
    silentMs = DRAIN_SILENT_MS,
    giveUp = () => {},
  }: DrainOptions = {}): Promise<void> {
    this.#isDraining = true;
    this.#endConnections();
    // Their callers believe that they are accepted; closing them now would reset them without an answer.
    if (drainMs > 0) await delay(Math.min(drainMs, DRAIN_ACCEPT_MS));
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const leftMs = Math.max(0, drainMs - DRAIN_ACCEPT_MS);
    const lastMs = Math.min(drainMs, DRAIN_LAST_MS);
    const timers = [
      setTimeout(giveUp, leftMs),
      setTimeout(() => this.#server.closeAllConnections(), leftMs + lastMs),
    ];
    const silentTimer = setInterval(() => this.#cutSilent(), silentMs);
    await closed;
    for (const timer of timers) clearTimeout(timer);
    clearInterval(silentTimer);
  }

  /** Sets `Connection: close` on the answers that have not begun. */
  #endConnections(): void {
    for (const response of this.#responses) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }

  /** Node counts a connection without any bytes as busy; browsers keep such connections open. */
  #cutSilent(): void {
    const busy = new Set(Array.from(this.#responses, (response) => response.socket));
    for (const socket of this.#sockets) {
      if (!busy.has(socket)) socket.destroy();
    }
  }

  #cutSlow(): void {
    const { bodies, answers } = this.#watch.look(this.#lookMs);
    const slow = new ServiceError('request_timeout', BODY_TIME_MESSAGE);
    for (const socket of bodies) this.#tellAndCut(slow, socket);
    for (const socket of answers) socket.destroy();
  }

  /** Answers a connection on which no request could be read. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const code = CLIENT_ERRORS.get(error.code ?? '') ?? 'invalid_request';
    const hasHeaders = [...this.#responses].some((response) => response.socket === socket);
    this.#tellAndCut(new ServiceError(code, this.#clientMessage(code, hasHeaders)), socket);
  }

  /** Ends a connection with a failure, if no answer has begun on it. */
  #tellAndCut(error: ServiceError, socket: Socket): void {
    const hasBegun = [...this.#responses].some(
      (response) => response.socket === socket && response.headersSent,
    );
    if (!socket.writable || hasBegun) {
      socket.destroy();
      return;
    }
    socket.end(rawErrorResponse(error, this.#manners.tellFailure));
    setTimeout(() => socket.destroy(), this.#lingerMs).unref();
  }

  #clientMessage(code: ErrorCode, hasHeaders: boolean): string {
    switch (code) {
      case 'headers_too_large':
        return `the URL and the headers may have ${this.#manners.headersBytesMax} bytes; got more`;
      case 'request_timeout':
        return hasHeaders
          ? BODY_TIME_MESSAGE
          : `the headers of a request must arrive within ${HEADERS_MS_MAX / 1000} s`;
      default:
        return 'the request is not well-formed HTTP';
    }
  }
}

const CLIENT_ERRORS: ReadonlyMap<string, ErrorCode> = new Map([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
]);
