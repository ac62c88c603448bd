import { createHash } from 'node:crypto';

/** Figures of one measured thing, in the unit of its samples. */
export type Figures = { readonly min: number; readonly p50: number; readonly p99: number };

export function figuresOf(samples: readonly number[]): Figures {
  const sorted = samples.toSorted((left, right) => left - right);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { min: sorted[0]!, p50: at(0.5), p99: at(0.99) };
}

/** Twelve hexadecimal digits that tell whether two runs answered the same. */
export function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/**
 * Runs `work` `count` times after `warmUpCount` runs that do not count, or as many as `warmUpMs` milliseconds
 * take when these are more: milliseconds each.
 */
export async function timeEach(
  work: () => Promise<unknown>,
  options: { readonly count: number; readonly warmUpCount: number; readonly warmUpMs?: number },
): Promise<readonly number[]> {
  const warmFromMs = performance.now() + (options.warmUpMs ?? 0);
  for (let run = 0; run < options.warmUpCount || performance.now() < warmFromMs; run++)
    await work();
  const samples: number[] = [];
  for (let run = 0; run < options.count; run++) {
    const startMs = performance.now();
    await work();
    samples.push(performance.now() - startMs);
  }
  return samples;
}

/** What a figure was to reach, and whether it did; for the end of its line. */
export function barText(bar: string, isReached: boolean): string {
  return `(bar ${bar}: ${isReached ? 'reached' : 'NOT reached'})`;
}

/** The machine and the versions a number belongs to. */
export function environmentLine(): string {
  return `Node ${process.version}, ${process.platform}-${process.arch}`;
}
