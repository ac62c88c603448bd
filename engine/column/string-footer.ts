import type { Cut } from './excerpt-strings.ts';
import type { NumbersFooter } from './number-values.ts';
import type { Slice } from './slice.ts';
import type { SplitFooter } from './split-footer.ts';
import type { SignatureFooter } from './text-signature.ts';
import type { WordFormName } from './word-forms.ts';

/**
 * How the strings of one column are kept: as entries, and codes that name them. Without codes,
 * entry `i` is value `i`; with codes `constant`, entry 0 is every value.
 */
export type StringsFooter = {
  readonly entryCount: number;
  readonly isDistinct: boolean;
  readonly codes: 'constant' | { readonly width: 1 | 2 | 3 | 4; readonly slice: Slice } | null;
  readonly packing: PackingFooter;
  /** Of the values, in the order of their positions: which blocks of them may hold a text. */
  readonly signature?: SignatureFooter | undefined;
};

/**
 * - `plain`: end to end; entry `i` is `bytes[offsets[i], offsets[i + 1])`.
 * - `hex`: lower-case digits, the same number in each: two a byte, the last byte perhaps half used.
 * - `uuid`: the lower-case canonical form: 16 bytes each.
 * - `deflated`: blocks of DEFLATED_BLOCK_ENTRIES entries end to end, each block compressed alone
 *   (RFC 1951). Block `b` is `bytes[blockOffsets[b], blockOffsets[b + 1])`.
 * - `form`: numbers in another dress (`word-forms.ts`).
 * - `split`: taken apart into what many have in common and the rest (`split-footer.ts`).
 * - `suffix`: entry `i` is the end of entry `i` of another leaf column, which is plain or split,
 *   without codes: the query of a URL, beside the URL.
 * - `excerpt`: entry `i` is the path, or the query, of entry `i` of another leaf column, which is
 *   split. The positions are the other's: where a row has no value, its skeleton says so.
 */
export type PackingFooter =
  | { readonly kind: 'plain'; readonly bytes: Slice; readonly offsets: Slice }
  | { readonly kind: 'hex'; readonly bytes: Slice; readonly digitCount: number }
  | { readonly kind: 'uuid'; readonly bytes: Slice }
  | {
      readonly kind: 'deflated';
      readonly bytes: Slice;
      readonly blockOffsets: Slice;
      /** Size of each entry. */
      readonly sizes: Slice;
      readonly sizeWidth: 1 | 2 | 4;
      readonly blockEntries: number;
    }
  | { readonly kind: 'form'; readonly form: WordFormName; readonly numbers: NumbersFooter }
  | {
      readonly kind: 'suffix';
      /** Index among the leaf columns. */
      readonly column: number;
      /** Size of each entry. */
      readonly sizes: Slice;
      readonly sizeWidth: 1 | 2 | 4;
    }
  | {
      readonly kind: 'excerpt';
      /** Index among the leaf columns. */
      readonly column: number;
      readonly cut: Cut;
    }
  | SplitFooter;
