import { ServiceError } from '../errors.ts';

/** A run that has begun. */
export type BegunRun<Answer> = {
  readonly answer: Promise<Answer>;
  /** Settles when the engine has finished, possibly later than `answer`; never rejects. */
  readonly ended: Promise<void>;
};

/**
 * One run and all callers that wait for its answer. It is cancelled when the last of them has left.
 */
export class SharedRun<Answer> {
  /** Settles when the engine has finished the run; never rejects. */
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
    // This also handles a rejection that no caller waits for any more.
    answer.then(close, close);
  }

  /** Whether another caller may wait: the answer is pending and the run not cancelled. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Waits for the run's answer or error; rejects with `query_cancelled` as soon as this caller has
   * gone.
   */
  async wait(cancelled: AbortSignal): Promise<Answer> {
    this.#waiterCount += 1;
    let leave = (): void => {};
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => {
        reject(new ServiceError('query_cancelled', 'the caller disconnected before the answer'));
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

/**
 * Runs by key. Each key has at most one run at a time, including cancelled ones that have not
 * ended.
 */
export class SharedRuns<Answer> {
  readonly #runs = new Map<string, SharedRun<Answer>>();

  /** Finds the run that a caller with this key may wait for. */
  find(key: string): SharedRun<Answer> | undefined {
    const run = this.#runs.get(key);
    return run?.isOpen === true ? run : undefined;
  }

  /**
   * Begins a run; none may be open for the key. `begin` gets a promise to wait for first: the end
   * of an earlier, cancelled run of this key.
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
