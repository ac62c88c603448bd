/**
 * What expressions find out about the values of segments (which entries of a dictionary pass, what a pattern says of
 * a head of URLs) holds as long as the segments do, so it is kept from one run to the next. It counts in one
 * generation: where each run is to look for itself, another one begins with it.
 */
let generation = 0;

/** Findings made in another generation do not count. */
export function findingsGeneration(): number {
  return generation;
}

/** Everything that this thread has found out is to be found anew. */
export function forgetFindings(): void {
  generation++;
}
