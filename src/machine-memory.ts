import { totalmem } from 'node:os';

/** The memory that this process may use, in bytes: the machine's, or the limit of its container. */
export function machineMemoryBytes(
  totalBytes: number = totalmem(),
  constrainedBytes: number | undefined = process.constrainedMemory(),
): number {
  // Without a container the limit is 0 or impossibly large.
  const isConstrained = constrainedBytes !== undefined && constrainedBytes > 0;
  return isConstrained ? Math.min(constrainedBytes, totalBytes) : totalBytes;
}
