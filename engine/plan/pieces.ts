/** Work that pauses at each `yield`, so that its thread may do other things first. */
export type Pieces<T> = Generator<undefined, T, undefined>;

/** Does all of it at once. */
export function runPieces<T>(pieces: Pieces<T>): T {
  for (;;) {
    const step = pieces.next();
    if (step.done === true) return step.value;
  }
}

/** What work came to, and the milliseconds of its thread that it took. */
export type Timed<T> = { readonly value: T; readonly ms: number };

/** The same work, with its time by a monotonic clock. */
export function* timed<T>(pieces: Pieces<T>, nowMs: () => number): Pieces<Timed<T>> {
  for (let ms = 0; ; ) {
    const startMs = nowMs();
    const step = pieces.next();
    ms += nowMs() - startMs;
    if (step.done === true) return { value: step.value, ms };
    yield;
  }
}
