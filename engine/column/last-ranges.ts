import { findingsGeneration } from './findings.ts';
import type { RowRanges } from './row-ranges.ts';

/** Bounds of ranges up to which an answer is kept: it is there as long as the segment is open. */
export const KEPT_BOUNDS_MAX = 4096;

/**
 * The rows that a segment told last, and what it was asked: who counts the rows that are to be looked at asks before
 * who looks at them.
 */
export class LastRanges<Asked, Rows extends RowRanges | undefined> {
  readonly #isSame: (one: Asked, other: Asked) => boolean;
  #last: { readonly asked: Asked; readonly generation: number; readonly rows: Rows } | undefined;

  constructor(isSame: (one: Asked, other: Asked) => boolean) {
    this.#isSame = isSame;
  }

  /** What was told, where the same is asked again; else what `find` gives. */
  of(asked: Asked, find: () => Rows): Rows {
    const last = this.#last;
    const generation = findingsGeneration();
    if (last?.generation === generation && this.#isSame(last.asked, asked)) return last.rows;
    const rows = find();
    const isKept = rows === undefined || rows.length <= KEPT_BOUNDS_MAX;
    this.#last = isKept ? { asked, generation, rows } : undefined;
    return rows;
  }
}
