import { GroupTable, selectedKeys } from '../aggregate/group-table.ts';
import { KnownKeys } from '../aggregate/known-keys.ts';
import { NumberReader } from '../aggregate/number-reader.ts';
import { must } from '../assert.ts';
import { carvedFloat64, carvedInt32, grownFloat64, NO_FLOAT64 } from '../column/arrays.ts';
import {
  type Chunk,
  consecutivePositions,
  sliceChunk,
  type VectorFunction,
} from '../column/chunk.ts';
import { isReadingPassing } from '../column/segment-reader.ts';
import type { NumberVector } from '../column/vector.ts';
import type { OrderDirection } from '../function/comparison.ts';
import { CHUNK_ROWS_MAX, GROUPS_MAX } from '../limits.ts';
import { type AggregateOptions, AggregateSink } from './aggregate.ts';
import type { Sink } from './sink.ts';

/**
 * Rows that a search for leading groups keeps: the one column that is read of them all takes 8 MB then, and their places 4.
 * No more than there may be groups, so that too many of these are refused all the same.
 */
const LEADING_ROWS_HELD_MAX = GROUPS_MAX;

/**
 * Groups met at the beginning of a run that make it worth to look for the first of them in another way: below, what it
 * takes to aggregate all of them comes to less than a look at each row more.
 */
const LEADING_GROUPS_MIN = 1024;

/** The first groups of an order by the greatest value of each, descending, or by the least, ascending. */
export type Leading = OrderDirection & {
  /** Which of the aggregates is MAX, or MIN. */
  readonly aggregate: number;
  /** Groups that are wanted. */
  readonly count: number;
};

/** What decides which way is gone. */
export type LeadingBounds = {
  /** Groups met at the beginning from which on there are many. */
  readonly groupsMin: number;
  /** Rows that are kept. */
  readonly rowsMax: number;
};

const BOUNDS: LeadingBounds = { groupsMin: LEADING_GROUPS_MIN, rowsMax: LEADING_ROWS_HELD_MAX };

/** Rows in which that many groups should be met for groups to be many. */
const ROWS_PER_GROUP_MAX = 4;

/**
 * Groups rows as `AggregateSink` does, where only the first groups are wanted of an order by a MAX or MIN of numbers.
 * No group is among the first without a row whose value is: so where groups turn out to be many, rows are kept, those
 * at the front of the order are looked at alone, and in the end only rows of *their* groups are aggregated. Others of
 * the groups given are incomplete, and behind the first.
 *
 * ```
 *             floor: of the groups met first, the value of the last that is wanted
 *                │
 *   rows ──▶ value ≥ floor? ──yes──▶ keys of contenders, floor rises
 *     │
 *     └ kept ──────────────────────▶ key of a contender? ──yes──▶ aggregated
 * ```
 *
 * Where values are no numbers, or a NULL or NaN would stand in front, or there are too many rows to keep, all groups are
 * aggregated: those that are kept then, and those that come.
 */
export class LeadingGroups implements Sink {
  readonly #options: AggregateOptions;
  readonly #leading: Leading;
  readonly #bounds: LeadingBounds;
  /** What takes in rows while nothing is known of groups, and where it comes to all of them. */
  readonly #all: AggregateSink;
  /** How many of the first rows kept `#all` has taken in. */
  #tried = 0;
  #kept: Chunk[] | undefined = [];
  #keptCount = 0;
  #contenders: Contenders | undefined;

  /** All aggregates must be certain, and their arguments and the keys fail for no row. */
  constructor(options: AggregateOptions, leading: Leading, bounds: LeadingBounds = BOUNDS) {
    this.#options = options;
    this.#leading = leading;
    this.#bounds = bounds;
    this.#all = new AggregateSink(options);
    if (!this.#all.isCertain) this.#kept = undefined;
  }

  push(chunk: Chunk): boolean {
    if (chunk.count === 0) return true;
    if (this.#kept === undefined) return this.#all.push(chunk);
    if (isReadingPassing() || this.#keptCount + chunk.count > this.#bounds.rowsMax) {
      this.#takeAll();
      return this.#all.push(chunk);
    }
    this.#kept.push(chunk);
    this.#keptCount += chunk.count;
    if (this.#contenders !== undefined) {
      if (!this.#contenders.offer(chunk)) this.#takeAll();
    } else this.#try(chunk);
    return true;
  }

  /** The groups, the first of which are complete. Ends the use of this sink. */
  groups(): AggregateSink {
    if (this.#contenders === undefined) return this.#all;
    const known = this.#contenders.keys();
    const groups = new AggregateSink(this.#options);
    for (const chunk of must(this.#kept)) {
      this.#options.checkpoint?.();
      const rows = consecutivePositions(0, chunk.count);
      let count = chunk.count;
      for (const [index, { expression }] of this.#options.keys.entries()) {
        if (count > 0) count = known[index]!.retain(expression(chunk), rows, count);
      }
      if (count > 0) groups.push(count === chunk.count ? chunk : chunk.select(rows, count));
    }
    return groups;
  }

  /** Takes rows in until it can be told whether groups are many. */
  #try(chunk: Chunk): void {
    const groupsMin = Math.max(this.#bounds.groupsMin, 2 * this.#leading.count);
    for (let start = 0; start < chunk.count; start += CHUNK_ROWS_MAX) {
      const end = Math.min(start + CHUNK_ROWS_MAX, chunk.count);
      this.#all.push(sliceChunk(chunk, start, end));
      this.#tried += end - start;
      if (this.#all.size >= groupsMin) {
        this.#begin();
        return;
      }
      if (this.#tried < ROWS_PER_GROUP_MAX * groupsMin) continue;
      this.#takeAll();
      return;
    }
  }

  /** From now on only contenders are looked for. */
  #begin(): void {
    const floor = this.#floorOfTried();
    const contenders = floor === undefined ? undefined : this.#newContenders(floor);
    if (contenders === undefined || !must(this.#kept).every((chunk) => contenders.offer(chunk))) {
      this.#takeAll();
    } else this.#contenders = contenders;
  }

  #newContenders(floor: number): Contenders {
    const { keys, aggregates } = this.#options;
    const value = aggregates[this.#leading.aggregate]!.arguments[0]!;
    return new Contenders({ keys, value, leading: this.#leading }, floor);
  }

  /** The value of the last group wanted, of those met so far; `undefined` where it is no number. */
  #floorOfTried(): number | undefined {
    const values = this.#all.answers(this.#leading.aggregate);
    if (values.kind !== 'number') return undefined;
    const scores = scoresOf(values, this.#leading);
    return scores && nthGreatest(scores, values.count, this.#leading.count);
  }

  /** Takes in all rows kept, and keeps none any more. */
  #takeAll(): void {
    const kept = must(this.#kept);
    this.#kept = undefined;
    this.#contenders = undefined;
    for (const chunk of kept) {
      const start = Math.min(this.#tried, chunk.count);
      this.#tried -= start;
      if (start < chunk.count) this.#all.push(sliceChunk(chunk, start, chunk.count));
    }
  }
}

type ContendersOptions = {
  readonly keys: AggregateOptions['keys'];
  readonly value: VectorFunction;
  readonly leading: Leading;
};

/**
 * Groups with a row at the front of the order. A *score* is a value, or in an ascending order its opposite: the greatest
 * are at the front.
 */
class Contenders {
  readonly #options: ContendersOptions;
  readonly #reader = new NumberReader();
  readonly #table: GroupTable;
  /** The greatest score of each group. */
  #best: Float64Array<ArrayBuffer> = NO_FLOAT64;
  /** As many groups as are wanted have a score that is not below. */
  #floor: number;
  /** Groups at which the floor is found anew. */
  #raiseAt: number;

  constructor(options: ContendersOptions, floor: number) {
    this.#options = options;
    this.#floor = floor;
    this.#table = new GroupTable(options.keys.map(({ type }) => type));
    this.#raiseAt = 2 * options.leading.count + 1;
  }

  /** False where the values do not tell which groups lead: all rows are to be aggregated then. */
  offer(chunk: Chunk): boolean {
    const numbers = this.#reader.read(this.#options.value(chunk), chunk.count);
    const scores = numbers && scoresOf(numbers, this.#options.leading);
    if (scores === undefined) return false;
    const rows = carvedInt32(chunk.count);
    let count = 0;
    for (let row = 0; row < chunk.count; row++) {
      rows[count] = row;
      count += Number(scores[row]! >= this.#floor);
    }
    if (count > 0) this.#add(chunk.select(rows, count), rows, scores);
    return true;
  }

  /** The values of each key that groups have that may be among the first. */
  keys(): readonly KnownKeys[] {
    this.#raise();
    const marks = Uint8Array.from({ length: this.#table.size }, (_, group) =>
      Number(this.#best[group]! >= this.#floor),
    );
    return selectedKeys(this.#table.keys(), marks).columns.map(
      ({ values }) => new KnownKeys(values),
    );
  }

  #add(chunk: Chunk, rows: Int32Array, scores: Float64Array): void {
    const keys = this.#options.keys.map(({ expression }) => expression(chunk));
    const groups = this.#table.assign(keys, chunk.count);
    this.#best = grownFloat64(this.#best, this.#table.size, Number.NEGATIVE_INFINITY);
    for (let index = 0; index < chunk.count; index++) {
      const group = groups[index]!;
      this.#best[group] = Math.max(this.#best[group]!, scores[rows[index]!]!);
    }
    if (this.#table.size < this.#raiseAt) return;
    this.#raise();
    this.#raiseAt = 2 * this.#table.size;
  }

  #raise(): void {
    const floor = nthGreatest(this.#best, this.#table.size, this.#options.leading.count);
    this.#floor = Math.max(this.#floor, must(floor, 'groups were met that reach the floor'));
  }
}

/**
 * The greater, the further in front; a NULL behind all, where it is. `undefined` where a NaN is met, which makes its
 * group's MAX one, or a NULL that would stand in front of all.
 */
function scoresOf(
  { values, nulls, count }: NumberVector,
  { descending, nullsFirst }: OrderDirection,
): Float64Array | undefined {
  const isAsIs = descending && nulls === undefined;
  const scores = isAsIs ? values : carvedFloat64(count);
  const sign = descending ? 1 : -1;
  for (let row = 0; row < count; row++) {
    if (nulls !== undefined && nulls[row] === 1) {
      if (nullsFirst) return undefined;
      scores[row] = Number.NEGATIVE_INFINITY;
      continue;
    }
    const value = values[row]!;
    if (Number.isNaN(value)) return undefined;
    if (!isAsIs) scores[row] = sign * value;
  }
  return scores;
}

/** The score that `count` of them reach; `undefined` where they do not, or only by values behind all others. */
function nthGreatest(scores: Float64Array, length: number, count: number): number | undefined {
  if (length < count) return undefined;
  const score = scores.slice(0, length).sort()[length - count]!;
  return score === Number.NEGATIVE_INFINITY ? undefined : score;
}
