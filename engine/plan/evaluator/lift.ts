import { DictionaryMemo } from '../../aggregate/dictionary-memo.ts';
import { carvedFloat64, carvedUint8 } from '../../column/carved-arrays.ts';
import type { VectorFunction } from '../../column/chunk.ts';
import type { SqlType } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type {
  Dictionary,
  DictionaryVector,
  StringDictionary,
  Vector,
} from '../../column/vector.ts';
import {
  booleanVector,
  constantVector,
  isOfStrings,
  numberVector,
  valueAt,
} from '../../column/vector.ts';
import type { ScalarOverload } from '../../function/scalar-function.ts';
import type { Measure, PartFinder } from '../../function/text/text-measures.ts';
import { spendSteps } from '../../function/work-meter.ts';
import { vectorOfValues } from '../../operator/result-vector.ts';
import { BooleanMemo, STATES_MAX } from './boolean-memo.ts';
import { computeByCode } from './by-code.ts';
import { evaluateWith } from './evaluate-with.ts';
import { BYTES_PER_STEP, partOfEach } from './text-parts.ts';
import type { TextSearch } from './text-search.ts';
import { ValueMemo } from './value-memo.ts';

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
/** … where the dictionary has more entries than so many times the rows. */
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
  const memos = Array.from(
    { length: argumentCount },
    (_, index) => new ArgumentMemo(lifted, index),
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
        return memos[varying]!.apply(vector, vectors);
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

/** Whether a memo of all entries would cost more than to evaluate those that some rows carry. */
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

function isConstantNull(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null;
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

function measureEach(
  measure: Measure,
  strings: StringDictionary,
  { codes, count }: DictionaryVector,
): Vector {
  const numbers = carvedFloat64(count);
  let nulls: Uint8Array | undefined;
  let size = 0;
  for (let i = 0; i < count; i++) {
    if (codes[i]! < 0) {
      nulls ??= carvedUint8(count);
      nulls[i] = 1;
      continue;
    }
    const { bytes, start, end } = strings.range(codes[i]!);
    size += end - start;
    numbers[i] = measure(bytes, start, end);
  }
  spendSteps(count + Math.floor(size / BYTES_PER_STEP));
  return numberVector(numbers, count, nulls);
}

/** What is known of the function when argument `index` varies over a dictionary's entries. */
class ArgumentMemo {
  readonly #lifted: LiftedFunction;
  readonly #index: number;
  /** The other arguments, constants all, that the memos hold for. */
  #constants: readonly SqlValue[] | undefined;
  #booleans: DictionaryMemo<BooleanMemo> | undefined;
  #values: DictionaryMemo<ValueMemo> | undefined;
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
    if (isOfStrings(dictionary)) {
      const measure = this.#findMeasure(constants);
      const part = this.#findPart(constants);
      // Of many entries V8 would move all that is remembered about, and a thread may not keep so much for the next run.
      const isForgotten =
        measure !== undefined || part !== undefined || dictionary.size >= STATES_MAX;
      if (isForgotten && isMetOnce(vector)) {
        if (measure !== undefined) return measureEach(measure, dictionary, vector);
        if (part !== undefined) {
          const evaluate = this.#evaluator(dictionary, constants);
          return partOfEach(part, dictionary, vector, evaluate);
        }
        return evaluateRows(this.#lifted, vectors, count);
      }
    }
    this.#values ??= new DictionaryMemo(
      (dictionary) => new ValueMemo(dictionary.size, this.#evaluator(dictionary, constants)),
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
    }
    this.#booleans ??= new DictionaryMemo(
      (dictionary) => new BooleanMemo(dictionary.size, this.#evaluator(dictionary, constants)),
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
