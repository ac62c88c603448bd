/** Items that are dealt out, and what they weigh together. */
type Share = { size: number; readonly indexes: number[] };

/**
 * Items dealt out by size to so many, the largest first to the lightest share; nobody gets nothing. Within a share they
 * are in the order they came in.
 */
export function sharesOf<T>(
  items: readonly T[],
  shareCount: number,
  sizeOf: (item: T) => number,
): readonly (readonly T[])[] {
  const sized = items.map((item, index) => ({ index, size: sizeOf(item) }));
  const shares = Array.from({ length: shareCount }, (): Share => ({ size: 0, indexes: [] }));
  for (const { index, size } of sized.sort((left, right) => right.size - left.size)) {
    const lightest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    lightest.indexes.push(index);
    lightest.size += size;
  }
  return shares
    .filter(({ indexes }) => indexes.length > 0)
    .map(({ indexes }) =>
      indexes.sort((left, right) => left - right).map((index) => items[index]!),
    );
}
