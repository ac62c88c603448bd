import { FairQueue } from '../../engine/pool/fair-queue.ts';
import { NO_TENANT, type Tenant } from '../../engine/pool/tenant-sets.ts';
import { FLOOD_WAITING_MIN } from '../limits.ts';
import { Company } from './company.ts';
import { FairBudget } from './fair-budget.ts';
import { FloodPace } from './flood-pace.ts';

type Waiting = { readonly bytes: number; readonly tenant: Tenant; readonly enter: () => void };

export type ByteGateOptions = {
  /** Of all work inside. */
  readonly bytesMax: number;
  /** The monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** … of which tenants in company share this much; all unless given. */
  readonly sharedBytesMax?: () => number;
  /** … and of which one that floods beside others has at most so much in a millisecond; no bound unless given. */
  readonly floodBytesPerMs?: number;
};

/**
 * Lets work in as long as the bytes of all that is in stay within a bound; the rest waits, in turns that are fair
 * between tenants by bytes. Work larger than the bound goes in alone.
 *
 * A tenant alone may fill it: the more is inside, the more is done at a time. Beside others it may have inside as much as
 * is free of a smaller part, and one piece of work in any case: what is inside already is what a newcomer
 * waits for, and no turns help there. One of which much waits, beside one of whom little does, rests in between: who works
 * without a pause leaves no processor for what others wait for besides, and a stall lasts until all behind it is done.
 */
export class ByteGate {
  readonly #bytesMax: number;
  readonly #nowMs: () => number;
  readonly #company = new Company();
  /** What is inside; its bound is that of tenants in company. */
  readonly #inside: FairBudget;
  readonly #pace: FloodPace;
  readonly #waiting = new FairQueue<Waiting>();
  /** Whose turn it is, and who waits for room. */
  #next: Waiting | undefined;
  #waking: NodeJS.Timeout | undefined;

  constructor(options: ByteGateOptions) {
    const { bytesMax, nowMs, sharedBytesMax = () => bytesMax } = options;
    this.#bytesMax = bytesMax;
    this.#nowMs = nowMs;
    this.#inside = new FairBudget(sharedBytesMax);
    this.#pace = new FloodPace(options.floodBytesPerMs ?? Number.POSITIVE_INFINITY);
  }

  /** Resolves when the work may begin. Each is followed by one `leave` with the same arguments. */
  async enter(bytes: number, tenant: Tenant = NO_TENANT): Promise<void> {
    const nowMs = this.#nowMs();
    this.#company.join(tenant, nowMs);
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
   * The clock is read once. If a rest ended between two readings, the first would keep work waiting for the end of that
   * rest, and the second would set no timer for it: the work would wait for ever.
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

  /** Much of it waits, and little of another. */
  #isFlooding(tenant: Tenant, nowMs: number): boolean {
    const waits = (other: Tenant): boolean => this.#waiting.sizeOf(other) >= FLOOD_WAITING_MIN;
    return waits(tenant) && this.#company.hasOther(tenant, nowMs, (other) => !waits(other));
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

  /** A tenant of whom nothing is inside has a share; so where all wait, something is inside to wait for, or rests. */
  #isWithinShare(bytes: number, tenant: Tenant, nowMs: number): boolean {
    if (this.#company.isAlone(tenant, nowMs)) return true;
    if (this.#pace.isResting(tenant, nowMs)) return false;
    return this.#inside.heldBy(tenant) === 0 || this.#inside.hasRoom(bytes, tenant);
  }

  #hasRoom(bytes: number): boolean {
    const { heldBytes } = this.#inside;
    return heldBytes === 0 || heldBytes + bytes <= this.#bytesMax;
  }
}
