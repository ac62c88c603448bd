import { totalmem } from 'node:os';

/** Bytes of memory this process may use at most: the machine's, or what its container has of them. */
export function machineMemoryBytes(
  totalBytes: number = totalmem(),
  constrainedBytes: number | undefined = process.constrainedMemory(),
): number {
  // Without a container it is 0, or more than there can be.
  const isConstrained = constrainedBytes !== undefined && constrainedBytes > 0;
  return isConstrained ? Math.min(constrainedBytes, totalBytes) : totalBytes;
}
