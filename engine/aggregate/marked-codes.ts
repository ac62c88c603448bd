import type { UnsignedArray } from '../column/slice.ts';
import type { Dictionary, DictionaryVector } from '../column/vector.ts';
import type { ChunkRuns } from './chunk-runs.ts';

/** Bytes of new marks for each row of a chunk: beyond, to make and to count them takes longer than to look codes up. */
const BYTES_PER_ROW_MAX = 4;

/** The codes of a dictionary that a group has met: byte 0 is 1 for NULL, byte `c + 1` for code `c`. */
export type CodeMarks = { readonly dictionary: Dictionary; readonly marks: Uint8Array };

/**
 * Which codes of which dictionaries each group has met, where its rows come in runs: a byte for each code. To mark one
 * needs no look-up, and what codes mean is asked when all rows have been seen, once of each.
 */
export class MarkedCodes {
  readonly #marks = new Map<Dictionary, Map<number, Uint8Array>>();
  #byteSize = 0;

  get byteSize(): number {
    return this.#byteSize;
  }

  /**
   * Marks the codes of the rows; false, and nothing is marked, where runs have few rows beside the codes there
   * are. The dictionary is kept until `take`.
   */
  add({ groups, ends, count }: ChunkRuns, vector: DictionaryVector): boolean {
    const { dictionary } = vector;
    const known = this.#marks.get(dictionary);
    let newCount = 0;
    for (const group of groups) newCount += known?.has(group) === true ? 0 : 1;
    if (newCount * dictionary.size > BYTES_PER_ROW_MAX * count) return false;
    const marks = known ?? new Map<number, Uint8Array>();
    this.#marks.set(dictionary, marks);
    let start = 0;
    for (let run = 0; run < ends.length; run++) {
      markRows(vector, start, ends[run]!, this.#marksOf(marks, groups[run]!, dictionary.size + 1));
      start = ends[run]!;
    }
    return true;
  }

  /** All marks by group. They are no longer here. */
  take(): ReadonlyMap<number, readonly CodeMarks[]> {
    const taken = new Map<number, CodeMarks[]>();
    for (const [dictionary, ofGroups] of this.#marks) {
      for (const [group, marks] of ofGroups) {
        const ofGroup = taken.get(group) ?? [];
        ofGroup.push({ dictionary, marks });
        taken.set(group, ofGroup);
      }
    }
    this.#marks.clear();
    this.#byteSize = 0;
    return taken;
  }

  #marksOf(ofGroups: Map<number, Uint8Array>, group: number, length: number): Uint8Array {
    const known = ofGroups.get(group);
    if (known !== undefined) return known;
    const marks = new Uint8Array(length);
    ofGroups.set(group, marks);
    this.#byteSize += length;
    return marks;
  }
}

/** How many codes are marked, NULL left out. */
export function countMarks(marks: Uint8Array): number {
  let count = 0;
  for (let at = 1; at < marks.length; at++) count += marks[at]!;
  return count;
}

/** The codes that are marked, ascending, NULL left out. */
export function markedCodes(marks: Uint8Array): Int32Array {
  const codes = nullAndCodes(marks);
  return marks[0] === 1 ? codes.subarray(1) : codes;
}

/** … with NULL, which is -1, at the head. */
export function nullAndCodes(marks: Uint8Array): Int32Array {
  const codes = new Int32Array(countMarks(marks) + marks[0]!);
  let count = 0;
  for (let at = 0; at < marks.length; at++) if (marks[at] === 1) codes[count++] = at - 1;
  return codes;
}

function markRows(vector: DictionaryVector, start: number, end: number, marks: Uint8Array): void {
  if (vector.form !== 'string range') {
    markCodes(vector.codes, start, end, marks);
    return;
  }
  const { firstCode, codesInPlace } = vector;
  if (firstCode !== undefined) marks.fill(1, firstCode + start + 1, firstCode + end + 1);
  else if (codesInPlace === undefined) markCodes(vector.codes, start, end, marks);
  else markInPlace(codesInPlace, vector.start + start, vector.start + end, marks);
}

/** A loop for each width of codes, for each is compiled for its own. */
function markInPlace(codes: UnsignedArray, start: number, end: number, marks: Uint8Array): void {
  if (codes instanceof Uint8Array) markBytes(codes, start, end, marks);
  else if (codes instanceof Uint16Array) markShorts(codes, start, end, marks);
  else markWords(codes, start, end, marks);
}

function markCodes(codes: Int32Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markBytes(codes: Uint8Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markShorts(codes: Uint16Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}

function markWords(codes: Uint32Array, start: number, end: number, marks: Uint8Array): void {
  for (let row = start; row < end; row++) marks[codes[row]! + 1] = 1;
}
