import { must } from '../assert.ts';

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
