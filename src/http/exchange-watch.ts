import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  ANSWER_BYTES_PER_S_MIN,
  ANSWER_MS_MAX,
  BODY_BYTES_PER_S_MIN,
  BODY_MS_MAX,
  REQUEST_MS_MAX,
} from '../limits.ts';

/** How slow a caller may be; by default as in `limits.ts`. */
export type SlownessLimits = {
  /** Time for a body, plus a second for each `bodyBytesPerSMin` received. */
  readonly bodyMsMax: number;
  readonly bodyBytesPerSMin: number;
  /** The least rate of a waiting answer, in bytes per second, averaged over `answerMsMax`. */
  readonly answerMsMax: number;
  readonly answerBytesPerSMin: number;
};

const LIMITS: SlownessLimits = {
  bodyMsMax: BODY_MS_MAX,
  bodyBytesPerSMin: BODY_BYTES_PER_S_MIN,
  answerMsMax: ANSWER_MS_MAX,
  answerBytesPerSMin: ANSWER_BYTES_PER_S_MIN,
};

/** The message of the failure for a sender that is too slow. */
export const BODY_TIME_MESSAGE = `a body must arrive within ${BODY_MS_MAX / 1000} s, and a second more for each ${BODY_BYTES_PER_S_MIN} bytes of it, and within ${REQUEST_MS_MAX / 1000} s in any case`;

/** The milliseconds that a body may take of which so many bytes have arrived. */
export function bodyMsAllowed(
  bytes: number,
  {
    bodyMsMax = BODY_MS_MAX,
    bodyBytesPerSMin = BODY_BYTES_PER_S_MIN,
  }: Partial<Pick<SlownessLimits, 'bodyMsMax' | 'bodyBytesPerSMin'>>,
): number {
  return bodyMsMax + (1000 * bytes) / bodyBytesPerSMin;
}

/** A request under way, and its progress. */
type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Bytes read from the connection when the body began. */
  readonly bytesAtStart: number;
  bodyMs: number;
  /** How long the answer may still wait if nothing more of it is read. */
  answerMsLeft: number;
  /** Bytes of all answers that the system had taken from the connection at the last look. */
  takenBytes: number;
};

/**
 * Finds callers that send a body or read an answer too slowly. Each could hold a connection, and the memory of its body
 * or answer, for ever with a few bytes a minute. The allowed time grows with the bytes transferred, as in Apache's
 * mod_reqtimeout: a slow line that makes progress is accepted, however long a body or an answer is.
 *
 * Time advances only by `look`: if the service was too busy to look, callers are not blamed for it.
 */
export class ExchangeWatch {
  readonly #exchanges = new Set<Exchange>();
  readonly #limits: SlownessLimits;

  constructor(limits: Partial<SlownessLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Starts to watch a request whose headers have arrived. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    this.#exchanges.add({
      request,
      response,
      socket,
      bytesAtStart: socket.bytesRead,
      bodyMs: 0,
      answerMsLeft: this.#limits.answerMsMax,
      takenBytes: 0,
    });
  }

  /** The connections that are too slow, each once, by the reason. `passedMs`: time since the last look. */
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
    // A sender that waits for a 100 has not begun.
    if (request.complete || request.headers.expect !== undefined) return false;
    exchange.bodyMs += passedMs;
    const bytes = socket.bytesRead - bytesAtStart;
    return exchange.bodyMs > bodyMsAllowed(bytes, this.#limits);
  }

  /**
   * The allowance of a waiting answer decreases with time, and increases with each byte read, up to `answerMsMax`. So a
   * reader is cut off only if it was too slow over that time, and one that stops reading is cut off after it, whatever
   * it read before.
   */
  #isAnswerSlow(exchange: Exchange, passedMs: number): boolean {
    const { response, socket } = exchange;
    const { answerMsMax, answerBytesPerSMin } = this.#limits;
    const isUnsent = response.writableEnded
      ? !response.writableFinished
      : response.writableNeedDrain;
    const takenBytes = measureTaken(socket);
    const readBytes = takenBytes - exchange.takenBytes;
    exchange.takenBytes = takenBytes;
    // An answer queued behind another one on its connection has no socket yet, and waits for the service.
    if (!isUnsent || response.socket === null) {
      exchange.answerMsLeft = answerMsMax;
      return false;
    }
    const msLeft = exchange.answerMsLeft - passedMs + (1000 * readBytes) / answerBytesPerSMin;
    exchange.answerMsLeft = Math.min(answerMsMax, msLeft);
    return msLeft < 0;
  }
}

/**
 * Bytes that the system has taken from a connection for sending. A long answer is one write, and `writableLength`
 * counts a write wholly until its last byte is taken. Only the handle knows the rest; Node's own socket time-outs use
 * it, too (`_onTimeout` in `lib/net.js`).
 */
function measureTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SocketHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

type SocketHandle = { readonly bytesWritten: number; readonly writeQueueSize: number };

/** Whether nothing is on its way in either direction. */
function isOver({ request, response, socket }: Exchange): boolean {
  return socket.destroyed || (request.complete && response.closed);
}
