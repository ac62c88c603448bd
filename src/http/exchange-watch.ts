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
  /** How fast an answer that waits must be read, in bytes a second, averaged over `answerMsMax`. */
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
  /** How long the answer may still wait if nothing more of it is read. */
  answerMsLeft: number;
  /** What the system had taken of all answers of the connection at the last look. */
  takenBytes: number;
};

/**
 * Finds callers who send a body or take an answer too slowly. Each of them holds a connection and what was read
 * or made for it, for as long as it likes; a few bytes a minute are enough for that. The time allowed grows
 * with the bytes that have moved, as in Apache's mod_reqtimeout: a slow line that moves is waited for, however long
 * a body or an answer is.
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
      answerMsLeft: this.#limits.answerMsMax,
      takenBytes: 0,
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

  /**
   * While an answer waits, its time goes by, and each byte that is read gives some back, up to the whole
   * `answerMsMax`. So a reader is cut off only if it was too slow over some such time, and one that has stopped when
   * it is over, whatever it read before.
   */
  #isAnswerSlow(exchange: Exchange, passedMs: number): boolean {
    const { response, socket } = exchange;
    const { answerMsMax, answerBytesPerSMin } = this.#limits;
    const isUnsent = response.writableEnded
      ? !response.writableFinished
      : response.writableNeedDrain;
    const takenBytes = takenBytesOf(socket);
    const readBytes = takenBytes - exchange.takenBytes;
    exchange.takenBytes = takenBytes;
    // One that stands behind another answer on its connection has no socket yet, and waits for us.
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
 * Bytes that the system has taken from a connection, to send. A long answer is one write, and `writableLength` counts
 * a write whole until its last byte is taken; what is left of it only the handle knows, which Node's own time-outs of
 * sockets ask, too (`_onTimeout` in its `lib/net.js`).
 */
function takenBytesOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SocketHandle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

type SocketHandle = { readonly bytesWritten: number; readonly writeQueueSize: number };

/** Nothing is on its way any more, in neither direction. */
function isOver({ request, response, socket }: Exchange): boolean {
  return socket.destroyed || (request.complete && response.closed);
}
