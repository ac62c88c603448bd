import { FairQueue, NO_TENANT, type Tenant } from '../../engine/index.ts';
import { FLOOD_WAITING_MIN } from '../limits.ts';
import { FairBudget } from './fair-budget.ts';
import { FloodPace } from './flood-pace.ts';
import { RecentTenants } from './recent-tenants.ts';

type Waiting = { readonly bytes: number; readonly tenant: Tenant; readonly enter: () => void };

export type ByteGateOptions = {
  /** The most bytes of all admitted work. */
  readonly bytesMax: number;
  /** The monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** The most bytes of tenants that are not alone; all by default. */
  readonly sharedBytesMax?: () => number;
  /** The most bytes per millisecond of a tenant that floods beside others; unlimited by default. */
  readonly floodBytesPerMs?: number;
};

/**
 * Admits work while the bytes of all admitted work stay within a limit. Other work waits, in turns that are fair
 * between tenants by bytes. Work larger than the limit is admitted alone.
 *
 * A tenant that is alone may use the whole limit, because larger batches are more efficient. Beside others it may use
 * what is free of a smaller part, and at least one piece of work: a newcomer waits for what is admitted already, where
 * turns cannot help. A tenant with much waiting work, beside one with little, is paced: continuous work would leave no
 * processor time for the rest of what others wait for, and a stall would last until all of it is done.
 */
export class ByteGate {
  readonly #bytesMax: number;
  readonly #nowMs: () => number;
  readonly #recentTenants = new RecentTenants();
  /** The admitted bytes, limited to those of tenants that are not alone. */
  readonly #inside: FairBudget;
  readonly #pace: FloodPace;
  readonly #waiting = new FairQueue<Waiting>();
  /** The work whose turn it is, which waits for room. */
  #next: Waiting | undefined;
  #waking: NodeJS.Timeout | undefined;

  constructor(options: ByteGateOptions) {
    const { bytesMax, nowMs, sharedBytesMax = () => bytesMax } = options;
    this.#bytesMax = bytesMax;
    this.#nowMs = nowMs;
    this.#inside = new FairBudget(sharedBytesMax);
    this.#pace = new FloodPace(options.floodBytesPerMs ?? Number.POSITIVE_INFINITY);
  }

  /** Resolves when the work may begin. The caller must call `leave` once with the same arguments. */
  async enter(bytes: number, tenant: Tenant = NO_TENANT): Promise<void> {
    const nowMs = this.#nowMs();
    this.#recentTenants.join(tenant, nowMs);
    const isFree = this.#next === undefined && this.#waiting.size === 0;
    if (isFree && this.#isWithinShare(bytes, tenant, nowMs) && this.#hasRoom(bytes)) {
      this.#waiting.pass(tenant);
      this.#letIn(bytes, tenant, nowMs);
      return;
    }
    await new Promise<void>((enter) => {
      this.#waiting.add({ bytes, tenant, enter }, tenant);
      this.#admit();
    });
  }

  leave(bytes: number, tenant: Tenant = NO_TENANT): void {
    this.#inside.release(bytes, tenant);
    this.#admit();
  }

  /**
   * Reads the clock once. If a pause ended between two readings, the first would keep work waiting for its end, and the
   * second would set no timer, so the work would wait for ever.
   */
  #admit(): void {
    const nowMs = this.#nowMs();
    for (;;) {
      this.#next ??= this.#waiting.take(({ bytes, tenant }) =>
        this.#isWithinShare(bytes, tenant, nowMs),
      );
      if (this.#next === undefined) break;
      if (!this.#hasRoom(this.#next.bytes)) return;
      const { bytes, tenant, enter } = this.#next;
      this.#next = undefined;
      this.#letIn(bytes, tenant, nowMs);
      enter();
    }
    this.#wakeLater(nowMs);
  }

  #letIn(bytes: number, tenant: Tenant, nowMs: number): void {
    this.#inside.take(bytes, tenant);
    this.#waiting.charge(bytes, tenant);
    if (this.#isFlooding(tenant, nowMs)) this.#pace.begin(bytes, tenant, nowMs);
  }

  /** Whether much of a tenant's work waits, and little of another's. */
  #isFlooding(tenant: Tenant, nowMs: number): boolean {
    const waits = (other: Tenant): boolean => this.#waiting.sizeOf(other) >= FLOOD_WAITING_MIN;
    return waits(tenant) && this.#recentTenants.anyOther(tenant, nowMs, (other) => !waits(other));
  }

  #wakeLater(nowMs: number): void {
    if (this.#waiting.size === 0 || this.#waking !== undefined) return;
    const leftMs = this.#pace.leftMs(nowMs);
    if (leftMs === undefined) return;
    this.#waking = setTimeout(() => {
      this.#waking = undefined;
      this.#admit();
    }, Math.ceil(leftMs));
  }

  /** A tenant without admitted work has a share. So if all wait, some admitted work or a pause will end. */
  #isWithinShare(bytes: number, tenant: Tenant, nowMs: number): boolean {
    if (this.#recentTenants.isOnlyTenant(tenant, nowMs)) return true;
    if (this.#pace.isResting(tenant, nowMs)) return false;
    return this.#inside.heldBy(tenant) === 0 || this.#inside.hasRoom(bytes, tenant);
  }

  #hasRoom(bytes: number): boolean {
    const { heldBytes } = this.#inside;
    return heldBytes === 0 || heldBytes + bytes <= this.#bytesMax;
  }
}
