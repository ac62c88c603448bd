import type { VectorFunction } from '../../column/chunk.ts';
import type { SqlType } from '../../column/type.ts';
import { typesEqual } from '../../column/type.ts';
import type { NumberVector, Vector } from '../../column/vector.ts';
import { constantVector, isOfStrings } from '../../column/vector.ts';
import { castValue } from '../../function/cast.ts';
import { isRead, type Kind, readAs } from '../../function/dynamic.ts';
import { QueryError } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import { liftOverVectors } from './lift.ts';

/** A DYNAMIC value, or a NUMBER, where `type` is wanted, by the rules of `readAs`. */
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
  const form = formOf(vector);
  if (form === undefined) return undefined;
  if (type.kind === 'ARRAY' && form === 'nested') return undefined;
  const isScalar = type.kind !== 'ARRAY' && type.kind !== 'STRUCT' && type.kind !== 'NULL';
  if (form === 'nested' || !isScalar || !isRead(form, type.kind)) {
    return constantVector(null, vector.count);
  }
  return isUnchanged(vector, type) ? vector : undefined;
}

/** The kind of all values that are not NULL, by the form they lie in. */
function formOf(vector: Vector): Kind | 'nested' | undefined {
  switch (vector.kind) {
    case 'number':
      return 'number';
    case 'boolean':
      return 'BOOL';
    case 'nested':
      return 'nested';
    case 'dictionary':
      // A dictionary of stored strings holds nothing else.
      return isOfStrings(vector.dictionary) ? 'text' : undefined;
    default:
      return undefined;
  }
}

/** Whether values that are read as the type are as they are read. */
function isUnchanged(vector: Vector, { kind }: SqlType): boolean {
  switch (vector.kind) {
    case 'number':
      if (kind !== 'INT64') return kind === 'NUMBER' || kind === 'FLOAT64';
      return vector.form === 'packed numbers' || isIntegral(vector);
    case 'boolean':
      return kind === 'BOOL';
    default:
      return kind === 'STRING';
  }
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
  const isSame = to.kind === 'NUMBER' || (to.kind === 'DYNAMIC' && from.kind !== 'ARRAY');
  if (isSame) return input;
  const isWidening = from.kind === 'INT64' && to.kind === 'FLOAT64';
  return (chunk) => {
    const vector = input(chunk);
    // An INT64 within 2^53 is the same double.
    if (isWidening && vector.kind === 'number') return vector;
    return castEach([vector], chunk.count);
  };
}
