import { KeyColumn } from '../aggregate/key-column.ts';
import { carvedFloat64, carvedInt32, carvedUint8 } from '../column/arrays.ts';
import { type SqlType, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import {
  booleanVector,
  type ConstantVector,
  constantVector,
  type Dictionary,
  type DictionaryVector,
  dictionaryVector,
  isOfStrings,
  type NestedSource,
  type NestedVector,
  numberVector,
  UNKNOWN,
  type Vector,
  valueAt,
  valueVector,
} from '../column/vector.ts';
import { spendSteps, stepsOf } from '../function/work-meter.ts';
import { truthBytes, truthOf } from './row-wise.ts';

/** Entry `i` of `vector` belongs at `positions[i]` of the merged vector. */
export type Piece = { readonly vector: Vector; readonly positions: Int32Array };

/**
 * One vector of `count` entries out of pieces, which together name each position once. Pieces of
 * one form stay in it, and constants join any form they fit; otherwise single values are the form.
 */
export function mergeVectors(pieces: readonly Piece[], count: number): Vector {
  const filled = pieces.filter((piece) => piece.vector.count > 0);
  const constant = commonConstant(filled);
  if (constant !== undefined) return constantVector(constant, count);
  if (filled.every(fitsNumbers)) return mergeNumbers(filled, count);
  if (filled.every(fitsBooleans)) return mergeBooleans(filled, count);
  const dictionary = commonDictionary(filled);
  if (dictionary !== undefined) return mergeCodes(filled, count, dictionary);
  if (filled.every(fitsTexts)) return mergeTexts(filled, count);
  const source = commonSource(filled);
  if (source !== undefined) return mergeNodes(filled, count, source);
  return mergeValues(filled, count);
}

/** The vectors end to end. */
export function concatVectors(vectors: readonly Vector[]): Vector {
  if (vectors.length === 1) return vectors[0] as Vector;
  let count = 0;
  const pieces = vectors.map((vector) => {
    const positions = new Int32Array(vector.count);
    for (let i = 0; i < positions.length; i++) positions[i] = count + i;
    count += vector.count;
    return { vector, positions };
  });
  return mergeVectors(pieces, count);
}

/** The value of all pieces, if all are constants of one value; NULL for no pieces. */
function commonConstant(pieces: readonly Piece[]): SqlValue | undefined {
  let value: SqlValue | undefined;
  for (const { vector } of pieces) {
    if (vector.kind !== 'constant') return undefined;
    if (value !== undefined && !Object.is(value, vector.value)) return undefined;
    value = vector.value;
  }
  return value === undefined ? null : value;
}

function isConstantNull(vector: Vector): vector is ConstantVector {
  return vector.kind === 'constant' && vector.value === null;
}

function fitsNumbers({ vector }: Piece): boolean {
  return (
    vector.kind === 'number' ||
    (vector.kind === 'constant' && (vector.value === null || typeof vector.value === 'number'))
  );
}

function fitsBooleans({ vector }: Piece): boolean {
  return (
    vector.kind === 'boolean' ||
    (vector.kind === 'constant' && (vector.value === null || typeof vector.value === 'boolean'))
  );
}

function mergeNumbers(pieces: readonly Piece[], count: number): Vector {
  const values = new Float64Array(count);
  let nulls: Uint8Array | undefined;
  for (const { vector, positions } of pieces) {
    const size = vector.count;
    if (vector.kind === 'number') {
      for (let i = 0; i < size; i++) values[positions[i]!] = vector.values[i]!;
      if (vector.nulls !== undefined) {
        nulls ??= new Uint8Array(count);
        for (let i = 0; i < size; i++) nulls[positions[i]!] = vector.nulls[i]!;
      }
    } else if (isConstantNull(vector)) {
      nulls ??= new Uint8Array(count);
      for (let i = 0; i < size; i++) nulls[positions[i]!] = 1;
    } else {
      const value = valueAt(vector, 0) as number;
      for (let i = 0; i < size; i++) values[positions[i]!] = value;
    }
  }
  return numberVector(values, count, nulls);
}

function mergeBooleans(pieces: readonly Piece[], count: number): Vector {
  const values = new Uint8Array(count).fill(UNKNOWN);
  for (const { vector, positions } of pieces) {
    const truths = truthBytes(vector);
    for (let i = 0; i < vector.count; i++) values[positions[i]!] = truths[i]!;
  }
  return booleanVector(values, count);
}

function commonDictionary(pieces: readonly Piece[]): Dictionary | undefined {
  let dictionary: Dictionary | undefined;
  for (const { vector } of pieces) {
    if (isConstantNull(vector)) continue;
    if (vector.kind !== 'dictionary') return undefined;
    if (dictionary !== undefined && dictionary !== vector.dictionary) return undefined;
    dictionary = vector.dictionary;
  }
  return dictionary;
}

function mergeCodes(pieces: readonly Piece[], count: number, dictionary: Dictionary): Vector {
  const codes = new Int32Array(count).fill(-1);
  for (const { vector, positions } of pieces) {
    if (isConstantNull(vector)) continue;
    const from = (vector as DictionaryVector).codes; // commonDictionary has looked.
    for (let i = 0; i < vector.count; i++) codes[positions[i]!] = from[i]!;
  }
  return dictionaryVector(codes, count, dictionary);
}

/** Strings of dictionaries in which values come again. */
function fitsTexts({ vector }: Piece): boolean {
  if (vector.kind !== 'dictionary') return isConstantNull(vector);
  return vector.dictionary.isPerValue !== true && isOfStrings(vector.dictionary);
}

/** A string is looked at once for each dictionary. */
function mergeTexts(pieces: readonly Piece[], count: number): Vector {
  const texts = new KeyColumn(STRING);
  const ids = new Int32Array(count);
  for (const { vector, positions } of pieces) {
    const own = carvedInt32(vector.count);
    texts.assign(vector, vector.count, own);
    for (let i = 0; i < vector.count; i++) ids[positions[i]!] = own[i]!;
  }
  return texts.vector(ids);
}

function commonSource(pieces: readonly Piece[]): NestedSource | undefined {
  let source: NestedSource | undefined;
  for (const { vector } of pieces) {
    if (isConstantNull(vector)) continue;
    if (vector.kind !== 'nested') return undefined;
    if (source !== undefined && source !== vector.source) return undefined;
    source = vector.source;
  }
  return source;
}

function mergeNodes(pieces: readonly Piece[], count: number, source: NestedSource): Vector {
  const rows = new Int32Array(count);
  const nodes = new Int32Array(count).fill(-1);
  for (const { vector, positions } of pieces) {
    if (isConstantNull(vector)) continue;
    const from = vector as NestedVector; // commonSource has looked.
    for (let i = 0; i < vector.count; i++) {
      rows[positions[i]!] = from.rows[i]!;
      nodes[positions[i]!] = from.nodes[i]!;
    }
  }
  return { kind: 'nested', count, source, rows, nodes };
}

function mergeValues(pieces: readonly Piece[], count: number): Vector {
  const values = new Array<SqlValue>(count).fill(null);
  for (const { vector, positions } of pieces) {
    for (let i = 0; i < vector.count; i++) {
      const value = valueAt(vector, i);
      values[positions[i]!] = value;
      // Strings of a dictionary are made here.
      spendSteps(stepsOf(value));
    }
  }
  return valueVector(values);
}

/** The values of one expression of type `type` in the best form for it. */
export function vectorOfValues(values: readonly SqlValue[], type: SqlType): Vector {
  switch (type.kind) {
    case 'BOOL':
      return booleanVector(Uint8Array.from(values, truthOf), values.length);
    case 'INT64':
    case 'FLOAT64':
    case 'NUMBER':
    case 'TIMESTAMP':
    case 'DATETIME':
    case 'DATE':
    case 'TIME':
      return numbersOf(values) ?? valueVector(values);
    default:
      return valueVector(values);
  }
}

/** `undefined` when a value is a bigint: no double holds it. */
function numbersOf(values: readonly SqlValue[]): Vector | undefined {
  const numbers = carvedFloat64(values.length);
  let nulls: Uint8Array | undefined;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'number') {
      numbers[i] = value;
    } else if (value === null) {
      nulls ??= carvedUint8(values.length);
      nulls[i] = 1;
    } else {
      return undefined;
    }
  }
  return numberVector(numbers, values.length, nulls);
}
