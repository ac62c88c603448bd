import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  ANSWER_BYTES_PER_S_MIN,
  ANSWER_MS_MAX,
  BODY_BYTES_PER_S_MIN,
  BODY_MS_MAX,
} from '../limits.ts';

/** How slow a caller may be; those of `limits.ts` unless given. */
export type SlownessLimits = {
  /** Time for a body, and for each second more so many bytes of it. */
  readonly bodyMsMax: number;
  readonly bodyBytesPerSMin: number;
  /** Time for what waits to leave, likewise. */
  readonly answerMsMax: number;
  readonly answerBytesPerSMin: number;
};

const LIMITS: SlownessLimits = {
  bodyMsMax: BODY_MS_MAX,
  bodyBytesPerSMin: BODY_BYTES_PER_S_MIN,
  answerMsMax: ANSWER_MS_MAX,
  answerBytesPerSMin: ANSWER_BYTES_PER_S_MIN,
};

/** A request under way, and what has been seen of it. */
type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Bytes of the connection when its body began. */
  readonly bytesAtStart: number;
  bodyMs: number;
  /** How long bytes of the answer have been waiting, and how many there were then. */
  waitingMs: number;
  waitingBytes: number;
};

/**
 * Finds callers who send a body or take an answer too slowly. Each of them holds a connection and what was read
 * or made for it, for as long as it likes; a few bytes a minute are enough for that. The time allowed grows
 * with the bytes, as in Apache's mod_reqtimeout: who has much to send and a slow line is no enemy.
 *
 * Time is what `look` is told has passed: a service that was too busy to look does not blame its callers.
 */
export class ExchangeWatch {
  readonly #exchanges = new Set<Exchange>();
  readonly #limits: SlownessLimits;

  constructor(limits: Partial<SlownessLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Begins to watch a request whose headers have just arrived. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.#exchanges.add({
      request,
      response,
      socket,
      bytesAtStart: socket.bytesRead,
      bodyMs: 0,
      waitingMs: 0,
      waitingBytes: 0,
    });
  }

  /** `passedMs` after the last look: the connections that are too slow, each once, by what they are slow at. */
  look(passedMs: number): {
    readonly bodies: readonly Socket[];
    readonly answers: readonly Socket[];
  } {
    const bodies: Socket[] = [];
    const answers: Socket[] = [];
    for (const exchange of this.#exchanges) {
      if (isOver(exchange)) this.#exchanges.delete(exchange);
      else if (this.#isBodySlow(exchange, passedMs)) bodies.push(exchange.socket);
      else if (this.#isAnswerSlow(exchange, passedMs)) answers.push(exchange.socket);
      else continue;
      this.#exchanges.delete(exchange);
    }
    return { bodies, answers };
  }

  #isBodySlow(exchange: Exchange, passedMs: number): boolean {
    const { request, socket, bytesAtStart } = exchange;
    // One that waits for a 100 has not begun.
    if (request.complete || request.headers.expect !== undefined) return false;
    exchange.bodyMs += passedMs;
    const { bodyMsMax, bodyBytesPerSMin } = this.#limits;
    const bytes = socket.bytesRead - bytesAtStart;
    return exchange.bodyMs > bodyMsMax + (1000 * bytes) / bodyBytesPerSMin;
  }

  #isAnswerSlow(exchange: Exchange, passedMs: number): boolean {
    const { response, socket } = exchange;
    const isUnsent = response.writableEnded
      ? !response.writableFinished
      : response.writableNeedDrain;
    // One that stands behind another answer on its connection has no socket yet, and waits for us.
    if (!isUnsent || response.socket === null) {
      exchange.waitingMs = 0;
      return false;
    }
    if (exchange.waitingMs === 0) exchange.waitingBytes = socket.writableLength;
    exchange.waitingMs += passedMs;
    const { answerMsMax, answerBytesPerSMin } = this.#limits;
    return exchange.waitingMs > answerMsMax + (1000 * exchange.waitingBytes) / answerBytesPerSMin;
  }
}

/** Nothing is on its way any more, in neither direction. */
function isOver({ request, response, socket }: Exchange): boolean {
  return socket.destroyed || (request.complete && response.closed);
}
