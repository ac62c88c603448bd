import type { IncomingMessage, ServerResponse } from 'node:http';
import { DrainRate, type Tenant } from '../../engine/index.ts';
import { ServiceError } from '../errors.ts';
import {
  BODIES_BYTES_MAX,
  BODIES_BYTES_MIN,
  BODIES_WAIT_MS_MAX,
  BODY_WIRE_BYTES_MAX,
  DISCARD_BYTES_MAX,
  FLOOD_BYTES_PER_MS,
  INFLATERS_BYTES_MAX,
  LARGE_BODIES_BYTES_MAX,
  LARGE_BODY_BYTES_MIN,
  PART_BYTES,
  SHARED_BODIES_BYTES_MIN,
  SHARED_BODIES_BYTES_PER_MS,
  SHORT_BODY_BYTES_MAX,
  SMALL_BODIES_BYTES_MAX,
} from '../limits.ts';
import { ByteGate } from './byte-gate.ts';
import { type BodyEncoding, parseBodyEncoding } from './encoding/body-encoding.ts';
import { type InflateTerms, inflateBody, measureInflater } from './encoding/inflate-body.ts';
import { FairBudget } from './fair-budget.ts';
import { SecondTry } from './second-try.ts';
import type { BodyRequest, BodyResponse } from './transport.ts';
import { WorkTurns } from './work-turns.ts';

/** The bytes of a body in pieces. */
export type Body = readonly Buffer[];

/**
 * Counts the bytes of an answer in place of the body's, from before it is made until it has left.
 *
 * @throws ServiceError if there is no room for them.
 */
export type HoldAnswer = (answerBytes: number) => void;

/** Where the last whole event of some bytes ends, zero if none is whole. */
type FindEnd = (bytes: Buffer) => number;

/** The limits of a body, and its sender. */
export type BodyTerms = {
  readonly bytesMax: number;
  readonly tenant: Tenant;
  /** The encoding of a body without `Content-Encoding`. */
  readonly encodingElse?: BodyEncoding | undefined;
  /** Throws if no body can be used at present. */
  readonly check?: () => void;
  /** Throws if the body as it was sent, before decompression, is not to be used. */
  readonly checkSent?: (body: Body) => void;
};

export type BodyReaderOptions = {
  /** The monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** The most bytes of all bodies at once. */
  readonly heldBytesMax?: number | undefined;
  /** The most bytes of large bodies that are processed at once. */
  readonly largeBytesMax?: number | undefined;
  /** The time from processing a body to its durability, in milliseconds; 0 by default. */
  readonly durableMs?: () => number;
  /** How long a body waits before it is refused for lack of room, in milliseconds. */
  readonly refusalWaitMs?: number;
  /** The code of such a refusal. */
  readonly refusal?: 'ingest_overloaded' | 'overloaded';
  /** Turns that are shared with other work on the main thread; by default its own. */
  readonly turns?: WorkTurns;
};

/**
 * Reads request bodies within one memory budget, of which each tenant has a fair share, and has them processed in fair
 * turns.
 */
export class BodyReader {
  readonly #nowMs: () => number;
  readonly #refusal: 'ingest_overloaded' | 'overloaded';
  readonly #heldBytesMax: number;
  readonly #budget = new FairBudget(() => this.#worthHolding());
  /** The rate at which bodies are processed, in bytes. */
  readonly #worked = new DrainRate();
  readonly #secondTry: SecondTry;
  readonly #turns: WorkTurns;
  readonly #smallBodies: ByteGate;
  readonly #largeBodies: ByteGate;
  /** Limits the bytes of decompression state. */
  readonly #inflaters: ByteGate;

  constructor(options: BodyReaderOptions) {
    const { nowMs, heldBytesMax, durableMs = () => 0, refusal, refusalWaitMs, turns } = options;
    this.#nowMs = nowMs;
    this.#refusal = refusal ?? 'ingest_overloaded';
    this.#heldBytesMax = heldBytesMax ?? BODIES_BYTES_MAX;
    this.#secondTry = new SecondTry(refusalWaitMs);
    this.#turns = turns ?? new WorkTurns(nowMs);
    this.#largeBodies = new ByteGate({
      nowMs,
      bytesMax: options.largeBytesMax ?? LARGE_BODIES_BYTES_MAX,
    });
    this.#inflaters = new ByteGate({ nowMs, bytesMax: INFLATERS_BYTES_MAX });
    this.#smallBodies = new ByteGate({
      nowMs,
      bytesMax: SMALL_BODIES_BYTES_MAX,
      sharedBytesMax: () =>
        Math.max(SHARED_BODIES_BYTES_MIN, durableMs() * SHARED_BODIES_BYTES_PER_MS),
      floodBytesPerMs: FLOOD_BYTES_PER_MS,
    });
  }

  /** Bytes of all bodies that are held now. */
  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /**
   * Reads and decompresses the body of a request, at most `bytesMax` bytes of it, and passes it to `work`. The body
   * counts as held until `work` is done, and from before it is read if its length is known. `work` may count an answer
   * with the body, until that has left.
   *
   * @throws ServiceError if the body is too large or damaged, or if it cannot be used or held, neither now nor a moment
   * later. If the length is known, this happens before the body is read.
   */
  async use<T>(
    request: BodyRequest,
    response: BodyResponse,
    { bytesMax, tenant, encodingElse, check, checkSent }: BodyTerms,
    work: (body: Body, holdAnswer: HoldAnswer) => Promise<T>,
  ): Promise<T> {
    const { 'content-encoding': header } = request.headers;
    const encoding = header === undefined ? encodingElse : parseBodyEncoding(header);
    const wireBytesMax = encoding === undefined ? bytesMax : BODY_WIRE_BYTES_MAX;
    const toldBytes = Number(request.headers['content-length'] ?? 0);
    if (toldBytes > wireBytesMax) throw tooLarge(bytesMax);
    let heldBytes = 0;
    const hold = (bytes: number): void => {
      if (!this.#budget.hold(bytes, tenant)) throw this.#overloaded(bytes, tenant);
      heldBytes += bytes;
    };
    let isHeldForAnswer = false;
    const release = (): void => this.#budget.release(heldBytes, tenant);
    const holdAnswer: HoldAnswer = (answerBytes) => {
      // The body is no longer needed when the answer is made.
      hold(Math.max(0, answerBytes - heldBytes));
      isHeldForAnswer = true;
    };
    const begin = (body: Body): Promise<T> => work(body, holdAnswer);
    await this.#secondTry.run(() => {
      check?.();
      hold(toldBytes);
    });
    try {
      sendContinue(request, response);
      const arrived = await collect(request, (wireBytes) => {
        if (wireBytes > wireBytesMax) throw tooLarge(bytesMax);
        if (wireBytes > heldBytes) hold(wireBytes - heldBytes);
      });
      checkSent?.(arrived);
      if (encoding === undefined) return await this.#workOn(arrived, tenant, begin);
      let size = 0;
      const admit = (bytes: number): void => {
        size += bytes;
        if (size > bytesMax) throw tooLarge(bytesMax);
        hold(bytes);
      };
      const terms = { encoding, bytesMax, admit };
      const inflated = await this.#inflate(Buffer.concat(arrived), tenant, terms);
      return await this.#workOn(inflated, tenant, begin);
    } finally {
      if (isHeldForAnswer && !response.destroyed) response.once('close', release);
      else release();
    }
  }

  /**
   * Reads a body of any length, not compressed, and passes it to `work` in parts while it arrives, so that only one part
   * of it is held. `findEnd` says where the last whole event of some bytes ends, zero if none is whole. The last part is
   * what remains, and may be empty.
   *
   * @throws ServiceError as `use` does; for the length, if one event has more than `bytesMax` bytes. Earlier parts have
   * been used then.
   */
  async useParts(
    request: IncomingMessage,
    response: ServerResponse,
    { bytesMax, tenant, check, findEnd }: BodyTerms & { readonly findEnd: FindEnd },
    work: (part: Body) => Promise<void>,
  ): Promise<void> {
    const encoding = parseBodyEncoding(request.headers['content-encoding'] ?? '');
    if (encoding !== undefined) {
      throw new ServiceError(
        'unsupported_encoding',
        `Content-Encoding must be identity here; got ${encoding}`,
      );
    }
    let heldBytes = 0;
    await this.#secondTry.run(() => check?.());
    try {
      sendContinue(request, response);
      let part: Buffer[] = [];
      let endDueAt = PART_BYTES;
      for await (const chunk of readChunks(request)) {
        if (!this.#budget.hold(chunk.length, tenant)) throw this.#overloaded(chunk.length, tenant);
        heldBytes += chunk.length;
        part.push(chunk);
        if (heldBytes < endDueAt) continue;
        const bytes = Buffer.concat(part);
        const end = findEnd(bytes);
        if (end > 0) {
          check?.();
          await this.#workOn([bytes.subarray(0, end)], tenant, work);
          this.#budget.release(end, tenant);
          heldBytes -= end;
        } else if (heldBytes > bytesMax) throw tooLarge(bytesMax);
        part = [Buffer.from(bytes.subarray(end))];
        // Twice as late, or a long event would be looked through for each chunk of it.
        endDueAt = Math.max(PART_BYTES, Math.min(2 * heldBytes, bytesMax + 1));
      }
      await this.#workOn(part, tenant, work);
    } finally {
      this.#budget.release(heldBytes, tenant);
    }
  }

  /** Decompresses a body when there is room for the state. */
  async #inflate(body: Buffer, tenant: Tenant, terms: InflateTerms): Promise<Body> {
    const inflaterBytes = measureInflater(terms.encoding, body);
    await this.#inflaters.enter(inflaterBytes, tenant);
    try {
      return await inflateBody(body, terms);
    } finally {
      this.#inflaters.leave(inflaterBytes, tenant);
    }
  }

  async #workOn<T>(body: Body, tenant: Tenant, work: (body: Body) => Promise<T>): Promise<T> {
    const size = body.reduce((sum, piece) => sum + piece.length, 0);
    // Small bodies never wait for large ones.
    const gate = size < LARGE_BODY_BYTES_MIN ? this.#smallBodies : this.#largeBodies;
    this.#worked.enter(this.#nowMs());
    try {
      await gate.enter(size, tenant);
      try {
        return await this.#turns.run({ tenant, size, start: () => work(body) });
      } finally {
        gate.leave(size, tenant);
      }
    } finally {
      this.#worked.leave(size, this.#nowMs());
    }
  }

  /** Bytes of bodies worth holding. Those beyond would not be processed in time: their senders would give up and retry. */
  #worthHolding(): number {
    const inTime = this.#worked.amountIn(BODIES_WAIT_MS_MAX, this.#nowMs()) ?? Infinity;
    return Math.min(Math.max(inTime, BODIES_BYTES_MIN), this.#heldBytesMax);
  }

  #overloaded(bytes: number, tenant: Tenant): ServiceError {
    const { heldBytes, freeBytes } = this.#budget;
    const own = this.#budget.heldBy(tenant);
    return new ServiceError(
      this.#refusal,
      `bodies sent with one token may be ${freeBytes} bytes together at present; they take ${own}, got ${bytes} more`,
      { retryAfterS: this.#worked.secondsFor(heldBytes, this.#nowMs()) },
    );
  }
}

/** Whether a request has a body, even an empty one of unknown length. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || Number(length ?? 0) > 0;
}

/** Whether more of a body is on its way. A sender that waits for a 100 has not begun. */
export function isBodyUnderWay(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && request.headers.expect === undefined;
}

/** Whether the body of a refused request is so short that reading it, to keep the connection, is worthwhile. */
export function isBodyShort({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length !== undefined && Number(length) <= SHORT_BODY_BYTES_MAX;
}

/**
 * Reads and discards the rest of a refused request, so that a sender that writes everything before it reads gets the
 * answer. A request that sends much more is cut off. One piece is read in each turn of the event loop, over all such
 * requests, so large senders wait for others. Calls `done` once at the end.
 */
export function discardBody(request: IncomingMessage, done: () => void): void {
  let discardedBytes = 0;
  request.on('data', (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > DISCARD_BYTES_MAX) {
      request.socket.destroy();
      return;
    }
    request.pause();
    DISCARDS.add(request);
  });
  request.once('close', () => {
    DISCARDS.delete(request);
    done();
  });
  request.on('error', () => {});
  request.resume();
}

/**
 * Reads and discards an unneeded body before the answer: ending a response with unread bytes resets the connection, and
 * the caller would lose the answer. A sender that waits for a 100 never gets it.
 */
export async function skipBody(request: IncomingMessage): Promise<void> {
  if (!isBodyUnderWay(request)) return;
  await new Promise<void>((resolve) => discardBody(request, resolve));
}

/** Requests of which a piece was discarded, and those that wait for the next turn. */
class Discards {
  readonly #requests = new Set<IncomingMessage>();
  #isTurnDue = false;

  add(request: IncomingMessage): void {
    this.#requests.add(request);
    this.#awaitTurn();
  }

  delete(request: IncomingMessage): void {
    this.#requests.delete(request);
  }

  #awaitTurn(): void {
    if (this.#isTurnDue || this.#requests.size === 0) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      const [first] = this.#requests;
      if (first === undefined) return;
      this.#requests.delete(first);
      first.resume();
      this.#awaitTurn();
    });
  }
}

const DISCARDS = new Discards();

function sendContinue(request: BodyRequest, response: BodyResponse): void {
  if (request.headers.expect === undefined) return;
  response.writeContinue?.();
  // 100 was sent, so the body is on its way.
  delete request.headers.expect;
}

/** The chunks of a body, of which the next is read when the caller is done with the one before. */
async function* readChunks(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // The request is answered after a failure, so it must not be destroyed.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch {
    throw endedTooSoon();
  }
  if (!request.complete) throw endedTooSoon();
}

/** `admit` gets the number of bytes so far, and throws to stop. */
function collect(request: BodyRequest, admit: (wireBytes: number) => void): Promise<Body> {
  return new Promise((resolve, reject) => {
    // The request may have been closed while it waited, and emits that only once.
    if (request.destroyed) {
      reject(toBodyFailure(request));
      return;
    }
    const chunks: Buffer[] = [];
    let wireBytes = 0;
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer): void => {
      wireBytes += chunk.length;
      try {
        admit(wireBytes);
      } catch (error) {
        stop();
        reject(error);
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      stop();
      resolve(chunks);
    };
    const onClose = (): void => {
      stop();
      reject(toBodyFailure(request));
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Why no more of a body comes: what its transport found wrong, or that the connection ended. */
function toBodyFailure({ errored }: BodyRequest): ServiceError {
  return errored instanceof ServiceError ? errored : endedTooSoon();
}

function endedTooSoon(): ServiceError {
  return new ServiceError('invalid_body', 'the connection ended before the body did');
}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError(
    'body_too_large',
    `a body has at most ${bytesMax} bytes after inflation; got more`,
  );
}
