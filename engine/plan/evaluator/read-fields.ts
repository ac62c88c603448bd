import type { Chunk, VectorFunction } from '../../column/chunk.ts';
import { constantVector, type Vector } from '../../column/vector.ts';
import type { Expression } from '../expression.ts';

type Field = Extract<Expression, { op: 'dynamic-field' }>;

/**
 * The fields that expressions over one input read, by their paths: each is read once of a chunk, though
 * several expressions have it. Of rows here and there, to read one is to go far in memory.
 */
export class ReadFields {
  readonly #functions = new Map<string, VectorFunction>();

  /** The function of a field, which `compile` makes where it is met first; one of a computed value is its own. */
  functionOf(field: Field, compile: () => VectorFunction): VectorFunction {
    const path = pathOf(field);
    if (path === undefined) return compile();
    const key = JSON.stringify(path);
    const known = this.#functions.get(key);
    if (known !== undefined) return known;
    const once = oncePerChunk(compile());
    this.#functions.set(key, once);
    return once;
  }
}

/** The column and the names that lead from it to the field. */
function pathOf({ input, name }: Field): (string | number)[] | undefined {
  if (input.op === 'column') return [input.id, name];
  const path = input.op === 'dynamic-field' ? pathOf(input) : undefined;
  path?.push(name);
  return path;
}

/** Chunks never change, so what was read of the last is good while it is asked for. */
function oncePerChunk(read: VectorFunction): VectorFunction {
  let last: Chunk | undefined;
  let vector: Vector = constantVector(null, 0);
  return (chunk) => {
    if (chunk !== last) vector = read(chunk);
    last = chunk;
    return vector;
  };
}
