import {
  carvedFloat64,
  carvedUint8,
  grownFloat64,
  grownUint8,
  NO_FLOAT64,
  NO_UINT8,
} from '../column/arrays.ts';
import { BOOL } from '../column/type.ts';
import { type Interval, isInterval, type SqlValue } from '../column/value.ts';
import {
  type BooleanVector,
  type DictionaryVector,
  detachedValue,
  isOfStrings,
  numberVector,
  TRUE,
  UNKNOWN,
  type Vector,
  valueAt,
} from '../column/vector.ts';
import { compareNumbers, compareText, compareValues } from '../function/comparison.ts';
import { orderedKind } from '../function/dynamic.ts';
import type { FunctionDoc } from '../function/scalar-function.ts';
import { compareAmounts } from '../function/time/interval.ts';
import type { AggregateFunction, AggregateState } from './aggregate-function.ts';
import { type ChunkRuns, comesInRuns, runEnd } from './chunk-runs.ts';
import { fromPortable, type PortableValue, toPortable } from './distinct-values.ts';
import type { GroupedNumbers } from './exact-sums.ts';
import { codeValue, NumberReader } from './number-reader.ts';

/** MIN(x): NaN if any value is, NULL if none is there. */
export const MIN: AggregateFunction = extreme(
  'min',
  [
    'The least value; NaN if some value is NaN. NULLs are ignored; NULL without other values.',
    'MIN(x) FROM UNNEST([3, NULL, 2]) AS x',
    '2',
  ],
  'least',
);

/** MAX(x): NaN if any value is, NULL if none is there. */
export const MAX: AggregateFunction = extreme(
  'max',
  [
    'The greatest value; NaN if some value is NaN. NULLs are ignored; NULL without other values.',
    "MAX(x) FROM UNNEST(['a', 'c', 'b']) AS x",
    "'c'",
  ],
  'greatest',
);

/** LOGICAL_AND(x): whether x is TRUE in all rows that have it, which is its least value. */
export const LOGICAL_AND: AggregateFunction = logical(
  'logical_and',
  [
    'Whether a condition is TRUE in all rows. NULLs are ignored; NULL without other values.',
    'LOGICAL_AND(x > 1) FROM UNNEST([1, 2, NULL]) AS x',
    'FALSE',
  ],
  'least',
);

/** LOGICAL_OR(x): whether x is TRUE in any row, which is its greatest value. */
export const LOGICAL_OR: AggregateFunction = logical(
  'logical_or',
  [
    'Whether a condition is TRUE in some row. NULLs are ignored; NULL without other values.',
    'LOGICAL_OR(x > 1) FROM UNNEST([1, 2, NULL]) AS x',
    'TRUE',
  ],
  'greatest',
);

function logical(name: string, doc: FunctionDoc, side: Side): AggregateFunction {
  return {
    name,
    doc,
    fails: 'never',
    overloads: [{ parameters: [BOOL], result: BOOL, create: () => new ExtremeState(side) }],
  };
}

function extreme(name: string, doc: FunctionDoc, side: Side): AggregateFunction {
  return {
    name,
    doc,
    fails: 'never',
    extreme: side === 'least' ? 'min' : 'max',
    overloads: [
      {
        parameters: ['orderable'],
        result: (types) => types[0]!,
        create: () => new ExtremeState(side),
      },
    ],
  };
}

type Side = 'least' | 'greatest';

/** Bits of `#saw`: the kinds of values a group has seen. */
const SAW_NUMBER = 1;
const SAW_STRING = 2;
const SAW_FALSE = 4;
const SAW_TRUE = 8;

type ExtremePartial = {
  readonly saw: Uint8Array;
  readonly numbers: Float64Array;
  readonly wideGroups: readonly number[];
  readonly wideNumbers: readonly bigint[];
  readonly stringGroups: readonly number[];
  readonly strings: readonly string[];
  readonly intervalGroups: readonly number[];
  readonly intervals: readonly Interval[];
};

/** The least or greatest value per group and kind; which kind counts is decided at the end. */
class ExtremeState implements AggregateState {
  readonly isCertain = true;
  readonly #side: Side;
  readonly #sign: 1 | -1;
  readonly #reader = new NumberReader();
  /** Made for the first dictionary. */
  #recent: RecentPairs | undefined;
  #saw: Uint8Array<ArrayBuffer> = NO_UINT8;
  #numbers: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** Integers beyond 2^53, which doubles do not hold. */
  readonly #wide = new Map<number, bigint>();
  readonly #strings = new Map<number, string>();
  /** These stand beside no other kind: no event holds one. */
  readonly #intervals = new Map<number, Interval>();

  constructor(side: Side) {
    this.#side = side;
    this.#sign = side === 'least' ? 1 : -1;
  }

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#reserve(groupCount);
    const vector = vectors[0]!;
    const numbers = this.#reader.read(vector, count);
    if (numbers !== undefined) {
      const kernel = this.#side === 'least' ? keepLeast : keepGreatest;
      const { values, nulls } = numbers;
      kernel(this.#numbers, this.#saw, SAW_NUMBER, { groups, count, values, nulls });
      return;
    }
    switch (vector.kind) {
      case 'boolean':
        this.#addBooleans(groups, count, vector);
        return;
      case 'dictionary':
        this.#addCodes(groups, count, vector);
        return;
      case 'value':
        for (let row = 0; row < count; row++) this.#addValue(groups[row]!, vector.values[row]!);
        return;
      case 'constant':
        for (let row = 0; row < count; row++) this.#addValue(groups[row]!, vector.value);
        return;
      case 'number':
      case 'nested':
        return;
    }
  }

  updateRuns(runs: ChunkRuns, groupCount: number, vectors: readonly Vector[]): boolean {
    const tally = runs.tally(vectors[0]!);
    if (tally === undefined) return false;
    this.#reserve(groupCount);
    const isLeast = this.#side === 'least';
    const better = isLeast ? Math.min : Math.max;
    let start = 0;
    for (let run = 0; run < tally.ends.length; run++) {
      const group = runs.groups[run]!;
      const end = tally.ends[run]!;
      // In order: the least is the first, the greatest the last. A NaN stays.
      const value = tally.coding.value(tally.codes[isLeast ? start : end - 1]!);
      this.#numbers[group] = better(this.#numbers[group]!, value);
      this.#saw[group]! |= SAW_NUMBER;
      start = end;
    }
    return true;
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as ExtremePartial; // By contract, what partial() of this class gave.
    this.#reserve(groupCount);
    for (let index = 0; index < theirs.saw.length; index++) {
      const group = groups[index]!;
      this.#saw[group]! |= theirs.saw[index]!;
      const better = Math[this.#side === 'least' ? 'min' : 'max'];
      this.#numbers[group] = better(this.#numbers[group]!, theirs.numbers[index]!);
    }
    theirs.wideGroups.forEach((index, position) => {
      this.#addWide(groups[index]!, theirs.wideNumbers[position]!);
    });
    theirs.stringGroups.forEach((index, position) => {
      this.#addString(groups[index]!, theirs.strings[position]!);
    });
    theirs.intervalGroups.forEach((index, position) => {
      this.#addInterval(groups[index]!, theirs.intervals[position]!);
    });
  }

  partial(groupCount: number): ExtremePartial {
    return {
      saw: this.#saw.slice(0, groupCount),
      numbers: this.#numbers.slice(0, groupCount),
      wideGroups: [...this.#wide.keys()],
      wideNumbers: [...this.#wide.values()],
      stringGroups: [...this.#strings.keys()],
      strings: [...this.#strings.values()],
      intervalGroups: [...this.#intervals.keys()],
      intervals: [...this.#intervals.values()],
    };
  }

  finalize(group: number): SqlValue {
    const saw = this.#saw[group] ?? 0;
    const wide = this.#wide.get(group);
    const hasDouble = (saw & SAW_NUMBER) !== 0;
    const hasBoolean = (saw & (SAW_FALSE | SAW_TRUE)) !== 0;
    const kind = orderedKind({
      number: hasDouble || wide !== undefined,
      text: (saw & SAW_STRING) !== 0,
      BOOL: hasBoolean,
    });
    switch (kind) {
      case 'number':
        return this.#number(hasDouble ? this.#numbers[group]! : undefined, wide);
      case 'text':
        return this.#strings.get(group)!;
      case 'BOOL':
        return this.#side === 'least' ? (saw & SAW_FALSE) === 0 : (saw & SAW_TRUE) !== 0;
      case undefined:
        return this.#intervals.get(group) ?? null;
    }
  }

  /** Where they are numbers, none beyond doubles, or NULL: not NULL alone, which tells of no form. */
  finalizeAll(groups: Int32Array): Vector | undefined {
    if (this.#wide.size + this.#strings.size + this.#intervals.size > 0) return undefined;
    const answers = carvedFloat64(groups.length);
    let nulls: Uint8Array | undefined;
    let numberCount = 0;
    for (let index = 0; index < groups.length; index++) {
      const group = groups[index]!;
      const saw = this.#saw[group] ?? 0;
      if (saw > SAW_NUMBER) return undefined;
      if (saw === SAW_NUMBER) {
        answers[index] = this.#numbers[group]! + 0;
        numberCount++;
      } else {
        nulls ??= carvedUint8(groups.length);
        nulls[index] = 1;
      }
    }
    return numberCount === 0 ? undefined : numberVector(answers, groups.length, nulls);
  }

  #number(double: number | undefined, wide: bigint | undefined): number | bigint {
    if (double === undefined) return wide!;
    // `+ 0` makes 0 of -0: the two are equal, and either may have come first.
    if (wide === undefined || Number.isNaN(double)) return double + 0;
    // Of a double and a bigint that are equal, the bigint, whose digits are shown in full.
    return compareNumbers(wide, double) * this.#sign <= 0 ? wide : double;
  }

  #reserve(groupCount: number): void {
    const worst = this.#side === 'least' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    this.#numbers = grownFloat64(this.#numbers, groupCount, worst);
    this.#saw = grownUint8(this.#saw, groupCount);
  }

  #addBooleans(groups: Int32Array, count: number, vector: BooleanVector): void {
    for (let row = 0; row < count; row++) {
      const truth = vector.values[row];
      if (truth !== UNKNOWN) this.#saw[groups[row]!]! |= truth === TRUE ? SAW_TRUE : SAW_FALSE;
    }
  }

  #addCodes(groups: Int32Array, count: number, vector: DictionaryVector): void {
    const values = this.#reader.codeValues(vector.dictionary);
    this.#recent ??= new RecentPairs();
    const recent = this.#recent;
    recent.enter(vector.dictionary);
    for (let row = 0; row < count; row++) {
      const code = vector.codes[row]!;
      if (code < 0 || recent.has(groups[row]!, code)) continue;
      this.#addValue(groups[row]!, codeValue(values, code));
    }
  }

  #addValue(group: number, value: SqlValue): void {
    if (typeof value === 'number') {
      const better = Math[this.#side === 'least' ? 'min' : 'max'];
      this.#numbers[group] = better(this.#numbers[group]!, value);
      this.#saw[group]! |= SAW_NUMBER;
    } else if (typeof value === 'bigint') this.#addWide(group, value);
    else if (typeof value === 'string') this.#addString(group, value);
    else if (typeof value === 'boolean') this.#saw[group]! |= value ? SAW_TRUE : SAW_FALSE;
    else if (isInterval(value)) this.#addInterval(group, value);
  }

  #addInterval(group: number, value: Interval): void {
    const best = this.#intervals.get(group);
    if (best === undefined || compareAmounts(value, best) * this.#sign < 0) {
      this.#intervals.set(group, value);
    }
  }

  #addWide(group: number, value: bigint): void {
    const best = this.#wide.get(group);
    if (best === undefined || compareNumbers(value, best) * this.#sign < 0) {
      this.#wide.set(group, value);
    }
  }

  #addString(group: number, value: string): void {
    const best = this.#strings.get(group);
    if (best === undefined || compareText(value, best) * this.#sign < 0) {
      this.#strings.set(group, value);
      this.#saw[group]! |= SAW_STRING;
    }
  }
}

const RECENT_PAIRS = 4096;

/**
 * A memory of (group, code) pairs met in one dictionary that may forget but never errs: each slot
 * holds the last pair that fell on it. It spares repeated codes a second look at their string.
 */
class RecentPairs {
  readonly #pairs = new Float64Array(RECENT_PAIRS).fill(-1);
  #dictionary: DictionaryVector['dictionary'] | undefined;

  enter(dictionary: DictionaryVector['dictionary']): void {
    if (dictionary === this.#dictionary) return;
    this.#dictionary = dictionary;
    this.#pairs.fill(-1);
  }

  /** Whether the pair is remembered; it is from now on. */
  has(group: number, code: number): boolean {
    const slot = (Math.imul(group, 0x9e3779b1) ^ code) & (RECENT_PAIRS - 1);
    const pair = group * 2 ** 31 + code; // Below 2^53: there are fewer than 2^22 groups.
    if (this.#pairs[slot] === pair) return true;
    this.#pairs[slot] = pair;
    return false;
  }
}

/**
 * ANY_VALUE(x): GoogleSQL leaves open which; here it is the least in the order of ORDER BY, so that
 * the answer does not depend on how rows are ordered or split. Of a DYNAMIC value a record or a list
 * is taken where a group has nothing else.
 */
export const ANY_VALUE: AggregateFunction = {
  name: 'any_value',
  doc: [
    'A value of the rows: always the least in the order of `ORDER BY`. NULL if all are NULL.',
    'ANY_VALUE(x) FROM UNNEST([3, NULL, 1]) AS x',
    '1',
  ],
  fails: 'never',
  overloads: [
    { parameters: ['any'], result: (types) => types[0]!, create: () => new AnyValueState() },
  ],
};

type AnyValuePartial = {
  readonly scalars: unknown;
  readonly groups: readonly number[];
  readonly composites: readonly PortableValue[];
};

/** The least scalar, and the least of all other values, of each group. */
class AnyValueState implements AggregateState {
  readonly #scalars = new ExtremeState('least');
  readonly #composites = new Map<number, SqlValue>();

  update(groups: Int32Array, count: number, groupCount: number, vectors: readonly Vector[]): void {
    this.#scalars.update(groups, count, groupCount, vectors);
    const vector = vectors[0]!;
    if (vector.kind === 'number' || vector.kind === 'boolean') return;
    if (vector.kind === 'dictionary' && isOfStrings(vector.dictionary)) return;
    for (let row = 0; row < count; row++) this.#add(groups[row]!, valueAt(vector, row));
  }

  combine(partial: unknown, groups: Int32Array, groupCount: number): void {
    const theirs = partial as AnyValuePartial; // By contract, what partial() of this class gave.
    this.#scalars.combine(theirs.scalars, groups, groupCount);
    for (const [index, group] of theirs.groups.entries()) {
      this.#add(groups[group]!, fromPortable(theirs.composites[index]!));
    }
  }

  partial(groupCount: number): AnyValuePartial {
    return {
      scalars: this.#scalars.partial(groupCount),
      groups: [...this.#composites.keys()],
      composites: Array.from(this.#composites.values(), toPortable),
    };
  }

  finalize(group: number): SqlValue {
    return this.#scalars.finalize(group) ?? this.#composites.get(group) ?? null;
  }

  #add(group: number, value: SqlValue): void {
    if (typeof value !== 'object' || value === null || isInterval(value)) return;
    const least = this.#composites.get(group);
    if (least !== undefined && compareValues(value, least) >= 0) return;
    this.#composites.set(group, detachedValue(value));
  }
}

/**
 * Brings `best` of each group down to its least value and sets `bit` in `saw` where there is one. A
 * NaN takes the place of any number and none takes its place: no comparison with it holds.
 */
function keepLeast(
  best: Float64Array,
  saw: Uint8Array,
  bit: number,
  numbers: GroupedNumbers,
): void {
  const { groups, count, values, nulls } = numbers;
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      const group = groups[start]!;
      if (nulls === undefined || hasValue(nulls, start, end)) saw[group]! |= bit;
      best[group] = leastOf(best[group]!, values, nulls, start, end);
    }
    return;
  }
  for (let row = 0; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const group = groups[row]!;
    const value = values[row]!;
    if (value < best[group]! || Number.isNaN(value)) best[group] = value;
    saw[group]! |= bit;
  }
}

/** As `keepLeast`, for the greatest value. */
function keepGreatest(
  best: Float64Array,
  saw: Uint8Array,
  bit: number,
  numbers: GroupedNumbers,
): void {
  const { groups, count, values, nulls } = numbers;
  if (comesInRuns(groups, count)) {
    for (let start = 0, end = 0; start < count; start = end) {
      end = runEnd(groups, start, count);
      const group = groups[start]!;
      if (nulls === undefined || hasValue(nulls, start, end)) saw[group]! |= bit;
      best[group] = greatestOf(best[group]!, values, nulls, start, end);
    }
    return;
  }
  for (let row = 0; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) continue;
    const group = groups[row]!;
    const value = values[row]!;
    if (value > best[group]! || Number.isNaN(value)) best[group] = value;
    saw[group]! |= bit;
  }
}

function hasValue(nulls: Uint8Array, start: number, end: number): boolean {
  for (let row = start; row < end; row++) if (nulls[row] === 0) return true;
  return false;
}

function leastOf(
  initial: number,
  values: Float64Array,
  nulls: Uint8Array | undefined,
  start: number,
  end: number,
): number {
  let best = initial;
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    // Most values are no better, so the second test is rarely reached.
    if (value >= best || (nulls !== undefined && nulls[row] === 1)) continue;
    if (value < best || Number.isNaN(value)) best = value;
  }
  return best;
}

function greatestOf(
  initial: number,
  values: Float64Array,
  nulls: Uint8Array | undefined,
  start: number,
  end: number,
): number {
  let best = initial;
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    if (value <= best || (nulls !== undefined && nulls[row] === 1)) continue;
    if (value > best || Number.isNaN(value)) best = value;
  }
  return best;
}
