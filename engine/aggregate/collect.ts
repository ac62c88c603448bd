import { arrayOf, BYTES, INT64, type SqlType, STRING } from '../column/type.ts';
import type { SqlValue } from '../column/value.ts';
import type { Vector } from '../column/vector.ts';
import { valueAt } from '../column/vector.ts';
import { elementsOf } from '../function/dynamic.ts';
import { COLLECTED_BYTES_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';
import type { AggregateFunction, AggregateState, CallModifiers } from './aggregate-function.ts';
import { type CollectedPartial, CollectedRows } from './collected-rows.ts';

/** ARRAY_AGG(x): the values of x, NULLs among them unless they are ignored; NULL if there are no rows. */
export const ARRAY_AGG: AggregateFunction = {
  name: 'array_agg',
  doc: [
    'The values as an array, including NULLs unless the call says `IGNORE NULLS`; NULL without rows.',
    'ARRAY_AGG(x ORDER BY x DESC) FROM UNNEST([1, 3, 2]) AS x',
    '[3, 2, 1]',
  ],
  modifiers: ['distinct', 'nulls', 'order', 'limit'],
  overloads: [
    {
      parameters: ['element'],
      result: (types) => arrayOf(types[0]!),
      create: (_types, _constants, modifiers) =>
        new CollectingState(modifiers, {
          take: modifiers.nulls === 'ignore' ? (value) => value ?? undefined : (value) => value,
          finish: (values) => values,
        }),
    },
  ],
};

/** ARRAY_CONCAT_AGG(x): the elements of the arrays, one array after the other; NULLs are left out. */
export const ARRAY_CONCAT_AGG: AggregateFunction = {
  name: 'array_concat_agg',
  doc: [
    'The elements of all arrays, concatenated. NULLs are ignored; NULL without other values.',
    'ARRAY_CONCAT_AGG([x, x * 10] ORDER BY x) FROM UNNEST([1, 2]) AS x',
    '[1, 10, 2, 20]',
  ],
  modifiers: ['distinct', 'order', 'limit'],
  overloads: [
    {
      parameters: ['list'],
      result: (types) => listType(types[0]!),
      create: (_types, _constants, modifiers) =>
        new CollectingState(modifiers, {
          take: (value) => elementsOf(value) ?? undefined,
          finish: (arrays) => arrays.flatMap((array) => array as readonly SqlValue[]),
        }),
    },
  ],
};

/** STRING_AGG(x[, delimiter]): the texts with a delimiter between them, a comma; NULLs are left out. */
export const STRING_AGG: AggregateFunction = {
  name: 'string_agg',
  doc: [
    'The texts or BYTES joined with a separator (default: a comma). NULLs are ignored; NULL without other values.',
    "STRING_AGG(x, '-' ORDER BY x) FROM UNNEST(['b', NULL, 'a']) AS x",
    "'a-b'",
  ],
  modifiers: ['distinct', 'order', 'limit'],
  overloads: [STRING, BYTES].flatMap((type) =>
    [[], [type]].map((constants) => ({
      parameters: [type],
      constants,
      result: type,
      create: (
        _types: readonly SqlType[],
        [delimiter = ',']: readonly SqlValue[],
        modifiers: CallModifiers,
      ) =>
        new CollectingState(modifiers, {
          take: (value) => value ?? undefined,
          finish: joined(delimiter),
        }),
    })),
  ),
};

function joined(delimiter: SqlValue): (texts: readonly SqlValue[]) => SqlValue {
  if (typeof delimiter !== 'string') {
    throw new QueryError('query_failed', 'the delimiter of STRING_AGG must not be NULL');
  }
  return (texts) => {
    const length = (texts as readonly string[]).reduce(
      (total, text) => total + text.length + delimiter.length,
      0,
    );
    if (length <= COLLECTED_BYTES_MAX) return texts.join(delimiter);
    throw new QueryError(
      'query_limit',
      `STRING_AGG makes texts of at most ${COLLECTED_BYTES_MAX} characters (COLLECTED_BYTES_MAX); got more`,
    );
  };
}

/** The elements of an event's list are DYNAMIC; those of a bare NULL are none. */
function listType(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return type;
  return arrayOf(type.kind === 'NULL' ? INT64 : type);
}

type Collecting = {
  /** What is kept of a value; `undefined` leaves its row out. */
  readonly take: (value: SqlValue) => SqlValue | undefined;
  /** The answer, given what was kept of one row or more. */
  readonly finish: (values: readonly SqlValue[]) => SqlValue;
};

/** Keeps one value of each row, in the order of the call; NULL where a group has none. */
class CollectingState implements AggregateState {
  readonly #rows: CollectedRows;
  readonly #collecting: Collecting;

  constructor({ order, limit }: CallModifiers, collecting: Collecting) {
    this.#rows = new CollectedRows(order, limit);
    this.#collecting = collecting;
  }

  update(groups: Int32Array, count: number, _groupCount: number, vectors: readonly Vector[]): void {
    const [values, ...keys] = vectors;
    for (let row = 0; row < count; row++) {
      const value = this.#collecting.take(valueAt(values!, row));
      if (value !== undefined) this.#rows.add(groups[row]!, value, keys, row);
    }
  }

  combine(partial: unknown, groups: Int32Array): void {
    this.#rows.combine(partial as CollectedPartial, groups); // By contract, as partial() gave it.
  }

  clear(group: number): void {
    this.#rows.clear(group);
  }

  partial(): CollectedPartial {
    return this.#rows.partial();
  }

  finalize(group: number): SqlValue {
    const values = this.#rows.valuesOf(group);
    return values.length === 0 ? null : this.#collecting.finish(values);
  }
}
