import type { Chunk, VectorFunction } from '../column/chunk.ts';
import { TRUE } from '../column/vector.ts';
import type { Sink } from './sink.ts';
import { positionsWhere, truthBytes } from './truth.ts';

/**
 * Keeps the rows for which every conjunct is TRUE. Conjuncts are evaluated in order, each on the
 * rows that passed the ones before: a later one reads fewer rows and fails for none that is out.
 */
export class FilterOperator implements Sink {
  readonly #conjuncts: readonly VectorFunction[];
  readonly #sink: Sink;

  constructor(conjuncts: readonly VectorFunction[], sink: Sink) {
    this.#conjuncts = conjuncts;
    this.#sink = sink;
  }

  push(chunk: Chunk): boolean {
    const passed = filterChunk(chunk, this.#conjuncts);
    return passed.count === 0 || this.#sink.push(passed);
  }
}

/** Which of two filters a row has to pass is known by where it comes from. */
export class ChoosingFilter implements Sink {
  readonly #filters: { readonly all: FilterOperator; readonly keyed: FilterOperator };
  readonly #isKeyed: () => boolean;

  /**
   * `keyed` has fewer conjuncts: those left out hold for every row of a chunk that is keyed. Asked
   * before each chunk.
   */
  constructor(
    filters: { readonly all: FilterOperator; readonly keyed: FilterOperator },
    isKeyed: () => boolean,
  ) {
    this.#filters = filters;
    this.#isKeyed = isKeyed;
  }

  push(chunk: Chunk): boolean {
    return (this.#isKeyed() ? this.#filters.keyed : this.#filters.all).push(chunk);
  }
}

/** The rows of a chunk for which all conjuncts are TRUE; the chunk itself when all rows are. */
function filterChunk(chunk: Chunk, conjuncts: readonly VectorFunction[]): Chunk {
  let passed = chunk;
  for (const conjunct of conjuncts) {
    if (passed.count === 0) return passed;
    const verdict = conjunct(passed);
    if (verdict.kind === 'constant') {
      if (verdict.value === true) continue;
      return passed.select(new Int32Array(0), 0);
    }
    const { positions, count } = positionsWhere(truthBytes(verdict), passed.count, TRUE);
    if (count < passed.count) passed = passed.select(positions, count);
  }
  return passed;
}
