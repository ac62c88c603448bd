/** What reads segments of a snapshot, until it has ended. */
export class Readers {
  /** None rejects. */
  readonly #underWay = new Set<Promise<void>>();

  /** The snapshot that `work` reads is taken in the turn of the call, so that no reader goes unseen. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const reading = work();
    const ended = reading.then(
      () => {},
      () => {},
    );
    this.#underWay.add(ended);
    try {
      return await reading;
    } finally {
      this.#underWay.delete(ended);
    }
  }

  /** Resolves once all that began before this call has ended. Never rejects. `undefined`: nothing is under way. */
  done(): Promise<void> | undefined {
    return this.#underWay.size === 0 ? undefined : Promise.all(this.#underWay).then(() => {});
  }
}
