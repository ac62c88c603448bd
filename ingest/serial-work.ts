/** Does one piece of work after the other, in the order in which they came; one that fails holds up none. */
export class SerialWork {
  #last: Promise<void> = Promise.resolve();

  /** Settles as the work does, once its turn has come. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    const ended = (): void => {};
    this.#last = done.then(ended, ended);
    return done;
  }

  /** Resolves when all that came so far has ended; never rejects. */
  settled(): Promise<void> {
    return this.#last;
  }
}
