import { NO_TENANT, type Tenant } from '../../engine/index.ts';

/**
 * A number of bytes that tenants share: each may hold as much as is free. So one tenant alone has half of all, two have
 * a third each, and a newcomer always finds room, although nobody must give up what it holds ("dynamic thresholds":
 * Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM Transactions on
 * Networking 6, 1998, with α = 1).
 *
 * The total may change; held bytes are not affected.
 *
 * Invariant: `#heldBytes` is the sum over the tenants.
 */
export class FairBudget {
  readonly #bytesMax: () => number;
  readonly #held = new Map<Tenant, number>();
  #heldBytes = 0;

  constructor(bytesMax: () => number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held by all tenants. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get freeBytes(): number {
    return Math.max(0, this.#bytesMax() - this.#heldBytes);
  }

  /**
   * Holds bytes if there is room, and returns whether there was. They must be returned by `release`, in one or more
   * parts.
   */
  hold(bytes: number, tenant: Tenant = NO_TENANT): boolean {
    if (!this.hasRoom(bytes, tenant)) return false;
    this.take(bytes, tenant);
    return true;
  }

  hasRoom(bytes: number, tenant: Tenant): boolean {
    return this.heldBy(tenant) + bytes <= this.freeBytes;
  }

  /** Holds bytes whether there is room or not. */
  take(bytes: number, tenant: Tenant): void {
    this.#held.set(tenant, this.heldBy(tenant) + bytes);
    this.#heldBytes += bytes;
  }

  heldBy(tenant: Tenant): number {
    return this.#held.get(tenant) ?? 0;
  }

  release(bytes: number, tenant: Tenant = NO_TENANT): void {
    const left = this.heldBy(tenant) - bytes;
    this.#heldBytes -= bytes;
    if (left > 0) this.#held.set(tenant, left);
    else this.#held.delete(tenant);
  }
}
