import { assert, must } from '../assert.ts';
import {
  carvedFloat64,
  carvedUint8,
  grownFloat64,
  grownInt32,
  lengthened,
  NO_FLOAT64,
  NO_INT32,
  runInt32,
} from '../column/arrays.ts';
import { ObjectCache } from '../column/caches.ts';
import {
  type PackedNumbers,
  packUuid,
  type RunNumbers,
  UUID_BYTES,
} from '../column/number-vectors.ts';
import type { SqlType } from '../column/type.ts';
import { type Interval, isInterval, type Nested, type SqlValue } from '../column/value.ts';
import {
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
  isOfStrings,
  type NumberVector,
  numberVector,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { encodeWtf8 } from '../column/wtf8.ts';
import { dynamicKey } from '../function/dynamic.ts';
import { compareAmounts, totalUs } from '../function/time/interval.ts';
import { ByteIndex, type PagedTexts } from './byte-index.ts';
import {
  type DistinctValues,
  distinctValue,
  formOf,
  fromPortable,
  NUMBER_FORM,
  OTHER_FORM,
  type OtherKey,
  PLACES_MAX,
  type PlacedValues,
  placeOf,
  refTo,
  TEXT_FORM,
  toPortable,
  UUID_FORM,
} from './distinct-values.ts';
import { canonicalNumber, canonicalValue, NumberIndex, WIDE_NUMBER_MIN } from './number-index.ts';
import { KeyStrings, SplitKeys } from './split-keys.ts';
import { UuidIndex } from './uuid-index.ts';

const ABSENT = -1;

/** Arrays that all columns of a thread share: each is used between two calls of others. */
class Scratch {
  readonly oneCode = new Int32Array(1);
  readonly oneId = new Int32Array(1);
  readonly packedUuid = new Uint8Array(UUID_BYTES);
  /** Codes that are new, and where their UUIDs are. */
  met: Int32Array<ArrayBuffer> = NO_INT32;
  places: Int32Array<ArrayBuffer> = NO_INT32;
}

/** State of the module: columns come and go with groupings, and each would make its own. */
const scratch = new Scratch();

/**
 * The distinct values of one column, numbered 0, 1, 2 … in the order they are first met. NULL is a
 * value; 0 and -0 are one, NaN is one, numbers of one value are one whatever their form, records
 * and lists are compared by their JSON, ARRAYs and STRUCTs by their parts. Of equal INTERVALs the
 * least by `compareAmounts` is kept, in whatever order they come. FLOAT64 keeps doubles only.
 */
export class KeyColumn {
  readonly #type: SqlType;
  /** By id. */
  #refs: Int32Array<ArrayBuffer> = NO_INT32;
  #size = 0;
  #numbers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  #numberCount = 0;
  readonly #others: OtherKey[] = [];
  /** Ids of doubles other than NaN. */
  readonly #numberIds = new NumberIndex();
  #nanId = ABSENT;
  readonly #texts = new ByteIndex();
  readonly #uuids = new UuidIndex();
  /** Ids by the numbers of `#texts`, -1 where one has none, and of `#uuids`. */
  #textIds: Int32Array<ArrayBuffer> = NO_INT32;
  #uuidIds: Int32Array<ArrayBuffer> = NO_INT32;
  /** Ids of booleans, bigints and NULL, and of strings that came as such. */
  readonly #otherIds = new Map<SqlValue, number>();
  /** Ids of records, lists, ARRAYs and STRUCTs, by a text that only equal ones share. */
  readonly #compositeIds = new Map<string, number>();
  /** By the microseconds that comparisons go by. */
  readonly #intervalIds = new Map<bigint, number>();
  /** Per dictionary the id of code `c` at `c + 1`, and of NULL at 0; -1 when not known yet. */
  readonly #codeIds = new ObjectCache((dictionary: Dictionary) =>
    new Int32Array(dictionary.size + 1).fill(ABSENT),
  );
  /** There once strings were met that are taken apart: most columns have none. */
  #splitKeys: SplitKeys | undefined;
  /** Of all values so far, once they are asked for. */
  #strings: KeyStrings | undefined;

  constructor(type: SqlType) {
    this.#type = type;
  }

  get size(): number {
    return this.#size;
  }

  /** The id of NULL; -1 where it was not met. */
  get nullId(): number {
    return this.#otherIds.get(null) ?? ABSENT;
  }

  /** The id of NaN; -1 where it was not met. */
  get nanId(): number {
    return this.#nanId;
  }

  /** Writes the id of each entry of the vector to `ids`, new values getting new ones. */
  assign(vector: Vector, count: number, ids: Int32Array): void {
    switch (vector.kind) {
      case 'number':
        if (vector.form === 'run numbers') {
          this.#assignRuns(vector, ids);
        } else if (vector.form === 'packed numbers' && vector.coding.codeMax < count) {
          this.#assignPacked(vector, (code) => vector.coding.value(code), ids);
        } else if (vector.form === 'coded numbers') {
          this.#assignPacked(vector.numbers, (code) => vector.numberOfCode[code]!, ids);
        } else {
          this.#assignNumbers(vector, count, ids);
        }
        return;
      case 'dictionary':
        if (vector.dictionary.split === undefined) {
          this.#assignCodes(vector.codes, vector.dictionary, count, ids);
        } else {
          this.#assignSplit(vector, count, ids);
        }
        return;
      case 'boolean': {
        const idOfTruth = [ABSENT, ABSENT, ABSENT];
        for (let row = 0; row < count; row++) {
          const truth = vector.values[row]!;
          if (idOfTruth[truth] === ABSENT) {
            idOfTruth[truth] = this.idOf(truth === UNKNOWN ? null : truth === TRUE);
          }
          ids[row] = idOfTruth[truth]!;
        }
        return;
      }
      case 'constant':
        if (count > 0) ids.fill(this.idOf(vector.value), 0, count);
        return;
      case 'nested':
      case 'value':
        for (let row = 0; row < count; row++) ids[row] = this.idOf(valueAt(vector, row));
        return;
    }
  }

  /** The id of one code of a dictionary; -1 is NULL. */
  idOfCode(dictionary: Dictionary, code: number): number {
    const { oneCode, oneId } = scratch;
    oneCode[0] = code;
    this.#assignCodes(oneCode, dictionary, 1, oneId);
    return oneId[0]!;
  }

  value(id: number): SqlValue {
    return distinctValue(this.#inPlace(), this.#refs[id]!);
  }

  /** The values with the given ids, as a vector. */
  vector(ids: Int32Array): Vector {
    if (!this.#others.every((key) => key === null)) {
      return valueVector(Array.from(ids, (id) => this.value(id)));
    }
    const { nullId } = this;
    if (this.#texts.size + this.#uuids.size === 0) return this.#numberVector(ids, nullId);
    if (this.#numberCount > 0 || !TEXT_KINDS.has(this.#type.kind)) {
      return valueVector(Array.from(ids, (id) => this.value(id)));
    }
    const codes = nullId < 0 ? ids : ids.map((id) => (id === nullId ? -1 : id));
    return dictionaryVector(codes, ids.length, this.#keyStrings());
  }

  distinctValues(): DistinctValues {
    return {
      refs: this.#refs.slice(0, this.#size),
      numbers: this.#numberCount === 0 ? undefined : this.#numbers.slice(0, this.#numberCount),
      texts: this.#texts.size === 0 ? undefined : this.#texts.entries(),
      uuids: this.#uuids.size === 0 ? undefined : this.#uuids.bytes.slice(),
      others: this.#others.length === 0 ? undefined : this.#others.slice(),
    };
  }

  /** All values where they lie: to be read at once. */
  valuesInPlace(): DistinctValues {
    return { ...this.#inPlace(), refs: this.#refs.subarray(0, this.#size) };
  }

  /** Our id for each of another column's values. */
  combine({ refs, numbers, texts, uuids, others }: DistinctValues): Int32Array {
    const ids = runInt32(refs.length);
    const textPlaces = texts && this.#placesOfOthers(texts, refs);
    let textCount = 0;
    for (let index = 0; index < ids.length; index++) {
      const place = placeOf(refs[index]!);
      switch (formOf(refs[index]!)) {
        case NUMBER_FORM:
          ids[index] = this.#numberId(numbers![place]!);
          break;
        case TEXT_FORM:
          ids[index] = this.#idOfPlace(textPlaces![textCount++]!);
          break;
        case UUID_FORM:
          ids[index] = this.#uuidId(uuids!, place * UUID_BYTES);
          break;
        default:
          ids[index] = this.idOf(fromPortable(others![place]!));
      }
    }
    return ids;
  }

  /** Places among our texts of those of another column that are referred to, in the order of their references. */
  #placesOfOthers(texts: PagedTexts, refs: Int32Array): Int32Array {
    const places = runInt32(refs.length);
    let count = 0;
    for (let index = 0; index < refs.length; index++) {
      const ref = refs[index]!;
      if (formOf(ref) === TEXT_FORM) places[count++] = placeOf(ref);
    }
    return this.#texts.addAll(texts, places.subarray(0, count));
  }

  /** All values where they are: good until the next is added. */
  #inPlace(): PlacedValues {
    const { bytes } = this.#uuids;
    return {
      numbers: this.#numbers,
      texts: this.#texts.texts,
      uuids: bytes,
      others: this.#others,
    };
  }

  /** One dictionary for all vectors between which no value is added: its readers keep what they know of it. */
  #keyStrings(): KeyStrings {
    if (this.#strings?.size !== this.#size) {
      this.#strings = new KeyStrings(this.#inPlace(), this.#refs.subarray(0, this.#size));
    }
    return this.#strings;
  }

  #numberVector(ids: Int32Array, nullId: number): Vector {
    const values = carvedFloat64(ids.length);
    const nulls = nullId < 0 ? undefined : carvedUint8(ids.length);
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row]!;
      if (id === nullId) nulls![row] = 1;
      else values[row] = this.#numbers[placeOf(this.#refs[id]!)]!;
    }
    return numberVector(values, ids.length, nulls);
  }

  /** Rows come in runs of one value when they are sorted by time and the key is a time bucket. */
  #assignNumbers(vector: NumberVector, count: number, ids: Int32Array): void {
    const { values, nulls } = vector;
    let last = Number.NaN; // Equal to nothing.
    let lastId = ABSENT;
    let nullId = ABSENT;
    for (let row = 0; row < count; row++) {
      if (nulls !== undefined && nulls[row] === 1) {
        if (nullId === ABSENT) nullId = this.idOf(null);
        ids[row] = nullId;
        continue;
      }
      const value = values[row]!;
      if (value !== last) {
        lastId = this.#numberId(value);
        last = value;
      }
      ids[row] = lastId;
    }
  }

  #assignRuns({ runValues, runEnds }: RunNumbers, ids: Int32Array): void {
    let row = 0;
    for (let run = 0; run < runEnds.length; run++) {
      const id = this.#numberId(runValues[run]!);
      // Most runs are too short for `fill` to pay.
      for (const end = runEnds[run]!; row < end; row++) ids[row] = id;
    }
  }

  /** Integers where they lie: each is looked for once for a code, of which there are fewer than rows. */
  #assignPacked(
    { codes, start, count, coding }: PackedNumbers,
    numberOf: (code: number) => number,
    ids: Int32Array,
  ): void {
    const idOfCode = new Int32Array(coding.codeMax + 1).fill(ABSENT);
    for (let row = 0; row < count; row++) {
      const code = codes[start + row]!;
      let id = idOfCode[code]!;
      if (id === ABSENT) {
        id = this.#numberId(numberOf(code));
        idOfCode[code] = id;
      }
      ids[row] = id;
    }
  }

  #assignCodes(codes: Int32Array, dictionary: Dictionary, count: number, ids: Int32Array): void {
    if (dictionary.isPerValue === true && dictionary.uuids === undefined) {
      this.#assignEach(codes, dictionary, count, ids);
      return;
    }
    const idOfCode = this.#codeIds.get(dictionary);
    if (dictionary.uuids !== undefined) this.#meetUuids(codes, dictionary.uuids, count, idOfCode);
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      let id = idOfCode[code + 1]!;
      if (id === ABSENT) {
        id = code < 0 ? this.idOf(null) : this.#idOfCode(dictionary, code);
        idOfCode[code + 1] = id;
      }
      ids[row] = id;
    }
  }

  /** Codes that are met once: to remember their ids gains nothing. */
  #assignEach(codes: Int32Array, dictionary: Dictionary, count: number, ids: Int32Array): void {
    for (let row = 0; row < count; row++) {
      const code = codes[row]!;
      ids[row] = code < 0 ? this.idOf(null) : this.#idOfCode(dictionary, code);
    }
  }

  /** Writes the ids of codes that are new here: of all together, for each is looked up far away. */
  #meetUuids(
    codes: Int32Array,
    uuids: Uint8Array,
    count: number,
    idOfCode: Int32Array<ArrayBuffer>,
  ): void {
    // A NULL gets its number between those that come before and after it.
    if (!this.#otherIds.has(null) && codes.subarray(0, count).includes(-1)) return;
    const met = lengthened(scratch.met, count);
    const metCount = collectUnmet(codes, count, idOfCode, met);
    const places = lengthened(scratch.places, metCount);
    scratch.met = met;
    scratch.places = places;
    let knownCount = this.#uuids.size;
    this.#uuids.addAll(uuids, met, metCount, places);
    this.#uuidIds = grownInt32(this.#uuidIds, this.#uuids.size);
    for (let i = 0; i < metCount; i++) {
      const place = places[i]!;
      if (place === knownCount) this.#uuidIds[knownCount++] = this.#add(refTo(UUID_FORM, place));
      idOfCode[met[i]! + 1] = this.#uuidIds[place]!;
    }
  }

  #idOfCode(dictionary: Dictionary, code: number): number {
    const { strings, uuids } = dictionary;
    if (strings !== undefined) {
      return this.#stringId(strings.bytes, strings.offsets[code]!, strings.offsets[code + 1]!);
    }
    if (uuids !== undefined) return this.#uuidId(uuids, code * UUID_BYTES);
    if (!isOfStrings(dictionary)) return this.idOf(dictionary.value(code));
    const { bytes, start, end } = dictionary.range(code);
    return this.#stringId(bytes, start, end);
  }

  /** Strings taken apart are put together only where they have no key, or one that was not met before. */
  #assignSplit(vector: DictionaryVector, count: number, ids: Int32Array): void {
    const split = must(vector.dictionary.split);
    this.#splitKeys ??= new SplitKeys();
    this.#splitKeys.assign(vector, count, ids, (code) => {
      if (code < 0) return this.idOf(null);
      const { bytes, start, end } = split.range(code);
      return this.#stringId(bytes, start, end);
    });
  }

  /** The id of a value, a new one if need be. */
  idOf(value: SqlValue): number {
    if (typeof value === 'number') return this.#numberId(value);
    if (typeof value === 'bigint') return this.#wideId(value);
    if (typeof value === 'object' && value !== null) {
      return isInterval(value) ? this.#intervalId(value) : this.#compositeId(value);
    }
    return typeof value === 'string' ? this.#writtenId(value) : this.#otherId(value);
  }

  /** A string that came as such may well come again. */
  #writtenId(text: string): number {
    let id = this.#otherIds.get(text);
    if (id === undefined) {
      const bytes = encodeWtf8(text);
      id = this.#stringId(bytes, 0, bytes.length);
      this.#otherIds.set(text, id);
    }
    return id;
  }

  #stringId(bytes: Uint8Array, start: number, end: number): number {
    const isUuid = packUuid(bytes, start, end, scratch.packedUuid);
    if (isUuid) return this.#uuidId(scratch.packedUuid, 0);
    return this.#idOfPlace(this.#texts.add(bytes, start, end));
  }

  /** The id of a text of ours. */
  #idOfPlace(place: number): number {
    if (place >= this.#textIds.length) {
      this.#textIds = grownInt32(this.#textIds, place + 1, ABSENT);
    }
    const known = this.#textIds[place]!;
    if (known !== ABSENT) return known;
    const id = this.#add(refTo(TEXT_FORM, place));
    this.#textIds[place] = id;
    return id;
  }

  #uuidId(bytes: Uint8Array, start: number): number {
    const knownCount = this.#uuids.size;
    const place = this.#uuids.add(bytes, start);
    if (place < knownCount) return this.#uuidIds[place]!;
    this.#uuidIds = grownInt32(this.#uuidIds, place + 1);
    const id = this.#add(refTo(UUID_FORM, place));
    this.#uuidIds[place] = id;
    return id;
  }

  #numberId(value: number): number {
    if (Math.abs(value) >= WIDE_NUMBER_MIN && this.#type.kind !== 'FLOAT64') {
      const canonical = canonicalNumber(value);
      if (typeof canonical === 'bigint') return this.#otherId(canonical);
    }
    if (Number.isNaN(value)) {
      if (this.#nanId === ABSENT) this.#nanId = this.#addNumber(value);
      return this.#nanId;
    }
    let id = this.#numberIds.find(value);
    if (id === ABSENT) {
      id = this.#addNumber(value + 0); // 0 for -0.
      this.#numberIds.insert(value, id);
    }
    return id;
  }

  #wideId(value: bigint): number {
    if (this.#type.kind === 'FLOAT64') return this.#numberId(Number(value));
    const canonical = canonicalNumber(value);
    return typeof canonical === 'bigint' ? this.#otherId(canonical) : this.#numberId(canonical);
  }

  #otherId(value: null | boolean | bigint): number {
    let id = this.#otherIds.get(value);
    if (id === undefined) {
      id = this.#addOther(value);
      this.#otherIds.set(value, id);
    }
    return id;
  }

  #compositeId(value: Nested | readonly SqlValue[]): number {
    const key = dynamicKey(value);
    let id = this.#compositeIds.get(key);
    if (id === undefined) {
      id = this.#addOther(toPortable(canonicalValue(value, this.#type)) as OtherKey);
      this.#compositeIds.set(key, id);
    }
    return id;
  }

  #intervalId(value: Interval): number {
    const total = totalUs(value);
    const id = this.#intervalIds.get(total);
    if (id === undefined) {
      const added = this.#addOther(value);
      this.#intervalIds.set(total, added);
      return added;
    }
    const index = placeOf(this.#refs[id]!);
    if (compareAmounts(value, this.#others[index] as Interval) < 0) this.#others[index] = value;
    return id;
  }

  #addNumber(value: number): number {
    const place = this.#numberCount++;
    this.#numbers = grownFloat64(this.#numbers, place + 1);
    this.#numbers[place] = value;
    return this.#add(refTo(NUMBER_FORM, place));
  }

  #addOther(key: OtherKey): number {
    return this.#add(refTo(OTHER_FORM, this.#others.push(key) - 1));
  }

  #add(ref: number): number {
    assert(this.#size < PLACES_MAX, 'a query has no time for more values');
    this.#refs = grownInt32(this.#refs, this.#size + 1);
    this.#refs[this.#size] = ref;
    return this.#size++;
  }
}

/** Types whose strings are texts: one of BYTES stands for its bytes, and is written in another form. */
const TEXT_KINDS: ReadonlySet<SqlType['kind']> = new Set(['STRING', 'DYNAMIC']);

/** Of a code that is new, until its id is written. */
const MET = -2;

/** Writes each code without an id once, and marks it; NULL is none. Gives how many they are. */
function collectUnmet(
  codes: Int32Array,
  count: number,
  idOfCode: Int32Array,
  unmet: Int32Array,
): number {
  const nullId = idOfCode[0]!;
  idOfCode[0] = MET;
  let unmetCount = 0;
  // Without a branch: which of the codes are new is not to be guessed.
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    const id = idOfCode[code + 1]!;
    unmet[unmetCount] = code;
    const isUnmet = Number(id === ABSENT);
    unmetCount += isUnmet;
    idOfCode[code + 1] = id + isUnmet * (MET - ABSENT);
  }
  idOfCode[0] = nullId;
  return unmetCount;
}
