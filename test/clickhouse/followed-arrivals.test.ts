import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import type { Arrived } from '../../src/clickhouse/arrival-journal.ts';
import { FollowedArrivals } from '../../src/clickhouse/followed-arrivals.ts';
import { until } from './service-on-clickhouse.ts';

/** A journal in memory, and what followers are told of it. */
class Followed {
  readonly rows: Arrived[] = [];
  readonly published: string[] = [];
  readonly pages: unknown[] = [];
  isAway = false;
  looks = 0;
  readonly arrivals: FollowedArrivals;

  constructor() {
    const journal = {
      readEnds: async () => {
        this.#check();
        return { end: this.rows.at(-1)?.end ?? 1, secret: 's' };
      },
      read: async (after: number) => {
        this.#check();
        return this.rows.filter(({ end }) => end > after).slice(0, 100);
      },
      findPageEnd: async (page: unknown) => {
        this.pages.push(page);
        return 42;
      },
    };
    this.arrivals = new FollowedArrivals({ journal, sources: [], pollMs: 1 });
    this.arrivals.whenPublished((source) => this.published.push(source));
  }

  #check(): void {
    this.looks += 1;
    if (this.isAway) throw new Error('ClickHouse is away');
  }

  add(count: number, source: string, more: Partial<Arrived> = {}): void {
    const start = this.rows.at(-1)?.end ?? 1;
    this.rows.push({ start, end: start + count, sources: [source], isWhole: true, ...more });
  }

  /** Resolves when so many looks have begun and ended since. */
  async looked(count: number): Promise<void> {
    const before = this.looks;
    await until(() => this.looks > before + count);
  }
}

test('each source ends with its last row, and is published with it', async () => {
  const followed = new Followed();
  const { arrivals } = followed;
  followed.add(9, 'a');
  const unwatch = await arrivals.watch();
  deepEqual([arrivals.lastNumber('a'), arrivals.lastNumber('b')], [10, 10]);
  followed.add(5, 'b');
  followed.add(5, 'a');
  followed.add(5, 'c');
  // The first look that begins after an append shows it.
  await followed.looked(1);
  deepEqual(followed.published.toSorted(), ['a', 'b', 'c']);
  deepEqual(
    ['a', 'b', 'c', 'd'].map((source) => arrivals.lastNumber(source)),
    [20, 15, 25, 10],
  );
  // At another gateway a follower of any source may have come this far.
  deepEqual([arrivals.knows('b', 25), arrivals.knows('b', 26)], [true, false]);
  unwatch();
});

test('one loop looks for all watchers, none for nobody, and a later one begins at the end', async () => {
  const followed = new Followed();
  const { arrivals } = followed;
  const [first, second] = await Promise.all([arrivals.watch(), arrivals.watch()]);
  first();
  first();
  followed.add(5, 'a');
  await until(() => followed.published.length === 1);
  second();
  followed.add(5, 'b');
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { looks } = followed;
  await new Promise((resolve) => setTimeout(resolve, 20));
  equal(followed.looks, looks);
  const third = await arrivals.watch();
  deepEqual([arrivals.lastNumber('a'), arrivals.lastNumber('b')], [11, 11]);
  deepEqual(followed.published, ['a']);
  third();
});

test('a watcher knows what was there before it came, also beside others', async () => {
  const followed = new Followed();
  const others = await followed.arrivals.watch();
  followed.add(5, 'a');
  const unwatch = await followed.arrivals.watch();
  equal(followed.arrivals.lastNumber('a'), 6);
  unwatch();
  others();
});

test('a row that is missing or without its events holds up those after it, until it is lost', async () => {
  for (const late of [{ start: 3 }, { isWhole: false }]) {
    const followed = new Followed();
    const unwatch = await followed.arrivals.watch();
    followed.add(5, 'a', late);
    followed.add(5, 'b');
    await followed.looked(10);
    deepEqual(followed.published, []);
    followed.rows[0] = { ...followed.rows[0]!, start: 1, isWhole: true };
    await until(() => followed.published.length === 2);
    followed.add(5, 'c', 'start' in late ? { start: 12 } : late);
    followed.add(5, 'd');
    await until(() => followed.published.length === 4);
    deepEqual(followed.published, ['a', 'b', 'c', 'd']);
    unwatch();
  }
});

test('while ClickHouse is away nobody begins to watch, and those who do go on later', async () => {
  const followed = new Followed();
  const unwatch = await followed.arrivals.watch();
  followed.isAway = true;
  await followed.looked(3);
  await rejects(followed.arrivals.watch(), { code: 'store_unavailable' });
  followed.isAway = false;
  followed.add(5, 'a');
  await until(() => followed.published.length === 1);
  unwatch();
});

test('the end of a page is looked up only far from the end', async () => {
  const followed = new Followed();
  followed.add(1_000_000, 'a');
  const { arrivals } = followed;
  const unwatch = await arrivals.watch();
  const { signal } = new AbortController();
  const page = { source: 'a', sinceUs: undefined };
  equal(await arrivals.pageEnd({ ...page, after: 900_000 }, signal), 1_000_001);
  equal(await arrivals.pageEnd({ ...page, after: 5 }, signal), 42);
  deepEqual(followed.pages, [{ ...page, after: 5, before: 1_000_001 }]);
  unwatch();
});
