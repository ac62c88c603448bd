import { grownUint8, NO_UINT8 } from '../column/arrays.ts';
import { damagedSpill, type SpillFile } from '../column/spill-file.ts';
import { quickHashOfBytes, randomHashKey } from '../column/string-table.ts';
import { ByteIndex, type PagedTexts } from './byte-index.ts';
import { type DistinctValues, KeyBytes } from './distinct-values.ts';
import { PairSet } from './pair-index.ts';

/**
 * Parts that values are divided into by their hash: when all have been written, one part at a time is read back into
 * memory. With SPILLED_BYTES_MAX each has some MiB.
 */
const PART_COUNT = 256;

/** Bytes before the key and the groups of a record: the size of the one, the count of the other. */
const HEADER_SIZE = 8;
const GROUP_SIZE = 4;

/** Values, or pairs, between two pauses. */
const PAUSE_COUNT = 8_192;

/** Pairs of a group and a value, as a table has them: pair `i` is of `groups[i]` and the value with the id `ids[i]`. */
type HeldPairs = {
  readonly values: DistinctValues;
  readonly groups: Int32Array;
  readonly ids: Int32Array;
  /** The id of a value that is left out; -1 for none. */
  readonly nullId: number;
};

/** Some of the pairs that were written, each once: value `values[i]` of a pair is entry `values[i]` of `keys` (`KeyBytes`). */
export type ReadPairs = {
  readonly groups: Int32Array;
  readonly values: Int32Array;
  readonly keys: PagedTexts;
};

type Run = {
  readonly start: number;
  /** Bytes of each part, and a hash of them. */
  readonly sizes: Uint32Array;
  readonly hashes: Int32Array;
};

/**
 * Pairs of groups and values in the file of a task. The same pair may be in several runs, but all of its value are in one
 * part (the partitioning of a Grace hash join: Kitsuregawa, Tanaka, Moto-oka, "Application of hash to data base machine
 * and its architecture", 1983).
 *
 * ```
 *  run, one for each `write`
 * ┌────────┬────────┬───┬──────────┐
 * │ part 0 │ part 1 │ … │ part 255 │
 * └────────┴────────┴───┴──────────┘
 *  part: records of
 * ┌──────────┬─────────────┬─────┬──────────────┐
 * │ key size │ group count │ key │ groups       │   32 bits each, little-endian; the key `size` bytes
 * └──────────┴─────────────┴─────┴──────────────┘
 * ```
 */
export class SpilledPairs {
  readonly #space: SpillSpace;
  readonly #runs: Run[] = [];
  readonly #key = new KeyBytes();
  #buffer: Uint8Array<ArrayBuffer> = NO_UINT8;

  constructor(space: SpillSpace) {
    this.#space = space;
  }

  /** Appends a run of all pairs; false, and nothing is written, if it would have fewer than `bytesMin` bytes. */
  write(held: HeldPairs, bytesMin: number): boolean {
    const { pause, file } = this.#space;
    const { values, nullId } = held;
    const valueCount = values.refs.length;
    const ends = endsOf(held.ids, valueCount);
    const partOf = new Uint8Array(valueCount);
    const sizes = new Uint32Array(PART_COUNT);
    for (let id = 0; id < valueCount; id++) {
      if (id % PAUSE_COUNT === 0) pause();
      if (id === nullId) continue;
      this.#key.write(values, values.refs[id]!);
      partOf[id] = this.#key.hash(KEY) & (PART_COUNT - 1);
      sizes[partOf[id]!]! += recordSize(this.#key.size, countOf(ends, id));
    }
    if (sizes.reduce((sum, size) => sum + size, 0) < bytesMin) return false;
    const sorted = { values, ends, groups: groupsByValue(held, ends) };
    const partEnds = endsOf(partOf, PART_COUNT);
    const order = orderByPart(partOf, partEnds);
    const run = { start: file.size, sizes, hashes: new Int32Array(PART_COUNT) };
    for (let part = 0; part < PART_COUNT; part++) {
      pause();
      const ids = order.subarray(part === 0 ? 0 : partEnds[part - 1]!, partEnds[part]!);
      run.hashes[part] = this.#writePart(file, sizes[part]!, sorted, ids, nullId);
    }
    this.#runs.push(run);
    return true;
  }

  /** Gives all pairs, part by part. `groupCount` is above all groups. Comes to a checkpoint with each part of a run. */
  readAll(groupCount: number, pause: () => void, take: (pairs: ReadPairs) => void): void {
    const groupsOnWay = new Int32Array(PAUSE_COUNT);
    const valuesOnWay = new Int32Array(PAUSE_COUNT);
    for (let part = 0; part < PART_COUNT; part++) {
      const keys = new ByteIndex();
      const pairs = new PairSet();
      const to = { keys, pairs, groupCount, groupsOnWay, valuesOnWay };
      for (const run of this.#runs) {
        pause();
        addRecords(this.#readPart(run, part), to);
      }
      const { groups, values } = pairs;
      if (groups.length > 0) take({ groups, values, keys: keys.texts });
    }
  }

  /** Gives the hash of what it wrote. */
  #writePart(
    file: SpillFile,
    size: number,
    { values, ends, groups }: SortedPairs,
    ids: Int32Array,
    nullId: number,
  ): number {
    const bytes = this.#bufferOf(size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (const id of ids) {
      if (id === nullId) continue;
      this.#key.write(values, values.refs[id]!);
      const { bytes: key, size: keySize } = this.#key;
      const end = ends[id]!;
      const start = end - countOf(ends, id);
      view.setUint32(at, keySize, true);
      view.setUint32(at + 4, end - start, true);
      at += HEADER_SIZE;
      for (let from = 0; from < keySize; from++) bytes[at++] = key[from]!;
      for (let pair = start; pair < end; pair++, at += GROUP_SIZE) {
        view.setInt32(at, groups[pair]!, true);
      }
    }
    file.append(bytes);
    return quickHashOfBytes(bytes, 0, size, KEY);
  }

  #readPart({ start, sizes, hashes }: Run, part: number): Uint8Array {
    let offset = start;
    for (let before = 0; before < part; before++) offset += sizes[before]!;
    const bytes = this.#bufferOf(sizes[part]!);
    this.#space.file.read(bytes, offset);
    if (quickHashOfBytes(bytes, 0, bytes.length, KEY) !== hashes[part]) throw damagedSpill();
    return bytes;
  }

  #bufferOf(size: number): Uint8Array {
    this.#buffer = grownUint8(this.#buffer, size);
    return this.#buffer.subarray(0, size);
  }
}

/** Pairs by the ids of their values: those of value `id` end before `ends[id]`, and begin where those before end. */
type SortedPairs = {
  readonly values: DistinctValues;
  readonly ends: Int32Array;
  readonly groups: Int32Array;
};

function recordSize(keySize: number, groupCount: number): number {
  return HEADER_SIZE + keySize + GROUP_SIZE * groupCount;
}

/** Where those of each number, below `count`, end among all, sorted. */
function endsOf(numbers: Int32Array | Uint8Array, count: number): Int32Array {
  const ends = new Int32Array(count);
  for (let at = 0; at < numbers.length; at++) ends[numbers[at]!]!++;
  for (let number = 1; number < count; number++) ends[number]! += ends[number - 1]!;
  return ends;
}

function countOf(ends: Int32Array, number: number): number {
  return number === 0 ? ends[0]! : ends[number]! - ends[number - 1]!;
}

function groupsByValue({ groups, ids }: HeldPairs, ends: Int32Array): Int32Array {
  const sorted = new Int32Array(groups.length);
  const next = ends.slice();
  for (let pair = groups.length - 1; pair >= 0; pair--) sorted[--next[ids[pair]!]!] = groups[pair]!;
  return sorted;
}

/** The ids, sorted by their part. */
function orderByPart(partOf: Uint8Array, ends: Int32Array): Int32Array {
  const order = new Int32Array(partOf.length);
  const next = ends.slice();
  for (let id = partOf.length - 1; id >= 0; id--) order[--next[partOf[id]!]!] = id;
  return order;
}

function addRecords(
  bytes: Uint8Array,
  to: {
    readonly keys: ByteIndex;
    readonly pairs: PairSet;
    readonly groupCount: number;
    /** For pairs on their way from a record to their set: PAUSE_COUNT each. */
    readonly groupsOnWay: Int32Array;
    readonly valuesOnWay: Int32Array;
  },
): void {
  const { keys, pairs, groupCount, groupsOnWay, valuesOnWay } = to;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  const flush = (): void => {
    pairs.add(groupsOnWay, valuesOnWay, count, { groupCount, valueCount: keys.size });
    count = 0;
  };
  for (let at = 0; at < bytes.length; ) {
    const keyStart = at + HEADER_SIZE;
    const keyEnd = keyStart + view.getUint32(at, true);
    const end = keyEnd + GROUP_SIZE * view.getUint32(at + 4, true);
    const value = keys.add(bytes, keyStart, keyEnd);
    for (let from = keyEnd; from < end; from += GROUP_SIZE) {
      groupsOnWay[count] = view.getInt32(from, true);
      valuesOnWay[count++] = value;
      if (count === PAUSE_COUNT) flush();
    }
    at = end;
  }
  flush();
}

/** One for all, that is never told: nobody can send values that are all in one part. */
const KEY = randomHashKey();

/** A state that can write what it holds to disk. */
export interface Spillable {
  /** Whether it did, and holds nothing any more. Throws what the disk or `pause` says. */
  spill(): boolean;
}

/**
 * The fewest bytes that a state writes at a time: fewer would free too little memory. A file of SPILLED_BYTES_MAX then has at
 * most 4,096 runs. Each run takes 2 KiB of memory, for the size and the hash of its parts.
 */
const RUN_BYTES_MIN = 256 * 1024;

/** Where the states of one task put what does not fit into its memory. */
export class SpillSpace {
  readonly file: SpillFile;
  /** A checkpoint at which the states may be made to spill. */
  readonly checkpoint: () => void;
  /** To be called while a state spills: a checkpoint that makes no state spill, and never parks the task. */
  readonly pause: () => void;
  readonly runBytesMin: number;
  readonly #states = new Set<Spillable>();

  constructor(
    options: Pick<SpillSpace, 'file' | 'checkpoint' | 'pause'> & { readonly runBytesMin?: number },
  ) {
    this.file = options.file;
    this.checkpoint = options.checkpoint;
    this.pause = options.pause;
    this.runBytesMin = options.runBytesMin ?? RUN_BYTES_MIN;
  }

  add(state: Spillable): void {
    this.#states.add(state);
  }

  delete(state: Spillable): void {
    this.#states.delete(state);
  }

  /** Makes all states spill that can. Whether one did. */
  relieve(): boolean {
    let isRelieved = false;
    for (const state of this.#states) if (state.spill()) isRelieved = true;
    return isRelieved;
  }
}
