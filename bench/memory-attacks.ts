/**
 * How much memory does a service take whose callers want as much as they can get? After each attack the most resident
 * memory is printed that the system counted while it ran.
 *
 *   npm run build && node --import tsx bench/memory-attacks.ts
 *   node --import tsx bench/memory-attacks.ts --size small --limit 1024
 *
 * `--limit`: MEMORY_LIMIT in MiB, 256 unless given.
 */
import { AttackedService, type AttackReport } from './attacked-service.ts';
import { barText, environmentLine } from './measure.ts';
import { readSizeOptions } from './size-options.ts';
import { QUERY_ATTACKS } from './workload/memory-attacks.ts';

const SIZES: ReadonlyMap<string, { readonly eventCount: number }> = new Map([
  ['small', { eventCount: 100_000 }],
  ['large', { eventCount: 1_000_000 }],
]);

const UNREAD_MS = 2_000;

await main();

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['limit']);
  const limitMib = Number(own['limit'] ?? 256);
  console.log(`${environmentLine()}, MEMORY_LIMIT=${limitMib}MiB, ${size.eventCount} events`);
  const service = await AttackedService.start(command, { limitMib });
  try {
    tell(await service.takeIn(size.eventCount));
    for (const attack of QUERY_ATTACKS) tell(await service.attack(attack));
    tell(await service.askWithoutReading(40, UNREAD_MS));
    tell(await service.followWithoutReading(200, UNREAD_MS));
    tell(await service.askAsUsual());
  } finally {
    await service.stop();
  }
}

function tell({ name, peakBytes, peakBytesMax, outcomes }: AttackReport): void {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const bar = barText(`<= ${megabytes(peakBytesMax)}`, peakBytes <= peakBytesMax);
  const told = [...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
  console.log(`${name}: ${megabytes(peakBytes)} at most ${bar}; ${told}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
