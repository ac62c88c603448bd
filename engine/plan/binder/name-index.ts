type Named = { readonly name?: string | undefined };

/** Made at the first look-up in a list; lists are never changed once made. */
const indexes = new WeakMap<readonly Named[], ReadonlyMap<string, readonly number[]>>();

/** Where in the list things bear the name, in any case. A list of many is gone through only once. */
export function indicesNamed(list: readonly Named[], name: string): readonly number[] {
  let index = indexes.get(list);
  if (index === undefined) {
    index = indexOf(list);
    indexes.set(list, index);
  }
  return index.get(name.toLowerCase()) ?? [];
}

/** The things themselves. */
export function itemsNamed<T extends Named>(list: readonly T[], name: string): readonly T[] {
  return indicesNamed(list, name).map((index) => list[index]!);
}

function indexOf(list: readonly Named[]): ReadonlyMap<string, readonly number[]> {
  const indices = new Map<string, number[]>();
  for (const [index, { name }] of list.entries()) {
    if (name === undefined) continue;
    const key = name.toLowerCase();
    const known = indices.get(key);
    if (known === undefined) indices.set(key, [index]);
    else known.push(index);
  }
  return indices;
}
