import { ServiceError } from '../errors.ts';

/** A run that was begun. */
export type BegunRun<Answer> = {
  readonly answer: Promise<Answer>;
  /** Settles when the engine is done with it, which may be later than `answer`; never rejects. */
  readonly ended: Promise<void>;
};

/** One run and all who wait for its answer. It is cancelled when the last of them has left. */
export class SharedRun<Answer> {
  /** Settles when the engine is done with the run; never rejects. */
  readonly ended: Promise<void>;
  readonly #answer: Promise<Answer>;
  readonly #abort = new AbortController();
  #waiterCount = 0;
  #isOpen = true;

  /** Calls `begin` at once. */
  constructor(begin: (signal: AbortSignal) => BegunRun<Answer>) {
    const { answer, ended } = begin(this.#abort.signal);
    this.#answer = answer;
    this.ended = ended;
    const close = (): void => {
      this.#isOpen = false;
    };
    // Also says that a failure which nobody waits for any more is no bug.
    answer.then(close, close);
  }

  /** Whether one more may wait: the answer is still to come, and nobody has given it up. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The run's answer, or its error; `query_cancelled` as soon as this caller has gone. */
  async wait(cancelled: AbortSignal): Promise<Answer> {
    this.#waiterCount += 1;
    let leave = (): void => {};
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => {
        reject(new ServiceError('query_cancelled', 'the caller went away before the answer'));
      };
    });
    cancelled.addEventListener('abort', leave, { once: true });
    if (cancelled.aborted) leave();
    try {
      return await Promise.race([this.#answer, left]);
    } finally {
      cancelled.removeEventListener('abort', leave);
      this.#waiterCount -= 1;
      if (this.#waiterCount === 0 && this.#isOpen) {
        this.#isOpen = false;
        this.#abort.abort();
      }
    }
  }
}

/** Runs by key: for each key at most one is under way, its cancelled ones among them. */
export class SharedRuns<Answer> {
  readonly #runs = new Map<string, SharedRun<Answer>>();

  /** The run that a caller with this key may wait for. */
  find(key: string): SharedRun<Answer> | undefined {
    const run = this.#runs.get(key);
    return run?.isOpen === true ? run : undefined;
  }

  /**
   * Begins one; there must be none to be found. `begin` is given what to wait for before it troubles
   * the engine: the end of an earlier run with this key that was given up.
   */
  begin(
    key: string,
    begin: (signal: AbortSignal, earlier: Promise<void> | undefined) => BegunRun<Answer>,
  ): SharedRun<Answer> {
    const earlier = this.#runs.get(key)?.ended;
    const run = new SharedRun((signal) => begin(signal, earlier));
    this.#runs.set(key, run);
    void run.ended.then(() => {
      if (this.#runs.get(key) === run) this.#runs.delete(key);
    });
    return run;
  }
}
