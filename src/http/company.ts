import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import { COMPANY_MS } from '../limits.ts';

/** Which tenants have come lately. */
export class Company {
  /** When each came last; who came last is last. */
  readonly #cameMs = new Map<Tenant, number>();

  join(tenant: Tenant, nowMs: number): void {
    this.#cameMs.delete(tenant);
    this.#cameMs.set(tenant, nowMs);
    this.#forget(nowMs);
  }

  /** Whether no other tenant has come for COMPANY_MS. */
  isAlone(tenant: Tenant, nowMs: number): boolean {
    return !this.hasOther(tenant, nowMs, () => true);
  }

  /** Whether another tenant has come within COMPANY_MS of which that is so. */
  hasOther(tenant: Tenant, nowMs: number, isSo: (other: Tenant) => boolean): boolean {
    this.#forget(nowMs);
    for (const other of this.#cameMs.keys()) if (other !== tenant && isSo(other)) return true;
    return false;
  }

  #forget(nowMs: number): void {
    for (const [tenant, cameMs] of this.#cameMs) {
      if (nowMs - cameMs <= COMPANY_MS) return;
      this.#cameMs.delete(tenant);
    }
  }
}
