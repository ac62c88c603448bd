/** Items that are dealt out, and what they weigh together. */
type Share<T> = { size: number; readonly items: T[] };

/** Items dealt out by size to so many, the largest first to the lightest share; nobody gets nothing. */
export function sharesOf<T>(
  items: readonly T[],
  shareCount: number,
  sizeOf: (item: T) => number,
): readonly (readonly T[])[] {
  const sized = items.map((item) => ({ item, size: sizeOf(item) }));
  const shares = Array.from({ length: shareCount }, (): Share<T> => ({ size: 0, items: [] }));
  for (const { item, size } of sized.sort((left, right) => right.size - left.size)) {
    const lightest = shares.reduce((least, share) => (share.size < least.size ? share : least));
    lightest.items.push(item);
    lightest.size += size;
  }
  return shares.filter((share) => share.items.length > 0).map((share) => share.items);
}
