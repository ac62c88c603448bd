import type { WalkedDamage } from './log/log-walk.ts';
import type { EnvelopeCopy } from './segment-file.ts';

/**
 * One thing in a data folder that is not as it was written, and what that costs. Paths are relative
 * to the folder.
 */
export type FolderDamage =
  /** One of the two envelopes of a segment file; the other says the same. */
  | { readonly kind: 'envelope'; readonly path: string; readonly copy: EnvelopeCopy }
  /** The values of some columns, in all rows of a segment file. */
  | {
      readonly kind: 'columns';
      readonly path: string;
      readonly source: string;
      readonly rowCount: number;
      readonly columns: readonly string[];
    }
  /** What tells the rows of a segment file apart: all of them. */
  | {
      readonly kind: 'rows';
      readonly path: string;
      readonly source: string;
      readonly rowCount: number;
    }
  /** A segment file that cannot even say how many rows it had. */
  | {
      readonly kind: 'segment';
      readonly path: string;
      readonly source: string;
      readonly reason: string;
    }
  /** A segment file that was stored and that somebody removed. */
  | { readonly kind: 'missing'; readonly path: string; readonly source: string }
  /** The list of segment files that should be there. */
  | { readonly kind: 'manifest'; readonly path: string }
  /** A file beside log and segments. It is not lost where another holds the same and is whole. */
  | { readonly kind: 'small_file'; readonly path: string; readonly isLost: boolean }
  /** A place in a log file; `recordsLost` of them from the sequence `firstSequence` on. */
  | {
      readonly kind: 'log';
      readonly path: string;
      readonly offset: number;
      readonly size: number;
      readonly reason: Exclude<WalkedDamage['reason'], 'tail'>;
      readonly recordsLost: number;
      readonly firstSequence: number;
    };

/** A file that cannot be looked into: of another version, or the system refuses to read it. */
export type UncheckedFile = { readonly path: string; readonly reason: string };
