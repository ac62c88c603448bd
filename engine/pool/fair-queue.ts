import { assert, must } from '../assert.ts';
import { RETRY_AFTER_S_MAX } from '../limits.ts';

/** The number of tenants above which the queue looks for tenants that it may forget. */
const TENANTS_KEPT = 64;

/**
 * What waits, given out in turns that are fair between tenants: next is the one whose items have cost least
 * (start-time fair queueing; Goyal, Vin and Cheng, "Start-time Fair Queuing", SIGCOMM 1996, §2). A tenant alone
 * has every turn. One that comes anew, or comes back, begins level with whoever is served then: it has no
 * claim on what it left unused, and owes nothing for what nobody else wanted.
 *
 * A cost is known only when the work is done: a turn counts `costMin` when it is given, and the rest when it
 * is charged.
 *
 * Invariant: `#spent` of a tenant with items is at least `#level`.
 */
export class FairQueue<T> {
  readonly #costMin: number;
  readonly #items = new TenantSets<T>();
  /** What each tenant has had, on one scale for all; those level with nobody left behind are forgotten. */
  readonly #spent = new Map<Tenant, number>();
  /** What the tenant of the last turn had had before it, or what `advance` found since. */
  #level = 0;

  constructor(costMin = 1) {
    this.#costMin = costMin;
  }

  get size(): number {
    return this.#items.size;
  }

  sizeOf(tenant: Tenant): number {
    return this.#items.sizeOf(tenant);
  }

  add(item: T, tenant: Tenant = NO_TENANT): void {
    if (this.#items.sizeOf(tenant) === 0) this.#spent.set(tenant, this.spentOf(tenant));
    this.#items.add(tenant, item);
  }

  /** What was taken and is not done: its tenant's next turn is for it. */
  putBack(item: T, tenant: Tenant = NO_TENANT): void {
    if (this.#items.sizeOf(tenant) === 0) this.#spent.set(tenant, this.spentOf(tenant));
    this.#items.addFirst(tenant, item);
  }

  /** Whether it was there. */
  remove(item: T, tenant: Tenant = NO_TENANT): boolean {
    return this.#items.delete(tenant, item);
  }

  /**
   * The item whose turn it is, and leaves the queue with it; of tenants whose oldest item may go. Tenants `served`,
   * whose turns last, keep their claim, though this turn may go to a tenant that has had more than they have.
   */
  take(mayGo: (item: T) => boolean = () => true, served: Iterable<Tenant> = []): T | undefined {
    let next: Tenant = NO_TENANT;
    let item: T | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const tenant of this.#items.tenants()) {
      const spent = this.#spent.get(tenant)!;
      if (spent >= least) continue;
      const oldest = this.#items.oldest(tenant)!;
      if (!mayGo(oldest)) continue;
      next = tenant;
      item = oldest;
      least = spent;
    }
    if (item === undefined) return undefined;
    this.#items.delete(next, item);
    const servedLeast = this.#leastOf(served);
    this.#begin(next, least, Math.min(least, servedLeast));
    return item;
  }

  /** A turn of a tenant without a place in the queue, in which nothing may wait. */
  pass(tenant: Tenant = NO_TENANT): void {
    assert(this.#items.size === 0, 'nobody passes those who wait');
    const spent = this.spentOf(tenant);
    this.#begin(tenant, spent, spent);
  }

  /** What a turn of a tenant has come to, of which `chargedCost` was charged before. */
  charge(cost: number, tenant: Tenant = NO_TENANT, chargedCost = 0): void {
    const spent = this.#spent.get(tenant) ?? this.#level;
    const more = Math.max(cost, this.#costMin) - Math.max(chargedCost, this.#costMin);
    this.#spent.set(tenant, spent + more);
  }

  /** What a tenant has had, on the scale of all; at least what one has that comes anew. */
  spentOf(tenant: Tenant): number {
    return Math.max(this.#spent.get(tenant) ?? 0, this.#level);
  }

  /**
   * For turns that are charged while they last: who comes anew begins level with whoever has had least of those who
   * wait, and of those `served`, whose turns last.
   */
  advance(served: Iterable<Tenant>): void {
    const servedLeast = this.#leastOf(served);
    if (servedLeast === Number.POSITIVE_INFINITY) return;
    const least = Math.min(servedLeast, this.#leastOf(this.#items.tenants()));
    this.#level = Math.max(this.#level, least);
  }

  #leastOf(tenants: Iterable<Tenant>): number {
    let least = Number.POSITIVE_INFINITY;
    for (const tenant of tenants) least = Math.min(least, this.spentOf(tenant));
    return least;
  }

  #begin(tenant: Tenant, spent: number, level: number): void {
    this.#level = level;
    this.#spent.set(tenant, spent + this.#costMin);
    this.#forget();
  }

  /** Whoever has nothing here and is behind begins at the level anyway. Looked for when there are many. */
  #forget(): void {
    if (this.#spent.size <= 2 * this.#items.tenantCount + TENANTS_KEPT) return;
    for (const [tenant, spent] of this.#spent) {
      if (spent <= this.#level && this.#items.sizeOf(tenant) === 0) this.#spent.delete(tenant);
    }
  }
}

/**
 * The name of a tenant. Tenants share threads and memory fairly. All work with the same name belongs to one tenant; work
 * without a name belongs to one tenant, too. The caller chooses the name.
 */
export type Tenant = string;

/** The tenant of work that no caller has asked for. */
export const NO_TENANT: Tenant = '';

/**
 * Items by tenant, each tenant's in the order of arrival. Any item leaves in constant time.
 *
 * Invariant: a tenant that is known has an item; `size` is the sum over all.
 */
export class TenantSets<T> {
  readonly #items = new Map<Tenant, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get tenantCount(): number {
    return this.#items.size;
  }

  /** Tenants with items, the one that has had some for longest first. */
  tenants(): IterableIterator<Tenant> {
    return this.#items.keys();
  }

  sizeOf(tenant: Tenant): number {
    return this.#items.get(tenant)?.size ?? 0;
  }

  /** The items of a tenant as they are now, in the order of arrival. */
  list(tenant: Tenant): readonly T[] {
    return [...(this.#items.get(tenant) ?? [])];
  }

  add(tenant: Tenant, item: T): void {
    let items = this.#items.get(tenant);
    if (items === undefined) {
      items = new Set();
      this.#items.set(tenant, items);
    }
    if (items.has(item)) return;
    items.add(item);
    this.#size += 1;
  }

  /** Before all others of its tenant, where it is not there yet. */
  addFirst(tenant: Tenant, item: T): void {
    const later = [...(this.#items.get(tenant) ?? [])];
    this.add(tenant, item);
    const items = must(this.#items.get(tenant), 'a tenant with an item is known');
    for (const other of later) {
      items.delete(other);
      items.add(other);
    }
  }

  /** Whether it was there. */
  delete(tenant: Tenant, item: T): boolean {
    const items = this.#items.get(tenant);
    if (items?.delete(item) !== true) return false;
    this.#size -= 1;
    if (items.size === 0) this.#items.delete(tenant);
    return true;
  }

  oldest(tenant: Tenant): T | undefined {
    const [first] = this.#items.get(tenant) ?? [];
    return first;
  }

  newest(tenant: Tenant): T | undefined {
    return [...(this.#items.get(tenant) ?? [])].at(-1);
  }

  /** The tenant with most items. */
  fullest(): Tenant | undefined {
    let fullest: Tenant | undefined;
    let size = 0;
    for (const [tenant, items] of this.#items) {
      if (items.size <= size) continue;
      fullest = tenant;
      size = items.size;
    }
    return fullest;
  }
}

/** Over how long it is looked how fast a queue drains: some runs of usual length, and no old story. */
const DRAIN_RATE_MEMORY_MS = 5_000;

/**
 * The recent drain rate of a queue, from which `Retry-After` is computed. Amounts have one unit: queries, bytes. Times are
 * of the monotonic clock, in milliseconds. Time in which the queue was empty does not count.
 */
export class DrainRate {
  #insideCount = 0;
  /** The drained amount and the time it took. Both decay by a factor of e in DRAIN_RATE_MEMORY_MS. */
  #amount = 0;
  #busyMs = 0;
  #atMs = 0;

  /** Something is there to be drained, until one `leave`. */
  enter(nowMs: number): void {
    this.#advance(nowMs);
    this.#insideCount += 1;
  }

  /** It is no more. */
  leave(amount: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#insideCount -= 1;
    this.#amount += amount;
  }

  /** Whole seconds that so much takes, from 1 to RETRY_AFTER_S_MAX; `undefined` where nothing has drained yet. */
  secondsFor(amount: number, nowMs: number): number | undefined {
    this.#advance(nowMs);
    if (this.#amount === 0) return undefined;
    const seconds = Math.ceil((amount * this.#busyMs) / this.#amount / 1000);
    return Math.min(Math.max(seconds, 1), RETRY_AFTER_S_MAX);
  }

  /** How much drains in this time; `undefined` where nothing has yet. */
  amountIn(ms: number, nowMs: number): number | undefined {
    this.#advance(nowMs);
    return this.#amount === 0 ? undefined : (this.#amount * ms) / Math.max(this.#busyMs, 1);
  }

  #advance(nowMs: number): void {
    const elapsedMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    if (this.#insideCount === 0) return;
    const kept = Math.exp(-elapsedMs / DRAIN_RATE_MEMORY_MS);
    this.#amount *= kept;
    this.#busyMs = this.#busyMs * kept + DRAIN_RATE_MEMORY_MS * (1 - kept);
  }
}
