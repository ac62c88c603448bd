import { CodedNumbers } from '../../column/coded-numbers.ts';
import { CodedTruths } from '../../column/coded-truths.ts';
import type { PackedNumbers } from '../../column/packed-numbers.ts';
import { isNumber } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { NumberVector, Vector } from '../../column/vector.ts';
import { constantVector, numberVector } from '../../column/vector.ts';
import { QueryError } from '../../query-error.ts';
import { evaluateWith } from './evaluate-with.ts';
import type { LiftedFunction } from './lift.ts';

/** A code costs as much as some rows: there should be fewer. */
const ROWS_PER_CODE = 2;

/**
 * A function of integers where they lie, beside constants: of each code rather than of each row. Codes that
 * no row has are among them, so where any has an error, or NULL, rows have to tell: `undefined`.
 */
export function computeByCode(
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

function constantOf(vector: Vector): SqlValue {
  return vector.kind === 'constant' ? vector.value : null;
}
