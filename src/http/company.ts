import { NO_TENANT, type Tenant } from '../../engine/pool/tenant-sets.ts';
import { COMPANY_MS } from '../limits.ts';

/** Who came when, as far as it matters: the last to come, and the last of all others before. */
export class Company {
  #last: Tenant = NO_TENANT;
  #lastMs = Number.NEGATIVE_INFINITY;
  #otherMs = Number.NEGATIVE_INFINITY;

  join(tenant: Tenant, nowMs: number): void {
    if (tenant !== this.#last) {
      this.#otherMs = this.#lastMs;
      this.#last = tenant;
    }
    this.#lastMs = nowMs;
  }

  /** Whether no other tenant has come for COMPANY_MS. */
  isAlone(tenant: Tenant, nowMs: number): boolean {
    const othersMs = tenant === this.#last ? this.#otherMs : this.#lastMs;
    return nowMs - othersMs > COMPANY_MS;
  }
}
