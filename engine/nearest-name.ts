/** Longer names are not compared: the distance takes time in the product of the lengths. */
const NAME_LENGTH_MAX = 64;

/** Candidates looked at: a hint is a courtesy and must not take longer than the query. */
const CANDIDATES_MAX = 2_000;

/** More edits make another name, however long it is. */
const EDITS_MAX = 5;

/**
 * The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `name`,
 * letter case aside, if these are at most `editsMax`, a third of its length and EDITS_MAX unless given; of equals the
 * first.
 */
export function nearestName(
  name: string,
  candidates: Iterable<string>,
  editsMax: number = Math.min(Math.max(1, Math.floor(name.length / 3)), EDITS_MAX),
): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = editsMax + 1;
  let seenCount = 0;
  for (const candidate of candidates) {
    seenCount += 1;
    if (seenCount > CANDIDATES_MAX) break;
    // What has no name cannot be meant.
    if (candidate === '') continue;
    if (candidate.length > NAME_LENGTH_MAX || wanted.length > NAME_LENGTH_MAX) continue;
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Ends a sentence about an unknown name: `; did you mean path?`, or nothing when none is near. */
export function hint(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** Optimal string alignment distance (Damerau 1964), one row of the table at a time; `max` stands for all from it on. */
function editDistance(left: string, right: string, max: number): number {
  let isLastFar = false;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let distance = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + cost,
      );
      const isSwap =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (isSwap) distance = Math.min(distance, beforeLast[column - 2]! + 1);
      current.push(distance);
    }
    // Each value comes of one in the two rows above it, and is not less.
    const isFar = Math.min(...current) >= max;
    if (isFar && isLastFar) return max;
    isLastFar = isFar;
    beforeLast = last;
    last = current;
  }
  return last[right.length]!;
}
