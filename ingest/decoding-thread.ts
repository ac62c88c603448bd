import { type TransferListItem, Worker } from 'node:worker_threads';
import { assert, must, THREAD_IDLE_MS_MAX } from '../engine/columns.ts';
import {
  type DecodingAnswer,
  type DecodingRequest,
  fromSentAdmitted,
  fromSentContents,
  fromSentFailure,
  toSentBody,
} from './decoding-message.ts';
import { BodyLimitError, MalformedBodyError, OverloadError } from './ingest-error.ts';
import type {
  AdmissionTarget,
  AdmittedPost,
  DecodingOptions,
  PostContents,
  PostDecoding,
  PostedBody,
} from './post-decoding.ts';
import { SerialWork } from './serial-work.ts';

const MEBIBYTE = 1024 * 1024;

/** Memory limits of the decoding thread, in bytes. */
export type DecodingBounds = {
  /** Heap, without new objects. */
  readonly heapBytesMax: number;
  /** New objects (V8's young generation). */
  readonly newObjectsBytesMax: number;
  /** The arrays of one body. */
  readonly loanBytesMax: number;
};

/** The `workerData` of the thread. */
export type DecodingThreadData = Pick<DecodingOptions, 'retentionUs' | 'manners'> &
  Pick<DecodingBounds, 'loanBytesMax'>;

export type DecodingThreadOptions = Pick<DecodingOptions, 'retentionUs' | 'manners'> & {
  readonly bounds: DecodingBounds;
  /** The thread ends after this many idle milliseconds. */
  readonly idleMsMax?: number;
  /** Called when the thread ends without being asked to. */
  readonly onLost?: (cause: Error) => void;
  /** The module of the thread; for tests. */
  readonly workerUrl?: URL;
};

/**
 * A worker thread that decodes large bodies, one call at a time. It starts with the first body and ends when it has
 * been idle for a while. If it dies, the post whose call is under way fails, other posts that have begun must be sent
 * again, and the next body starts a new thread.
 */
export class DecodingThread {
  readonly #options: DecodingThreadOptions;
  readonly #turns = new SerialWork();
  #running: RunningThread | undefined;
  /** Decodings that have not ended. */
  #openCount = 0;
  #decodingCount = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: DecodingThreadOptions) {
    this.#options = options;
  }

  /** Whether the thread is running. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Decodes a body in the thread. `isGone` says whether the sender has disconnected; calls that wait are dropped then. */
  decoding(posted: PostedBody, isGone: () => boolean = () => false): PostDecoding {
    clearTimeout(this.#idleTimer);
    this.#openCount += 1;
    this.#decodingCount += 1;
    return new RemoteDecoding(posted, {
      number: this.#decodingCount,
      takeTurn: (call) =>
        this.#turns.run(async () => {
          if (isGone()) throw new MalformedBodyError('the sender left before its post was decoded');
          return call();
        }),
      startThread: () => this.#start(),
      onEnd: () => this.#release(),
    });
  }

  /** Ends the thread. The call under way fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    await this.#end();
  }

  #start(): RunningThread {
    if (this.#isClosed) throw closedError();
    this.#running ??= new RunningThread(this.#options, (cause) => {
      this.#running = undefined;
      this.#options.onLost?.(cause);
    });
    return this.#running;
  }

  #release(): void {
    this.#openCount -= 1;
    if (this.#openCount > 0 || this.#isClosed) return;
    const idleMsMax = this.#options.idleMsMax ?? THREAD_IDLE_MS_MAX;
    this.#idleTimer = setTimeout(() => void this.#end(), idleMsMax).unref();
  }

  async #end(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.end();
  }
}

type RemoteParts = {
  /** The number of this decoding in its thread. */
  readonly number: number;
  /** Makes a call after all earlier calls have ended. */
  readonly takeTurn: <T>(call: () => Promise<T>) => Promise<T>;
  readonly startThread: () => RunningThread;
  readonly onEnd: () => void;
};

/** A body that is decoded in the thread. */
class RemoteDecoding implements PostDecoding {
  readonly #parts: RemoteParts;
  /** The body, until it is sent to the thread. */
  #posted: PostedBody | undefined;
  #thread: RunningThread | undefined;

  constructor(posted: PostedBody, parts: RemoteParts) {
    this.#posted = posted;
    this.#parts = parts;
  }

  begin(): Promise<PostContents> {
    const { number, takeTurn, startThread } = this.#parts;
    return takeTurn(async () => {
      const { body, transfer } = await toSentBody(must(this.#posted, 'a body is decoded once'));
      this.#posted = undefined;
      this.#thread = startThread();
      const request = { call: 'begin', decoding: number, posted: body } as const;
      return fromSentContents((await this.#thread.ask('begun', request, transfer)).contents);
    });
  }

  admit(target: AdmissionTarget): Promise<AdmittedPost> {
    const { number, takeTurn } = this.#parts;
    return takeTurn(async () => {
      const request = { call: 'admit', decoding: number, target } as const;
      const thread = must(this.#thread, 'a decoding begins before its other calls');
      return fromSentAdmitted((await thread.ask('admitted', request)).admitted);
    });
  }

  end(): void {
    this.#thread?.tell({ call: 'end', decoding: this.#parts.number });
    this.#parts.onEnd();
  }
}

type Asked = {
  readonly resolve: (answer: DecodingAnswer) => void;
  readonly reject: (error: Error) => void;
};

/** One thread, from its start to its end. At most one request is under way. */
class RunningThread {
  readonly #worker: Worker;
  readonly #heapBytesMax: number;
  readonly #onLost: (cause: Error) => void;
  #asked: Asked | undefined;
  /** Whether `end` was called. */
  #isEnding = false;
  #hasEnded = false;
  #cause: unknown;

  constructor(options: DecodingThreadOptions, onLost: (cause: Error) => void) {
    const { bounds, retentionUs, manners, workerUrl = WORKER_URL } = options;
    const { heapBytesMax, newObjectsBytesMax, loanBytesMax } = bounds;
    this.#heapBytesMax = heapBytesMax;
    this.#onLost = onLost;
    this.#worker = new Worker(workerUrl, {
      workerData: { retentionUs, manners, loanBytesMax } satisfies DecodingThreadData,
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(heapBytesMax / MEBIBYTE),
        maxYoungGenerationSizeMb: newObjectsBytesMax / MEBIBYTE,
      },
    });
    this.#worker.on('message', (answer: DecodingAnswer) => this.#answered()?.resolve(answer));
    this.#worker.on('error', (cause) => {
      this.#cause = cause;
    });
    this.#worker.on('exit', () => this.#exited());
  }

  /**
   * Sends a request and resolves to the answer of this kind.
   *
   * @throws the error that the thread answers, BodyLimitError when its heap was full, and OverloadError when it had
   * ended.
   */
  async ask<Kind extends DecodingAnswer['kind']>(
    kind: Kind,
    request: DecodingRequest,
    transfer: readonly TransferListItem[] = [],
  ): Promise<Extract<DecodingAnswer, { readonly kind: Kind }>> {
    if (this.#hasEnded || this.#isEnding) {
      throw new OverloadError('the thread that decoded this post has ended');
    }
    const answer = await new Promise<DecodingAnswer>((resolve, reject) => {
      this.#asked = { resolve, reject };
      this.#worker.postMessage(request, transfer);
    });
    if (isKind(answer, kind)) return answer;
    assert(answer.kind !== 'begun' && answer.kind !== 'admitted', 'a call gets its own answer');
    throw fromSentFailure(answer);
  }

  /** Sends a request that has no answer. */
  tell(request: DecodingRequest): void {
    if (!this.#hasEnded) this.#worker.postMessage(request);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }

  #answered(): Asked | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    return asked;
  }

  #exited(): void {
    this.#hasEnded = true;
    const error = this.#isEnding ? closedError() : this.#lossError();
    if (!this.#isEnding) this.#onLost(error);
    this.#answered()?.reject(error);
  }

  #lossError(): Error {
    const cause = this.#cause;
    const isMemory =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
    return isMemory
      ? new BodyLimitError(
          `a body may fill ${Math.ceil(this.#heapBytesMax / MEBIBYTE)} MiB of heap while it is decoded; this one filled more`,
        )
      : new Error('the decoding thread ended before its answer', { cause });
  }
}

const WORKER_URL = new URL('./decoding-worker.js', import.meta.url);

/** Whether this module is compiled. Node 20 cannot start a worker thread from a TypeScript file. */
export const CAN_DECODE_APART = import.meta.url.endsWith('.js');

function isKind<Kind extends DecodingAnswer['kind']>(
  answer: DecodingAnswer,
  kind: Kind,
): answer is Extract<DecodingAnswer, { readonly kind: Kind }> {
  return answer.kind === kind;
}

function closedError(): OverloadError {
  return new OverloadError('the store is closed');
}
