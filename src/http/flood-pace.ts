import type { Tenant } from '../../engine/pool/tenant-sets.ts';

/** Lets tenants have so many bytes a millisecond and no more: whoever has had some rests until it is time for more. */
export class FloodPace {
  readonly #bytesPerMs: number;
  readonly #restUntilMs = new Map<Tenant, number>();

  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs;
  }

  /** To be told of what a tenant is let do. */
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

  /** Milliseconds until the first of those who rest may go on; `undefined`: nobody rests. */
  leftMs(nowMs: number): number | undefined {
    let firstMs = Number.POSITIVE_INFINITY;
    for (const [tenant, untilMs] of this.#restUntilMs) {
      if (this.isResting(tenant, nowMs)) firstMs = Math.min(firstMs, untilMs);
    }
    return firstMs === Number.POSITIVE_INFINITY ? undefined : firstMs - nowMs;
  }
}
