/**
 * Strings that are interned together, as bytes [start, end) of one view, in memory that is used again
 * for the next ones.
 */
export class StringList {
  count = 0;
  starts = new Uint32Array(0);
  ends = new Uint32Array(0);
  /** What whoever added a string knows it by. */
  places = new Int32Array(0);
  /** Written by the table. */
  hashes = new Int32Array(0);
  codes = new Int32Array(0);
  /** Of no use but that what the table reads for it is not optimised away. */
  fetched = 0;

  /** Begins anew, with room for `sizeMax` strings. */
  begin(sizeMax: number): void {
    this.count = 0;
    if (this.starts.length >= sizeMax) return;
    const size = 2 * sizeMax;
    this.starts = new Uint32Array(size);
    this.ends = new Uint32Array(size);
    this.places = new Int32Array(size);
    this.hashes = new Int32Array(size);
    this.codes = new Int32Array(size);
  }

  add(start: number, end: number, place: number): void {
    const index = this.count++;
    this.starts[index] = start;
    this.ends[index] = end;
    this.places[index] = place;
  }
}
