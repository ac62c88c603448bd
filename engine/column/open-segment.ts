import { assert } from '../assert.ts';
import { OPEN_BYTES_MAX, OPEN_ROWS_MAX } from '../limits.ts';
import { sharedIntegers, sharedNumbers, sharedOffsets } from './arrays.ts';
import { type Batch, MIXED_PROJECTS, referenceLength, referenceOffset } from './batch.ts';
import type { OpenContent, OpenSegmentArrays, OpenSegmentHandle } from './segment.ts';
import { equalTokens, hashTokens, SkeletonTable } from './skeleton-table.ts';
import { StringList, StringTable } from './string-table.ts';
import { encodedKey } from './wtf8.ts';

const ROWS_MIN = 1024;
const SLOTS_MIN = 32 * 1024;
/** What arrays grow to where they are: past what a full segment has, but for its last batch. */
const ROWS_RESERVED = 2 * OPEN_ROWS_MAX;
const SLOTS_RESERVED = (2 * OPEN_BYTES_MAX) / 8;
/** Bytes of one row apart from its strings, tokens and slots: the sum over the arrays per row. */
const ROW_SIZE = 4 + 4 + 8 + 8 + 4 * 5;

type OpenSegmentOptions = {
  /** Unique in the process. */
  readonly id: number;
  /** Arrival of the first row, unless its batch says otherwise. */
  readonly arrivalBase: number;
};

/**
 * The newest events of one source, as rows on append-only tapes. One thread appends and publishes;
 * others read through handles, each of which sees the rows published when it was made.
 *
 * Rows, not columns: a wide event has some eighty leaves. Eighty growing columns are eighty places to write for each
 * event, and some two hundred buffers to hand to a worker for each query; tapes are a dozen.
 *
 * Invariant: the entries of every array below the published counts never change again.
 */
export class OpenSegment {
  readonly id: number;
  readonly #content: OpenContent;
  readonly #strings = new StringTable();
  /** Of one row, and then of the next. */
  readonly #list = new StringList();
  readonly #skeletonTable = new SkeletonTable();
  readonly #skeletons = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  readonly #slots = sharedNumbers(SLOTS_MIN, SLOTS_RESERVED);
  readonly #slotStarts = sharedOffsets(ROWS_MIN + 1, ROWS_RESERVED);
  readonly #timestampsUs = sharedNumbers(ROWS_MIN, ROWS_RESERVED);
  readonly #arrivals = sharedNumbers(ROWS_MIN, ROWS_RESERVED);
  readonly #ids = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  readonly #messages = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  readonly #projects = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  readonly #projectKeys = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  readonly #previousRows = sharedIntegers(ROWS_MIN, ROWS_RESERVED);
  /** The newest appended row of each skeleton. */
  readonly #newestOf: number[] = [];
  /** The newest appended row of each project key, by its string code (or -1, -2). */
  readonly #heads = new Map<number, number>();
  #rowCount = 0;
  #arrivalNext: number;
  #timestampUsMin = Number.POSITIVE_INFINITY;
  #timestampUsMax = Number.NEGATIVE_INFINITY;
  #translation: BatchTranslation | undefined;
  #keyCodes: Int32Array = new Int32Array();
  #published: OpenSegmentHandle;

  constructor(options: OpenSegmentOptions) {
    this.id = options.id;
    this.#content = { openId: options.id };
    this.#arrivalNext = options.arrivalBase;
    this.#published = this.#freshHandle();
  }

  /** Rows appended, published or not. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Bytes in use, without what arrays hold in reserve. */
  get byteSize(): number {
    return (
      this.#strings.byteSize +
      this.#strings.count * 4 +
      this.#skeletonTable.tokenCount * 4 +
      this.#slotStarts.array[this.#rowCount]! * 8 +
      this.#rowCount * ROW_SIZE
    );
  }

  /** Whether the segment should be sealed now. It still takes what is appended. */
  get isFull(): boolean {
    return this.#rowCount >= OPEN_ROWS_MAX || this.byteSize >= OPEN_BYTES_MAX;
  }

  /**
   * Appends rows [fromRow, toRow) of a batch, invisible until `publish`. Nothing of the batch is
   * kept but a memory of its keys, until another batch comes; it must not change in between.
   *
   * `arrival`: of the first of them, and greater than all before; the others count up from it.
   */
  append(batch: Batch, fromRow: number, toRow: number, arrival = this.#arrivalNext): void {
    assert(arrival >= this.#arrivalNext, 'arrivals ascend');
    assert(fromRow >= 0 && fromRow <= toRow && toRow <= batch.rowCount, 'rows lie in the batch');
    this.#reserve(batch, fromRow, toRow);
    const translation = this.#translationOf(batch);
    this.#arrivalNext = arrival;
    for (let row = fromRow; row < toRow; row++) {
      const target = this.#rowCount;
      this.#arrivals.array[target] = this.#arrivalNext++;
      const timestampUs = batch.timestampsUs[row]!;
      this.#timestampsUs.array[target] = timestampUs;
      if (timestampUs < this.#timestampUsMin) this.#timestampUsMin = timestampUs;
      if (timestampUs > this.#timestampUsMax) this.#timestampUsMax = timestampUs;
      this.#ids.array[target] = translation.stringCode(batch.ids[row]!);
      this.#messages.array[target] = translation.stringCode(batch.messages[row]!);
      const project = translation.stringCode(
        batch.projects[row]!,
        this.#projects.array[target - 1],
      );
      this.#projects.array[target] = project;
      // Mostly it is the column's own: one string is not to be compared twice.
      const projectKey =
        batch.projectKeys[row] === batch.projects[row]
          ? project
          : translation.stringCode(batch.projectKeys[row]!, this.#projectKeys.array[target - 1]);
      this.#projectKeys.array[target] = projectKey;
      this.#previousRows.array[target] = this.#heads.get(projectKey) ?? -1;
      this.#heads.set(projectKey, target);
      const skeleton = translation.skeleton(row);
      this.#skeletons.array[target] = skeleton;
      this.#appendSlots(translation, row, skeleton);
      this.#newestOf[skeleton] = target;
      this.#rowCount = target + 1;
    }
  }

  /** Makes every appended row visible to the handles taken from now on. */
  publish(): void {
    this.#published = this.#freshHandle();
    this.#translation = undefined;
  }

  /** The published rows; with a project key, also where that project's rows are found. */
  handle(projectKey?: string): OpenSegmentHandle {
    if (projectKey === undefined) return this.#published;
    const bytes = encodedKey(projectKey);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const code = this.#strings.find(view, 0, bytes.length);
    const projectHead = code < 0 ? -1 : this.#publishedHead(code);
    const mixedHead = this.#publishedHead(MIXED_PROJECTS);
    return { ...this.#published, chains: { projectHead, mixedHead } };
  }

  #publishedHead(projectKey: number): number {
    const previousRows = this.#previousRows.array;
    let row = this.#heads.get(projectKey) ?? -1;
    while (row >= this.#published.rowCount) row = previousRows[row]!;
    return row;
  }

  /** A row's values are those of the row of the same skeleton before it, as often as not. */
  #appendSlots(translation: BatchTranslation, row: number, skeleton: number): void {
    const areStrings = this.#skeletonTable.slotsAreStrings(skeleton);
    const { slotStarts } = translation.batch;
    const from = slotStarts[row]!;
    const count = areStrings.length;
    assert(slotStarts[row + 1]! - from === count, 'a row has the slots that its tokens count');
    const to = this.#slotStarts.array[this.#rowCount]!;
    const before = this.#newestOf[skeleton];
    const guesses = before === undefined ? -1 : this.#slotStarts.array[before]!;
    translation.translateSlots(areStrings, { from, count }, this.#slots.array, { to, guesses });
    this.#slotStarts.array[this.#rowCount + 1] = to + count;
  }

  #reserve(batch: Batch, fromRow: number, toRow: number): void {
    const rowCount = this.#rowCount + toRow - fromRow;
    const slotCount = batch.slotStarts[toRow]! - batch.slotStarts[fromRow]!;
    this.#slots.reserve(this.#slotStarts.array[this.#rowCount]! + slotCount);
    this.#slotStarts.reserve(rowCount + 1);
    this.#skeletons.reserve(rowCount);
    this.#timestampsUs.reserve(rowCount);
    this.#arrivals.reserve(rowCount);
    this.#ids.reserve(rowCount);
    this.#messages.reserve(rowCount);
    this.#projects.reserve(rowCount);
    this.#projectKeys.reserve(rowCount);
    this.#previousRows.reserve(rowCount);
  }

  #translationOf(batch: Batch): BatchTranslation {
    if (this.#translation?.batch !== batch) {
      const list = this.#list;
      const tables = { strings: this.#strings, skeletons: this.#skeletonTable, list };
      this.#translation = new BatchTranslation(batch, tables, this.#keyCodes);
      this.#keyCodes = this.#translation.keyCodes;
    }
    return this.#translation;
  }

  #freshHandle(): OpenSegmentHandle {
    return {
      kind: 'open',
      id: this.id,
      content: this.#content,
      rowCount: this.#rowCount,
      stringCount: this.#strings.count,
      skeletonCount: this.#skeletonTable.count,
      timestampUsMin: this.#timestampUsMin,
      timestampUsMax: this.#timestampUsMax,
      arrays: this.#arrays(),
    };
  }

  #arrays(): OpenSegmentArrays {
    return {
      stringBytes: this.#strings.bytes,
      stringOffsets: this.#strings.offsets,
      tokens: this.#skeletonTable.tokens,
      skeletonStarts: this.#skeletonTable.starts,
      skeletons: this.#skeletons.array,
      slots: this.#slots.array,
      slotStarts: this.#slotStarts.array,
      timestampsUs: this.#timestampsUs.array,
      arrivals: this.#arrivals.array,
      ids: this.#ids.array,
      messages: this.#messages.array,
      projects: this.#projects.array,
      projectKeys: this.#projectKeys.array,
      previousRows: this.#previousRows.array,
    };
  }
}

/**
 * What an open segment knows of one batch while it appends it: the codes of the batch's keys, and
 * which of its skeletons it has met. Each key and each skeleton is translated once per batch.
 */
class BatchTranslation {
  readonly batch: Batch;
  readonly #strings: StringTable;
  readonly #list: StringList;
  readonly #skeletons: SkeletonTable;
  readonly #view: DataView;
  /** String code of each key of the batch; -1 when not translated yet. */
  readonly keyCodes: Int32Array;
  /** Of the batch before: senders' keys come in the same order again and again. */
  readonly #keyGuesses: Int32Array;
  /** From the hash of a row's tokens to that row and its skeleton. */
  readonly #rowOfHash = new Map<number, { readonly row: number; readonly skeleton: number }>();
  #rowBefore = -1;
  #skeletonBefore = -1;

  constructor(
    batch: Batch,
    tables: {
      readonly strings: StringTable;
      readonly skeletons: SkeletonTable;
      readonly list: StringList;
    },
    keyGuesses: Int32Array,
  ) {
    this.batch = batch;
    this.#strings = tables.strings;
    this.#skeletons = tables.skeletons;
    this.#list = tables.list;
    this.#keyGuesses = keyGuesses;
    const { bytes } = batch;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.keyCodes = new Int32Array(batch.keyCount).fill(-1);
  }

  /** The code of a string reference; a negative one stands for itself. `guess`: as for `intern`. */
  stringCode(reference: number, guess = -1): number {
    if (reference < 0) return reference;
    const start = referenceOffset(reference);
    const end = start + referenceLength(reference);
    return this.#strings.intern(this.#view, start, end, guess);
  }

  /**
   * The codes of the strings among values [from, from + count) of the batch's slots, as `stringCode`
   * gives them, and the other values as they are, into `target` from `to` on. `guesses`: where in
   * `target` what each may well be stands, or -1.
   */
  translateSlots(
    areStrings: Uint8Array,
    values: { readonly from: number; readonly count: number },
    target: Float64Array,
    places: { readonly to: number; readonly guesses: number },
  ): void {
    const { slots } = this.batch;
    const { from, count } = values;
    const { to, guesses } = places;
    const strings = this.#strings;
    const view = this.#view;
    const list = this.#list;
    list.begin(count);
    for (let slot = 0; slot < count; slot++) {
      const value = slots[from + slot]!;
      target[to + slot] = value;
      if (areStrings[slot] !== 1 || value < 0) continue;
      const start = referenceOffset(value);
      const end = start + referenceLength(value);
      const guess = guesses < 0 ? -1 : target[guesses + slot]!;
      if (guess >= 0 && strings.has(guess, view, start, end)) {
        target[to + slot] = guess;
        continue;
      }
      list.add(start, end, to + slot);
    }
    strings.internAll(view, list);
    for (let index = 0; index < list.count; index++) {
      target[list.places[index]!] = list.codes[index]!;
    }
  }

  /** The skeleton of a row of the batch. */
  skeleton(row: number): number {
    if (this.#rowBefore < 0 || !this.#haveEqualTokens(row, this.#rowBefore)) {
      this.#skeletonBefore = this.#findSkeleton(row);
    }
    this.#rowBefore = row;
    return this.#skeletonBefore;
  }

  #findSkeleton(row: number): number {
    const { tokens, tokenStarts } = this.batch;
    const start = tokenStarts[row]!;
    const end = tokenStarts[row + 1]!;
    const hash = hashTokens(tokens, start, end, 0);
    const met = this.#rowOfHash.get(hash);
    if (met !== undefined && this.#haveEqualTokens(row, met.row)) return met.skeleton;
    const skeleton = this.#skeletons.intern(tokens, start, end, (key) => this.#keyCode(key));
    if (met === undefined) this.#rowOfHash.set(hash, { row, skeleton });
    return skeleton;
  }

  #haveEqualTokens(left: number, right: number): boolean {
    const { tokens, tokenStarts } = this.batch;
    const leftStart = tokenStarts[left]!;
    const rightStart = tokenStarts[right]!;
    const count = tokenStarts[left + 1]! - leftStart;
    return (
      tokenStarts[right + 1]! - rightStart === count &&
      equalTokens(tokens, leftStart, tokens, rightStart, count)
    );
  }

  #keyCode(key: number): number {
    if (this.keyCodes[key]! < 0) {
      this.keyCodes[key] = this.stringCode(this.batch.keys[key]!, this.#keyGuesses[key]);
    }
    return this.keyCodes[key]!;
  }
}
