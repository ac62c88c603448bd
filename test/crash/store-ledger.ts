import assert from 'node:assert/strict';
import type { Batch } from '../../engine/column/batch.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { smallBatch } from '../support/small-batch.ts';
import type { StoredRow } from './stored-rows.ts';

export const SOURCES = ['a', 'b'] as const;
export const RETENTION_US = 3 * PARTITION_US;

/** Of the posts of the scripted life: whoever looks at what it left makes the same ones. */
export const LIFE_SEED = 5;

/** One post, known by its number; its rows are named by it. */
export type Post = {
  readonly number: number;
  readonly source: string;
  readonly timestampsUs: readonly number[];
};

/**
 * `kept`: it must be there, since it was acknowledged, or seen once. `gone`: it must never be there.
 * `unsure`: it was refused, or nobody was told: it is there as a whole or not at all.
 */
type Fate = 'kept' | 'gone' | 'unsure';

/** What senders know of their posts. */
export class StoreLedger {
  readonly #posts: Post[] = [];
  readonly #fates: Fate[] = [];
  /** The latest time that was told to a process and may be believed. */
  #believedUs = 0;

  /** A new post, of rows that lie in up to five days. */
  next(random: Random, nowUs: number): Post {
    const number = this.#posts.length;
    const post = {
      number,
      source: random.pick(SOURCES),
      timestampsUs: Array.from({ length: 1 + random.below(4) }, () => {
        return nowUs - random.below(5) * PARTITION_US - random.below(1_000_000);
      }),
    };
    this.#posts.push(post);
    this.#fates.push('unsure');
    return post;
  }

  settle(post: Post, fate: Fate): void {
    this.#fates[post.number] = fate;
  }

  /** What was refused so far will never be there: its place in the log was given to others. */
  void(refused: readonly Post[]): void {
    for (const { number } of refused) {
      if (this.#fates[number] === 'unsure') this.#fates[number] = 'gone';
    }
  }

  /** From now on days that end before this time, less the retention, may be gone. */
  believe(nowUs: number): void {
    this.#believedUs = Math.max(this.#believedUs, nowUs);
  }

  /** Numbers of the posts that a query begun now must see. */
  kept(): ReadonlySet<number> {
    const numbers = this.#posts.map(({ number }) => number);
    return new Set(numbers.filter((number) => this.#fates[number] === 'kept'));
  }

  /**
   * Holds what is there against what must be, `kept` when the look began; posts that are seen must be
   * there from now on.
   */
  check(
    rowsBySource: ReadonlyMap<string, readonly StoredRow[]>,
    kept: ReadonlySet<number> = this.kept(),
  ): void {
    const found = new Set<string>();
    for (const [source, rows] of rowsBySource) {
      const arrivals = new Set<number>();
      for (const { id, timestampUs, arrival } of rows) {
        assert(id !== null && !found.has(id), `row ${id} is there once`);
        found.add(id);
        assert(!arrivals.has(arrival), `arrival ${arrival} of ${source} is there once`);
        arrivals.add(arrival);
        const [number, row] = id.split('-', 2).map(Number) as [number, number];
        const post = this.#posts[number];
        assert(post !== undefined && row < post.timestampsUs.length, `row ${id} was sent`);
        assert.deepEqual([source, timestampUs], [post.source, post.timestampsUs[row]], id);
      }
    }
    for (const post of this.#posts) this.#checkPost(post, found, kept);
  }

  #checkPost(post: Post, found: ReadonlySet<string>, kept: ReadonlySet<number>): void {
    const isThere = post.timestampsUs.map((_, row) => found.has(idOf(post, row)));
    const fate = this.#fates[post.number];
    if (!isThere.includes(true) && !kept.has(post.number)) return;
    assert.notEqual(fate, 'gone', `post ${post.number} was voided`);
    // Days behind the retention may be gone, each for itself.
    const oldest = toPartition(this.#believedUs - RETENTION_US);
    for (const [row, timestampUs] of post.timestampsUs.entries()) {
      if (toPartition(timestampUs) < oldest) continue;
      assert(isThere[row], `row ${row} of post ${post.number}, which is ${fate}`);
    }
    this.#fates[post.number] = 'kept';
  }

  copy(): StoreLedger {
    const copy = new StoreLedger();
    copy.#posts.push(...this.#posts);
    copy.#fates.push(...this.#fates);
    copy.#believedUs = this.#believedUs;
    return copy;
  }
}

const PROJECTS = 5;

export function batchOfPost(post: Post): Batch {
  const ids = post.timestampsUs.map((_, row) => idOf(post, row));
  return { ...smallBatch(ids, 0, PROJECTS), timestampsUs: Float64Array.from(post.timestampsUs) };
}

/** Some are long, so that records and segments are of several sectors. */
function idOf({ number }: Post, row: number): string {
  return `${number}-${row}-${'.'.repeat(number % 7 === 0 ? 600 : number % 5)}`;
}
