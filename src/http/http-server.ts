import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import {
  BODY_BYTES_PER_S_MIN,
  BODY_MS_MAX,
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
import { ExchangeWatch, type SlownessLimits } from './exchange-watch.ts';
import type { HttpMessages } from './express-messages.ts';
import type { TellFailure } from './failure.ts';
import { rawErrorResponse } from './response.ts';

export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** What answers requests, and what it wants them and its responses to be. */
export type ServedApp = {
  readonly listener: RequestListener;
  readonly messages: HttpMessages;
};

export type HttpManners = {
  /** Bytes of one request's headers, its URL among them. */
  readonly headersBytesMax: number;
  /** How a request that could not be read is answered. */
  readonly tellFailure: TellFailure;
};

/** How slow callers may be, and how often they are looked for; those of `limits.ts` unless given. */
export type CallerLimits = SlownessLimits & {
  readonly headersMsMax: number;
  readonly lookMs: number;
  readonly lingerMs: number;
};

/** Times of a drain; those of the limits where left out. */
export type DrainOptions = {
  readonly drainMs?: number;
  readonly silentMs?: number;
  /** Has whoever still waits answered. */
  readonly giveUp?: () => void;
};

/** A listening server that can be told to finish what is under way and stop. */
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
        // Node looks every 30 s of itself.
        connectionsCheckingInterval: this.#lookMs,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      track,
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
    // Beyond a count of its own Node drops headers unsaid, a token among them; their bytes are bounded.
    this.#server.maxHeadersCount = 0;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    // Whoever asks before sending a body hears 100 only once the request is found good.
    this.#server.on('checkContinue', track);
    this.#server.on('checkExpectation', track);
    this.#server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket));
    const looking = setInterval(() => this.#cutSlow(), this.#lookMs).unref();
    this.#server.on('close', () => clearInterval(looking));
  }

  /** Rejects with the system's error when the address cannot be listened on. */
  static async listen(
    app: ServedApp,
    address: { readonly host: string; readonly port: number },
    manners: HttpManners,
    limits: Partial<CallerLimits> = {},
  ): Promise<HttpServer> {
    const server = new HttpServer(app, manners, limits);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(address.port, address.host, () => {
        server.#server.off('error', reject);
        resolve();
      });
    });
    return server;
  }

  get port(): number {
    return (must(this.#server.address()) as AddressInfo).port;
  }

  /**
   * Answers for a moment what comes, and resolves when the answers under way have left. When `drainMs` are over
   * it calls `giveUp`, to have the others answered as well as may be, and a little later cuts what is left. A
   * connection that has sent no whole headers is cut after `silentMs`.
   */
  async drain({
    drainMs = DRAIN_MS_MAX,
    silentMs = DRAIN_SILENT_MS,
    giveUp = () => {},
  }: DrainOptions = {}): Promise<void> {
    this.#isDraining = true;
    this.#endConnections();
    // Their callers take them for accepted; closing now would reset them without a word.
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

  /** With the answers that have not begun. */
  #endConnections(): void {
    for (const response of this.#responses) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }

  /** Node counts a connection that has never sent anything as busy; browsers hold such ones ready. */
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

  /** Ends a connection with a failure, where no answer has begun on it yet. */
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

const BODY_TIME_MESSAGE = `a body must arrive within ${BODY_MS_MAX / 1000} s, and a second more for each ${BODY_BYTES_PER_S_MIN} bytes of it, and within ${REQUEST_MS_MAX / 1000} s in any case`;

const CLIENT_ERRORS: ReadonlyMap<string, ErrorCode> = new Map([
  ['HPE_HEADER_OVERFLOW', 'headers_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
]);
