import type { LeafFooter } from './sealed-layout.ts';
import type { SkeletonArrays } from './skeleton.ts';
import type { StringsFooter } from './string-footer.ts';
import { TextPath, UNSURE } from './text-path.ts';
import type { SignatureFooter } from './text-signature.ts';
import { textAt } from './wtf8.ts';

/** Columns in which strings at a path lie, and the skeletons whose rows may have such elsewhere. */
export type PathColumns = {
  readonly columns: readonly number[];
  /** 1 for each such skeleton. */
  readonly isUnsure: Uint8Array;
  readonly unsureCount: number;
};

/** Looks through all skeletons. `slotColumns`: column of each place; `isSigned`: whether a column has a signature. */
export function columnsAtPath(
  path: TextPath,
  {
    skeletons,
    slotColumns,
    isSigned,
  }: {
    readonly skeletons: SkeletonArrays;
    readonly slotColumns: Uint16Array;
    readonly isSigned: (column: number) => boolean;
  },
): PathColumns {
  const columns = new Set<number>();
  const isUnsure = new Uint8Array(skeletons.count);
  let unsureCount = 0;
  for (let skeleton = 0; skeleton < skeletons.count; skeleton++) {
    for (const place of path.of(skeletons, skeleton)) {
      const column = place === UNSURE ? UNSURE : slotColumns[place]!;
      if (isSigned(column)) columns.add(column);
      else isUnsure[skeleton] = 1;
    }
    unsureCount += isUnsure[skeleton]!;
  }
  return { columns: [...columns], isUnsure, unsureCount };
}

/**
 * The strings whose signature a leaf column has; `undefined` where it has none. A column whose values are parts of another
 * column's has the signature of that column: a text that is not in the whole is in no part of it.
 */
export function signedStringsOf(
  { strings }: LeafFooter,
  leaves: readonly LeafFooter[],
): SignedStrings | undefined {
  const packing = strings?.packing;
  const isIn = packing?.kind === 'suffix' || packing?.kind === 'excerpt';
  const whole = isIn ? leaves[packing.column]!.strings : strings;
  return whole?.signature === undefined ? undefined : (whole as SignedStrings);
}

type SignedStrings = StringsFooter & { readonly signature: SignatureFooter };

/** Leaves of a segment in the making, with what `textSources` says of each. */
export function withTextSources(
  leaves: readonly LeafFooter[],
  skeletons: SkeletonArrays,
  slotColumns: Uint16Array,
): LeafFooter[] {
  const signed = leaves.map((leaf) => signedStringsOf(leaf, leaves) !== undefined);
  const isSigned = (column: number): boolean => signed[column] === true;
  const { keys } = skeletons;
  return leaves.map((leaf, column) => {
    if (!isSigned(column)) return leaf;
    const path = new TextPath(
      keys,
      leaf.path.map((key) => textAt(keys, key)),
    );
    const { columns, unsureCount } = columnsAtPath(path, { skeletons, slotColumns, isSigned });
    return unsureCount > 0 ? leaf : { ...leaf, textSources: columns };
  });
}
