/** Runs tasks one after another, in the order of the calls. A failed task does not stop later ones. */
export class SerialWork {
  #last: Promise<void> = Promise.resolve();

  /** Runs `work` when its turn has come, and settles as it does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    const ended = (): void => {};
    this.#last = done.then(ended, ended);
    return done;
  }

  /** Resolves when all tasks added so far have ended. Never rejects. */
  settled(): Promise<void> {
    return this.#last;
  }
}
