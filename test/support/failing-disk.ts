import { DiskError, type DiskReader } from '../../ingest/disk/disk.ts';
import { ForwardingDisk } from '../../ingest/disk/forwarding-disk.ts';

type ReadStep = 'open' | 'read' | 'list';

/** What a read does instead of reading: fail with a code of the system, or give fewer bytes than there are. */
export type ReadFault = 'EIO' | 'EMFILE' | 'ENFILE' | 'EACCES' | 'short';

export const READ_FAULTS: readonly ReadFault[] = ['EIO', 'EMFILE', 'ENFILE', 'EACCES', 'short'];

/** A disk whose reads fail as a test says; all else is as on the disk below. */
export class FailingDisk extends ForwardingDisk {
  /** Asked for each open, read and list; `undefined`: it goes well. */
  faultOf: (step: ReadStep, path: string) => ReadFault | undefined = () => undefined;
  /** Reads that have failed so far. */
  failureCount = 0;

  override async open(path: string): Promise<DiskReader> {
    this.#fault('open', path);
    const reader = await this.below.open(path);
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

  override async list(path: string): Promise<readonly string[]> {
    this.#fault('list', path);
    return this.below.list(path);
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
