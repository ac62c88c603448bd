import type { Disk } from '../disk/disk.ts';
import { DISK_FREE_BYTES_ENOUGH, DISK_FREE_BYTES_LOW } from '../limits.ts';

/** Tracks whether the disk has room. It is low below DISK_FREE_BYTES_LOW, until DISK_FREE_BYTES_ENOUGH are free again. */
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

  /** Reads the free space, unless a read is under way. Never rejects: if the read fails, the state does not change. */
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
