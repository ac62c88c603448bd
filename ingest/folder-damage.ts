import type { WalkedDamage } from './log/log-walk.ts';
import type { EnvelopeCopy } from './segment-file.ts';

/** One damaged or missing thing in a data folder, and what is lost by it. Paths are relative to the folder. */
export type FolderDamage =
  /** One of the two envelopes of a segment file is damaged. The other is whole, so nothing is lost. */
  | { readonly kind: 'envelope'; readonly path: string; readonly copy: EnvelopeCopy }
  /** The values of some columns are lost, in all rows of a segment file. */
  | {
      readonly kind: 'columns';
      readonly path: string;
      readonly source: string;
      readonly rowCount: number;
      readonly columns: readonly string[];
    }
  /** All rows of a segment file are lost, because the data that separates rows is damaged. */
  | {
      readonly kind: 'rows';
      readonly path: string;
      readonly source: string;
      readonly rowCount: number;
    }
  /** A segment file is lost, and the number of its rows is unknown. */
  | {
      readonly kind: 'segment';
      readonly path: string;
      readonly source: string;
      readonly reason: string;
    }
  /** A stored segment file is missing: something other than weir removed it. */
  | { readonly kind: 'missing'; readonly path: string; readonly source: string }
  /** The manifest, which lists the segment files that must exist, is damaged. */
  | { readonly kind: 'manifest'; readonly path: string }
  /** A small file is damaged. It is lost only if no whole copy exists. */
  | { readonly kind: 'small_file'; readonly path: string; readonly isLost: boolean }
  /** A part of a log file is damaged: `recordsLost` records from the sequence `firstSequence` on. */
  | {
      readonly kind: 'log';
      readonly path: string;
      readonly offset: number;
      readonly size: number;
      readonly reason: Exclude<WalkedDamage['reason'], 'tail'>;
      readonly recordsLost: number;
      readonly firstSequence: number;
    };

/** A file that cannot be checked: it has another version, or the system refuses to read it. */
export type UncheckedFile = { readonly path: string; readonly reason: string };
