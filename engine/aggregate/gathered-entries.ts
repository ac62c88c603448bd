import { grownFloat64, grownInt32, NO_FLOAT64, NO_INT32 } from './growth.ts';

/** Room for what is gathered of the rows of a chunk whose strings are taken apart, to be made keys of together. */
class GatheredEntries {
  /** Where the parts of each row of the chunk begin. */
  partStarts: Int32Array<ArrayBuffer> = NO_INT32;
  /** Of the rows gathered their codes, where their parts begin, which rows they are, and their keys. */
  codes: Int32Array<ArrayBuffer> = NO_INT32;
  starts: Int32Array<ArrayBuffer> = NO_INT32;
  rows: Int32Array<ArrayBuffer> = NO_INT32;
  keys: Float64Array<ArrayBuffer> = NO_FLOAT64;

  /** Makes room for chunks of so many rows. */
  reserve(count: number): void {
    this.partStarts = grownInt32(this.partStarts, count);
    this.codes = grownInt32(this.codes, count);
    this.starts = grownInt32(this.starts, count);
    this.rows = grownInt32(this.rows, count);
    this.keys = grownFloat64(this.keys, count);
  }
}

/** One for all columns of a thread: nothing in it outlives the call that gathers. */
export const gathered = new GatheredEntries();
