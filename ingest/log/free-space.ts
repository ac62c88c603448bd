import type { Disk } from '../disk/disk.ts';
import { DISK_FREE_BYTES_ENOUGH, DISK_FREE_BYTES_LOW } from '../limits.ts';

/**
 * Whether a disk has room. Below DISK_FREE_BYTES_LOW it is low, until there are
 * DISK_FREE_BYTES_ENOUGH again.
 */
export class FreeSpace {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #onChange: (isLow: boolean, freeBytes: number) => void;
  #isLow = false;
  #underWay: Promise<void> | undefined;

  constructor(options: {
    readonly disk: Disk;
    readonly folder: string;
    readonly onChange: (isLow: boolean, freeBytes: number) => void;
  }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#onChange = options.onChange;
  }

  get isLow(): boolean {
    return this.#isLow;
  }

  /** Looks, unless it does already; never rejects. A disk that does not tell keeps its state. */
  measure(): Promise<void> {
    this.#underWay ??= this.#measure().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #measure(): Promise<void> {
    let freeBytes: number;
    try {
      freeBytes = await this.#disk.freeBytes(this.#folder);
    } catch {
      return;
    }
    const isLow = freeBytes < (this.#isLow ? DISK_FREE_BYTES_ENOUGH : DISK_FREE_BYTES_LOW);
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    this.#onChange(isLow, freeBytes);
  }
}
