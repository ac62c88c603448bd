import type { Tenant } from '../../engine/index.ts';
import { RECENT_TENANTS_MS } from '../limits.ts';

/** The tenants that have posted within RECENT_TENANTS_MS. */
export class RecentTenants {
  /** The time of each tenant's last post, ascending. */
  readonly #cameMs = new Map<Tenant, number>();

  join(tenant: Tenant, nowMs: number): void {
    this.#cameMs.delete(tenant);
    this.#cameMs.set(tenant, nowMs);
    this.#forget(nowMs);
  }

  /** Whether no other tenant has posted within RECENT_TENANTS_MS. */
  isOnlyTenant(tenant: Tenant, nowMs: number): boolean {
    return !this.anyOther(tenant, nowMs, () => true);
  }

  /** Whether `predicate` holds for another tenant that has posted within RECENT_TENANTS_MS. */
  anyOther(tenant: Tenant, nowMs: number, predicate: (other: Tenant) => boolean): boolean {
    this.#forget(nowMs);
    for (const other of this.#cameMs.keys()) if (other !== tenant && predicate(other)) return true;
    return false;
  }

  #forget(nowMs: number): void {
    for (const [tenant, cameMs] of this.#cameMs) {
      if (nowMs - cameMs <= RECENT_TENANTS_MS) return;
      this.#cameMs.delete(tenant);
    }
  }
}
