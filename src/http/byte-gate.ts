import { FairQueue } from '../../engine/pool/fair-queue.ts';
import { NO_TENANT, type Tenant } from '../../engine/pool/tenant-sets.ts';

type Waiting = { readonly bytes: number; readonly tenant: Tenant; readonly enter: () => void };

/**
 * Lets work in as long as the bytes of all that is in stay within a bound; the rest waits, in turns that are fair
 * between tenants by bytes. Work larger than the bound goes in alone.
 */
export class ByteGate {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting = new FairQueue<Waiting>();
  /** Whose turn it is, and who waits for room. */
  #next: Waiting | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Resolves when the work may begin. Each is followed by one `leave` with the same number. */
  async enter(bytes: number, tenant: Tenant = NO_TENANT): Promise<void> {
    if (this.#next === undefined && this.#hasRoom(bytes)) {
      this.#waiting.pass(tenant);
      this.#letIn(bytes, tenant);
      return;
    }
    await new Promise<void>((enter) => {
      this.#waiting.add({ bytes, tenant, enter }, tenant);
      this.#next ??= this.#waiting.take();
    });
  }

  leave(bytes: number): void {
    this.#bytes -= bytes;
    while (this.#next !== undefined && this.#hasRoom(this.#next.bytes)) {
      const { bytes: size, tenant, enter } = this.#next;
      this.#letIn(size, tenant);
      this.#next = this.#waiting.take();
      enter();
    }
  }

  #letIn(bytes: number, tenant: Tenant): void {
    this.#bytes += bytes;
    this.#waiting.charge(bytes, tenant);
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }
}
