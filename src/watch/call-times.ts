/** The upper bound of the first bucket, in milliseconds: faster than any answer. */
const FIRST_MS = 0.05;

/** The ratio of the bounds of a bucket: a quantile is wrong by at most half of it, some 10 %. */
const GROWTH = 1.2;

/** Enough for 30 minutes; slower calls are in the last bucket. */
const BUCKET_COUNT = 96;

const LOG_GROWTH = Math.log(GROWTH);

/** How often something was called, how often it failed, and how long it took, in buckets of equal ratios. */
export class CallTimes {
  readonly #counts = new Uint32Array(BUCKET_COUNT);
  calls = 0;
  failures = 0;

  add(ms: number, isFailure: boolean): void {
    this.calls += 1;
    if (isFailure) this.failures += 1;
    const bucket = Math.ceil(Math.log(Math.max(ms, FIRST_MS) / FIRST_MS) / LOG_GROWTH);
    this.#counts[Math.min(bucket, BUCKET_COUNT - 1)]! += 1;
  }

  addAll(others: CallTimes): void {
    this.calls += others.calls;
    this.failures += others.failures;
    for (const [bucket, count] of others.#counts.entries()) this.#counts[bucket]! += count;
  }

  /** The time in milliseconds within which `share` of the calls were answered, to some 10 %; `undefined` without calls. */
  quantileMs(share: number): number | undefined {
    if (this.calls === 0) return undefined;
    const wanted = Math.max(1, Math.ceil(share * this.calls));
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      // The geometric middle of the bucket.
      if (seen >= wanted) return FIRST_MS * GROWTH ** (bucket - 0.5);
    }
    return undefined;
  }
}
