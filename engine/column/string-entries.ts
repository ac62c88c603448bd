import type { JsonWriter } from './json-writer.ts';
import type { ByteRange } from './slot-store.ts';
import type { Dictionary } from './vector.ts';

/** What is known of the entries of a column. */
export type EntryFacts = Required<Pick<Dictionary, 'size' | 'isDistinct' | 'isPerValue'>>;

/** Entries of a column of strings; their codes are their indexes. */
export interface StringEntries extends Dictionary {
  value(code: number): string;
  /** The bytes of an entry; good until the next call. */
  range(code: number): ByteRange;
  /** Writes the entry as a JSON string. `isKept` as of `Dictionary`. */
  writeJson(code: number, out: JsonWriter, isKept?: boolean): void;
}
