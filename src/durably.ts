import { DiskError } from '../ingest/disk/disk.ts';
import { systemReason } from '../ingest/system-reason.ts';
import { ServiceError } from './errors.ts';

/**
 * Does work that writes a caller's change to disk. `what` is the subject of the error's sentence.
 *
 * @throws ServiceError if the disk fails.
 */
export async function durably(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof DiskError)) throw cause;
    const message = `${what} could not be written durably, and may or may not exist after a restart: ${systemReason(cause)}`;
    throw new ServiceError('storage_failed', message, { cause });
  }
}
