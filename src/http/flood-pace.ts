import type { Tenant } from '../../engine/index.ts';

/**
 * Limits tenants to a number of bytes per millisecond: after some work, a tenant pauses for the time that the work is
 * worth.
 */
export class FloodPace {
  readonly #bytesPerMs: number;
  readonly #restUntilMs = new Map<Tenant, number>();

  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs;
  }

  /** Records work that a tenant begins. */
  begin(bytes: number, tenant: Tenant, nowMs: number): void {
    this.#restUntilMs.set(tenant, nowMs + bytes / this.#bytesPerMs);
  }

  isResting(tenant: Tenant, nowMs: number): boolean {
    const untilMs = this.#restUntilMs.get(tenant);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#restUntilMs.delete(tenant);
    return false;
  }

  /** Milliseconds until the first pause ends; `undefined` if there is none. */
  leftMs(nowMs: number): number | undefined {
    let firstMs = Number.POSITIVE_INFINITY;
    for (const [tenant, untilMs] of this.#restUntilMs) {
      if (this.isResting(tenant, nowMs)) firstMs = Math.min(firstMs, untilMs);
    }
    return firstMs === Number.POSITIVE_INFINITY ? undefined : firstMs - nowMs;
  }
}
