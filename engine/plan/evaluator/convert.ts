import type { VectorFunction } from '../../column/chunk.ts';
import { PackedNumbers } from '../../column/packed-numbers.ts';
import type { SqlType } from '../../column/type.ts';
import { typesEqual } from '../../column/type.ts';
import type { NumberVector, Vector } from '../../column/vector.ts';
import { constantVector, isOfStrings } from '../../column/vector.ts';
import { castValue } from '../../function/cast.ts';
import { readAs } from '../../function/dynamic.ts';
import { QueryError } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import { liftOverVectors } from './lift.ts';

/** A DYNAMIC value where `type` is wanted, by the rules of `readAs`. */
export function readAsFunction(input: VectorFunction, type: SqlType): VectorFunction {
  const readEach = liftOverVectors(
    { type, nulls: 'propagate', evaluate: (value) => readAs(value, type) },
    1,
  );
  return (chunk) => {
    const vector = input(chunk);
    return readByForm(vector, type) ?? readEach([vector], chunk.count);
  };
}

/** The answer, where the vector's form alone tells it for all rows: unchanged, or all NULL. */
function readByForm(vector: Vector, type: SqlType): Vector | undefined {
  if (type.kind === 'DYNAMIC') return vector;
  const isList = type.kind === 'ARRAY';
  const isWritten = isWrittenAsText(type);
  switch (vector.kind) {
    case 'number':
      if (type.kind === 'FLOAT64') return vector;
      if (type.kind === 'INT64') {
        return vector instanceof PackedNumbers || isIntegral(vector) ? vector : undefined;
      }
      break;
    case 'boolean':
      if (type.kind === 'BOOL') return vector;
      break;
    case 'dictionary':
      // A dictionary with a block of strings holds nothing else.
      if (!isOfStrings(vector.dictionary) || isWritten) return undefined;
      if (type.kind === 'STRING') return vector;
      break;
    case 'nested':
      if (isList) return undefined;
      break;
    default:
      return undefined;
  }
  return constantVector(null, vector.count);
}

/** Whether strings of events are read as the type. */
function isWrittenAsText({ kind }: SqlType): boolean {
  return ['TIMESTAMP', 'DATETIME', 'DATE', 'TIME', 'INTERVAL'].includes(kind);
}

/** Whether all entries are safe integers, as INT64 has them in this form. */
function isIntegral({ values, nulls, count }: NumberVector): boolean {
  for (let i = 0; i < count; i++) {
    if (!Number.isSafeInteger(values[i]!) && nulls?.[i] !== 1) return false;
  }
  return true;
}

type Cast = Extract<Expression, { op: 'cast' }>;

/** CAST and SAFE_CAST; errors tell where they stand in the text. */
export function castFunction(input: VectorFunction, cast: Cast): VectorFunction {
  const from = cast.input.type;
  const { type: to, safe, span } = cast;
  if (typesEqual(from, to)) return input;
  const castEach = liftOverVectors(
    {
      type: to,
      nulls: 'propagate',
      evaluate: (value) => {
        try {
          return castValue(value, from, to, safe);
        } catch (error) {
          if (!(error instanceof QueryError) || error.span !== undefined) throw error;
          throw new QueryError(error.code, error.message, span);
        }
      },
    },
    1,
  );
  const isWidening = from.kind === 'INT64' && to.kind === 'FLOAT64';
  return (chunk) => {
    const vector = input(chunk);
    // An INT64 within 2^53 is the same double.
    if (isWidening && vector.kind === 'number') return vector;
    return castEach([vector], chunk.count);
  };
}
