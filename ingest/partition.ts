/** Width of a partition in microseconds: one UTC day. */
export const PARTITION_US = 86_400_000_000;

/** The partition of a timestamp: days since the epoch. */
export function toPartition(timestampUs: number): number {
  return Math.floor(timestampUs / PARTITION_US);
}

/** The start of the oldest partition to keep when rows before `oldestUs` may be dropped. */
export function oldestPartitionUs(oldestUs: number): number {
  return toPartition(oldestUs) * PARTITION_US;
}
