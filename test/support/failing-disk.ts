import { type Disk, DiskError, type DiskFile, type DiskReader } from '../../ingest/disk/disk.ts';

type ReadStep = 'open' | 'read' | 'list';

/** What a read does instead of reading: fail with a code of the system, or give fewer bytes than there are. */
export type ReadFault = 'EIO' | 'EMFILE' | 'ENFILE' | 'EACCES' | 'short';

export const READ_FAULTS: readonly ReadFault[] = ['EIO', 'EMFILE', 'ENFILE', 'EACCES', 'short'];

/** A disk whose reads fail as a test says; all else is as on the disk below. */
export class FailingDisk implements Disk {
  readonly #disk: Disk;
  /** Asked for each open, read and list; `undefined`: it goes well. */
  faultOf: (step: ReadStep, path: string) => ReadFault | undefined = () => undefined;
  /** Reads that have failed so far. */
  failureCount = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  create(path: string): Promise<DiskFile> {
    return this.#disk.create(path);
  }

  async open(path: string): Promise<DiskReader> {
    this.#fault('open', path);
    const reader = await this.#disk.open(path);
    return {
      size: reader.size,
      read: async (target, offset) => {
        if (this.#fault('read', path) !== 'short') return reader.read(target, offset);
        this.failureCount += 1;
        const left = Math.max(0, Math.min(target.length, reader.size - offset));
        return reader.read(target.subarray(0, left >> 1), offset);
      },
      close: () => reader.close(),
    };
  }

  rename(from: string, to: string): Promise<void> {
    return this.#disk.rename(from, to);
  }

  remove(path: string): Promise<void> {
    return this.#disk.remove(path);
  }

  truncate(path: string, size: number): Promise<void> {
    return this.#disk.truncate(path, size);
  }

  makeFolder(path: string): Promise<void> {
    return this.#disk.makeFolder(path);
  }

  syncFolder(path: string): Promise<void> {
    return this.#disk.syncFolder(path);
  }

  async list(path: string): Promise<readonly string[]> {
    this.#fault('list', path);
    return this.#disk.list(path);
  }

  freeBytes(path: string): Promise<number> {
    return this.#disk.freeBytes(path);
  }

  /** Throws where the step fails; what is opened or listed is never short. */
  #fault(step: ReadStep, path: string): ReadFault | undefined {
    const fault = this.faultOf(step, path);
    if (fault === undefined || fault === 'short') return fault;
    this.failureCount += 1;
    const done = { open: 'opened', read: 'read', list: 'listed' }[step];
    throw new DiskError(done, path, Object.assign(new Error(fault), { code: fault }));
  }
}
