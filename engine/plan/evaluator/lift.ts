import { carvedFloat64, carvedInt32, carvedUint8 } from '../../column/arrays.ts';
import { ObjectCache } from '../../column/caches.ts';
import type { VectorFunction } from '../../column/chunk.ts';
import { CodedNumbers, CodedTruths, type PackedNumbers } from '../../column/number-vectors.ts';
import { flatTextsOf, isOfTexts, TextBlock, type TextVector } from '../../column/text-block.ts';
import { isNumber, type SqlType } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import {
  booleanVector,
  constantVector,
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
  FALSE,
  isConstantNull,
  isOfStrings,
  type NumberVector,
  numberVector,
  type StringDictionary,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
} from '../../column/vector.ts';
import type { ScalarOverload } from '../../function/scalar-function.ts';
import type { Measure, PartFinder } from '../../function/text/text-units.ts';
import { spendSteps, stepsOf } from '../../function/work-meter.ts';
import { vectorOfValues } from '../../operator/merge-vectors.ts';
import { truthOf } from '../../operator/row-wise.ts';
import { QueryError } from '../../query-error.ts';
import type { TextSearch } from './text-search.ts';

export type LiftedFunction = Pick<
  ScalarOverload,
  'nulls' | 'evaluate' | 'measure' | 'part' | 'kernel' | 'inPlace'
> & {
  readonly type: SqlType;
  /** For a test of one argument: the same on a string where it lies in its dictionary's block. */
  readonly search?: TextSearch;
};

/** Rows of a chunk up to which their entries may be looked at one by one. */
const SPARSE_ROWS_MAX = 128;
/** They are looked at so where the dictionary has more entries than so many times the rows. */
const SPARSE_ENTRIES_PER_ROW = 16;

/** A function of values as one of the columns that `parts` compute. */
export function liftFunction(
  lifted: LiftedFunction,
  parts: readonly VectorFunction[],
): VectorFunction {
  const evaluate = liftOverVectors(lifted, parts.length);
  return (chunk) => {
    if (chunk.count === 0) return constantVector(null, 0);
    const vectors = parts.map((part) => part(chunk));
    return evaluate(vectors, chunk.count);
  };
}

/**
 * A function of values as one of vectors. It is evaluated as seldom as their forms allow: once for
 * constants, once for each entry of a dictionary that a live row carries, else once for each row.
 */
export function liftOverVectors(
  lifted: LiftedFunction,
  argumentCount: number,
): (vectors: readonly Vector[], count: number) => Vector {
  const caches = Array.from(
    { length: argumentCount },
    (_, index) => new ArgumentCache(lifted, index),
  );
  return (vectors, count) => {
    if (count === 0) return constantVector(null, 0);
    if (lifted.nulls === 'propagate' && vectors.some(isConstantNull)) {
      return constantVector(null, count);
    }
    const inPlace = lifted.inPlace?.(vectors);
    if (inPlace !== undefined) return inPlace;
    const varying = varyingArgument(vectors);
    if (varying === NONE) {
      const value = evaluateWith(lifted.evaluate, vectors.map(constantOf));
      return constantVector(value, count);
    }
    const byCode = varying === SEVERAL ? undefined : computeByCode(lifted, vectors, varying);
    if (byCode !== undefined) return byCode;
    const computed = lifted.kernel?.(vectors, count);
    if (computed !== undefined) return computed;
    if (varying !== SEVERAL) {
      const vector = vectors[varying]!;
      if (
        vector.kind === 'dictionary' &&
        (!isSparse(vector) || stringTestOf(lifted, vector.dictionary) !== undefined)
      ) {
        return caches[varying]!.apply(vector, vectors);
      }
    }
    return evaluateRows(lifted, vectors, count);
  };
}

type StringTest = { readonly search: TextSearch; readonly of: StringDictionary };

/** The test of a dictionary's values as bytes, where the function has one and the values are strings. */
function stringTestOf(
  { search, nulls }: LiftedFunction,
  dictionary: Dictionary,
): StringTest | undefined {
  if (search === undefined || nulls !== 'propagate' || !isOfStrings(dictionary)) return undefined;
  return { search, of: dictionary };
}

/** Whether about each value is met once, so that remembering what was found of it gains nothing. */
function isMetOnce({ codes, count, dictionary }: DictionaryVector): boolean {
  if (dictionary.isPerValue === true) return true;
  if (2 * dictionary.size <= count) return false;
  // A string that is new in an open segment has a higher code than all before.
  let highest = -1;
  let newCount = 0;
  for (let i = 0; i < count; i++) {
    if (codes[i]! <= highest) continue;
    highest = codes[i]!;
    newCount++;
  }
  return 2 * newCount > count;
}

/** Whether a cache of all entries would cost more than to evaluate those that some rows carry. */
function isSparse({ count, dictionary }: DictionaryVector): boolean {
  return count <= SPARSE_ROWS_MAX && dictionary.size > SPARSE_ENTRIES_PER_ROW * count;
}

const NONE = -1;
const SEVERAL = -2;

/** The one argument that is not a constant, NONE or SEVERAL. */
function varyingArgument(vectors: readonly Vector[]): number {
  let varying = NONE;
  for (let index = 0; index < vectors.length; index++) {
    if (vectors[index]!.kind === 'constant') continue;
    if (varying !== NONE) return SEVERAL;
    varying = index;
  }
  return varying;
}

function constantOf(vector: Vector): SqlValue {
  return vector.kind === 'constant' ? vector.value : null;
}

function evaluateRows(lifted: LiftedFunction, vectors: readonly Vector[], count: number): Vector {
  const propagates = lifted.nulls === 'propagate';
  const results = new Array<SqlValue>(count);
  const values = new Array<SqlValue>(vectors.length);
  for (let row = 0; row < count; row++) {
    let hasNull = false;
    for (let index = 0; index < vectors.length; index++) {
      const value = valueAt(vectors[index]!, row);
      values[index] = value;
      if (value === null) hasNull = true;
    }
    results[row] = hasNull && propagates ? null : evaluateWith(lifted.evaluate, values);
  }
  return vectorOfValues(results, lifted.type);
}

function measureEach(measure: Measure, vector: TextVector): Vector {
  const texts = flatTextsOf(vector);
  const isAscii = texts?.dictionary.isAscii === true;
  const { codes, count, dictionary } = texts ?? vector;
  const numbers = carvedFloat64(count);
  let nulls: Uint8Array | undefined;
  let size = 0;
  for (let i = 0; i < count; i++) {
    if (codes[i]! < 0) {
      nulls ??= carvedUint8(count);
      nulls[i] = 1;
      continue;
    }
    const { bytes, start, end } = dictionary.range(codes[i]!);
    size += end - start;
    numbers[i] = measure(bytes, start, end, isAscii);
  }
  spendSteps(count + Math.floor(size / BYTES_PER_STEP));
  return numberVector(numbers, count, nulls);
}

/** Strings that are read once each: no verdict on them is remembered. */
function testEach(search: TextSearch, { codes, count, dictionary }: TextVector): Vector {
  const truths = carvedUint8(count);
  for (let i = 0; i < count; i++) {
    if (codes[i]! < 0) {
      truths[i] = UNKNOWN;
      continue;
    }
    const { bytes, start, end } = dictionary.range(codes[i]!);
    truths[i] = search.test(bytes, start, end) ? TRUE : FALSE;
  }
  return booleanVector(truths, count);
}

/** What is known of the function when argument `index` varies over a dictionary's entries. */
class ArgumentCache {
  readonly #lifted: LiftedFunction;
  readonly #index: number;
  /** The other arguments, constants all, that the caches hold for. */
  #constants: readonly SqlValue[] | undefined;
  #booleans: ObjectCache<Dictionary, PredicateCache> | undefined;
  #values: ObjectCache<Dictionary, ValueCache> | undefined;
  /** Of the constants. */
  #measure: { readonly found: Measure | undefined } | undefined;
  #part: { readonly found: PartFinder | undefined } | undefined;

  constructor(lifted: LiftedFunction, index: number) {
    this.#lifted = lifted;
    this.#index = index;
  }

  apply(vector: DictionaryVector, vectors: readonly Vector[]): Vector {
    const constants = vectors.map(constantOf);
    const known = this.#constants;
    if (known === undefined || !constants.every((value, i) => Object.is(value, known[i]))) {
      this.#constants = constants;
      this.#booleans = undefined;
      this.#values = undefined;
      this.#measure = undefined;
      this.#part = undefined;
    }
    if (this.#lifted.type.kind === 'BOOL') return this.#test(vector, constants);
    const { dictionary, count } = vector;
    if (isOfTexts(vector)) {
      const measure = this.#findMeasure(constants);
      const part = this.#findPart(constants);
      // Of many entries V8 would move all that is remembered about, and a thread may not keep so much for the next run.
      const isForgotten =
        measure !== undefined || part !== undefined || dictionary.size >= STATES_MAX;
      if (isForgotten && isMetOnce(vector)) {
        if (measure !== undefined) return measureEach(measure, vector);
        if (part !== undefined) {
          return partOfEach(part, vector, this.#evaluator(dictionary, constants));
        }
        return evaluateRows(this.#lifted, vectors, count);
      }
    }
    this.#values ??= new ObjectCache(
      (dictionary: Dictionary) =>
        new ValueCache(dictionary.size, this.#evaluator(dictionary, constants)),
    );
    return this.#values.get(vector.dictionary).apply(vector);
  }

  #findMeasure(constants: readonly SqlValue[]): Measure | undefined {
    const { measure, nulls } = this.#lifted;
    if (measure === undefined || nulls !== 'propagate' || this.#index !== 0) return undefined;
    this.#measure ??= { found: measure(constants.slice(1)) };
    return this.#measure.found;
  }

  #findPart(constants: readonly SqlValue[]): PartFinder | undefined {
    const { part, nulls } = this.#lifted;
    if (part === undefined || nulls !== 'propagate' || this.#index !== 0) return undefined;
    this.#part ??= { found: part(constants.slice(1)) };
    return this.#part.found;
  }

  #test(vector: DictionaryVector, constants: readonly SqlValue[]): Vector {
    const { strings, split } = vector.dictionary;
    const test = stringTestOf(this.#lifted, vector.dictionary);
    if (test !== undefined) {
      const { search } = test;
      const { count } = vector;
      if (split !== undefined) {
        const first = vector.form === 'string range' ? vector.firstCode : undefined;
        const tested = first === undefined ? undefined : search.testRange(split, first, count);
        return tested ?? booleanVector(search.testSplit(split, vector.codes, count), count);
      }
      // Others take longer to read than verdicts on them to be remembered.
      if (strings !== undefined && (isMetOnce(vector) || isSparse(vector))) {
        return booleanVector(search.testAll(strings, vector.codes, count), count);
      }
      if (isOfTexts(vector) && vector.dictionary.isPerValue === true)
        return testEach(search, vector);
    }
    this.#booleans ??= new ObjectCache(
      (dictionary: Dictionary) =>
        new PredicateCache(dictionary.size, this.#evaluator(dictionary, constants)),
    );
    return this.#booleans.get(vector.dictionary).apply(vector);
  }

  #evaluator(dictionary: Dictionary, constants: readonly SqlValue[]): (code: number) => SqlValue {
    const test = stringTestOf(this.#lifted, dictionary);
    if (test !== undefined) {
      return (code) => {
        if (code < 0) return null;
        const { bytes, start, end } = test.of.range(code);
        return test.search.test(bytes, start, end);
      };
    }
    const { evaluate, nulls } = this.#lifted;
    const values = [...constants];
    return (code) => {
      if (code < 0 && nulls === 'propagate') return null;
      const value = code < 0 ? null : dictionary.value(code);
      if (value === null && nulls === 'propagate') return null;
      values[this.#index] = value;
      return evaluateWith(evaluate, values);
    };
  }
}

/** A code costs as much as some rows: there should be fewer. */
const ROWS_PER_CODE = 2;

/**
 * A function of integers where they lie, beside constants: of each code rather than of each row. Codes that
 * no row has are among them, so where any has an error, or NULL, rows have to tell: `undefined`.
 */
function computeByCode(
  lifted: LiftedFunction,
  vectors: readonly Vector[],
  varying: number,
): Vector | undefined {
  const coded = codedOf(vectors[varying]!);
  if (coded === undefined) return undefined;
  const { numbers, ofCode } = coded;
  const codeCount = numbers.coding.codeMax + 1;
  if (codeCount * ROWS_PER_CODE > numbers.count) return undefined;
  const decoded = vectors.map((vector, index) =>
    index === varying ? ofCode() : constantVector(constantOf(vector), codeCount),
  );
  const computed = lifted.kernel?.(decoded, codeCount);
  if (lifted.type.kind === 'BOOL') {
    return computed?.kind === 'boolean' ? new CodedTruths(numbers, computed.values) : undefined;
  }
  if (!isNumber(lifted.type)) return undefined;
  const results =
    computed === undefined ? evaluateCodes(lifted, decoded, codeCount) : doublesOf(computed);
  return results && new CodedNumbers(numbers, results);
}

type Coded = { readonly numbers: PackedNumbers; readonly ofCode: () => NumberVector };

function codedOf(vector: Vector): Coded | undefined {
  if (vector.form === 'packed numbers') {
    return { numbers: vector, ofCode: () => vector.coding.decoded() };
  }
  if (vector.form !== 'coded numbers') return undefined;
  const { numbers, numberOfCode } = vector;
  return { numbers, ofCode: () => numberVector(numberOfCode, numberOfCode.length) };
}

function doublesOf(vector: Vector): Float64Array | undefined {
  return vector.kind === 'number' && vector.nulls === undefined ? vector.values : undefined;
}

function evaluateCodes(
  { evaluate }: LiftedFunction,
  vectors: readonly Vector[],
  codeCount: number,
): Float64Array | undefined {
  const results = new Float64Array(codeCount);
  const values: SqlValue[] = vectors.map(constantOf);
  const varying = vectors.findIndex(({ kind }) => kind === 'number');
  const { values: numbers } = vectors[varying] as NumberVector;
  try {
    for (let code = 0; code < codeCount; code++) {
      values[varying] = numbers[code]!;
      const result = evaluateWith(evaluate, values);
      if (typeof result !== 'number') return undefined;
      results[code] = result;
    }
  } catch (error) {
    if (error instanceof QueryError && error.code === 'query_failed') return undefined;
    throw error;
  }
  return results;
}

/** One value of a function, its work counted by the sizes of what it takes and gives. */
function evaluateWith(evaluate: ScalarOverload['evaluate'], values: readonly SqlValue[]): SqlValue {
  let steps = 0;
  for (let index = 0; index < values.length; index++) steps += stepsOf(values[index]);
  spendSteps(steps);
  const result = evaluateOn(evaluate, values);
  spendSteps(stepsOf(result));
  if (typeof result === 'string' && result.length >= ROPE_LENGTH_MIN) flatten(result);
  return result;
}

/** From this length on a text is made one piece of memory; shorter ones are so soon, and weigh little. */
const ROPE_LENGTH_MIN = 16_384;

/**
 * V8 keeps a text that was joined of others as a tree of them, of some hundred bytes, until somebody reads it.
 * A sort would make megabytes of each of its rows then, at once and where nobody looks at what the heap holds.
 * Reading a character is what makes it flat.
 */
function flatten(text: string): void {
  text.charCodeAt(0);
}

/** Most functions take one to three arguments; spreading an array costs more than they do. */
function evaluateOn(evaluate: ScalarOverload['evaluate'], values: readonly SqlValue[]): SqlValue {
  switch (values.length) {
    case 1:
      return evaluate(values[0]!);
    case 2:
      return evaluate(values[0]!, values[1]!);
    case 3:
      return evaluate(values[0]!, values[1]!, values[2]!);
    default:
      return evaluate(...values);
  }
}

/** Bytes that are looked at in the time of a step. */
const BYTES_PER_STEP = 4;

const NULL = -1;

/**
 * The part of each string that a function gives: as strings of their own, one for each row, end to end. `evaluate` gives
 * the part of a code's string where the finder cannot tell.
 */
function partOfEach(
  finder: PartFinder,
  { codes, count, dictionary: strings }: TextVector,
  evaluate: (code: number) => SqlValue,
): DictionaryVector {
  const parts = new TextBlock(count);
  const partCodes = carvedInt32(count);
  let lookedAt = 0;
  for (let row = 0; row < count; row++) {
    const code = codes[row]!;
    if (code < 0) {
      partCodes[row] = NULL;
      continue;
    }
    const { bytes, start, end } = strings.range(code);
    lookedAt += end - start;
    const isFound = finder.find(bytes, start, end);
    if (isFound === undefined) {
      const part = evaluate(code);
      partCodes[row] = typeof part === 'string' ? parts.addText(part) : NULL;
    } else if (!isFound || finder.start < 0) partCodes[row] = NULL;
    else partCodes[row] = parts.add(bytes, finder.start, finder.end);
  }
  spendSteps(count + Math.floor(lookedAt / BYTES_PER_STEP));
  return dictionaryVector(partCodes, count, parts.dictionary());
}

const UNSET = 0;
const ERROR_PLACE = -2;

/**
 * What a function makes of each entry of one dictionary, computed when a live row first carries
 * it. It is itself a dictionary, with the codes of the one below; NULL, when the function makes a
 * value of it, has the code after all others.
 *
 * `#places[code]` is UNSET, NULL, ERROR_PLACE, or the place of the value in `#values`, from 1.
 */
export class ValueCache implements Dictionary {
  readonly size: number;
  /** Two entries may well become one value. */
  readonly isDistinct = false;
  readonly #places: Int32Array;
  readonly #values: SqlValue[] = [];
  readonly #errors = new Map<number, QueryError>();
  readonly #evaluate: (code: number) => SqlValue;

  /** `evaluate` is given a code, -1 for NULL, and may throw a QueryError. */
  constructor(dictionarySize: number, evaluate: (code: number) => SqlValue) {
    this.size = dictionarySize + 1;
    this.#places = new Int32Array(this.size);
    this.#evaluate = evaluate;
  }

  value(code: number): SqlValue {
    const place = this.#places[code]!;
    return place > 0 ? this.#values[place - 1]! : null;
  }

  /** The value of each entry; throws the error of the first that has one. */
  apply({ codes, count }: DictionaryVector): Vector {
    const places = this.#places;
    const nullCode = this.size - 1;
    let changed: Int32Array | undefined;
    for (let i = 0; i < count; i++) {
      const code = codes[i]! < 0 ? nullCode : codes[i]!;
      let place = places[code]!;
      if (place === UNSET) place = this.#compute(code);
      if (place === ERROR_PLACE) throw this.#errors.get(code)!;
      const result = place === NULL ? -1 : code;
      if (result !== codes[i]) {
        changed ??= codes.slice(0, count);
        changed[i] = result;
      }
    }
    return dictionaryVector(changed ?? codes, count, this);
  }

  #compute(code: number): number {
    let place: number;
    try {
      const value = this.#evaluate(code === this.size - 1 ? -1 : code);
      place = value === null ? NULL : this.#values.push(value);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#errors.set(code, error);
      place = ERROR_PLACE;
    }
    this.#places[code] = place;
    return place;
  }
}

/** States below it are a truth plus one: FALSE, TRUE or UNKNOWN. */
const ERROR_STATE = 4;

/**
 * States of a cache, at most, a power of two. All open segments of a source share one dictionary of up to some million
 * entries, of which a run meets a few thousand: one state for each entry would be a megabyte for each run.
 */
const STATES_MAX = 32_768;

/** The state of an entry is at `code + 1`, modulo STATES_MAX. */
const PLACE_MASK = STATES_MAX - 1;

/**
 * What a predicate says of each entry of one dictionary, asked when a live row first carries it.
 * State `code + 1` is the entry's, so that state 0 is that of NULL. Entries of a large dictionary share states: each has
 * the verdict on the entry that was met last, whose code stands beside it, and others are asked again.
 */
export class PredicateCache {
  readonly #states: Uint8Array;
  /** By state, of a large dictionary. */
  readonly #codes: Int32Array | undefined;
  readonly #errors = new Map<number, QueryError>();
  readonly #evaluate: (code: number) => SqlValue;

  /** `evaluate` is given a code, -1 for NULL, and may throw a QueryError. */
  constructor(dictionarySize: number, evaluate: (code: number) => SqlValue) {
    const isShared = dictionarySize >= STATES_MAX;
    this.#states = new Uint8Array(isShared ? STATES_MAX : dictionarySize + 1);
    this.#codes = isShared ? new Int32Array(STATES_MAX) : undefined;
    this.#evaluate = evaluate;
  }

  /** The verdict on each entry; throws the error of the first that has one. */
  apply({ codes, count }: DictionaryVector): Vector {
    const states = this.#states;
    const holders = this.#codes;
    const truths = carvedUint8(count);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      const place = (code + 1) & PLACE_MASK;
      const isKnown = states[place] !== UNSET && (holders === undefined || holders[place] === code);
      if (!isKnown) this.#ask(code, place);
      const state = states[place]!;
      if (state === ERROR_STATE) throw this.#errors.get(code)!;
      truths[i] = state - 1;
    }
    return booleanVector(truths, count);
  }

  #ask(code: number, place: number): void {
    if (this.#codes !== undefined) this.#codes[place] = code;
    try {
      this.#states[place] = truthOf(this.#evaluate(code)) + 1;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#errors.set(code, error);
      this.#states[place] = ERROR_STATE;
    }
  }
}
