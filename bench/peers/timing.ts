import { type Figures, figuresOf } from '../measure.ts';
import type { Size } from './size.ts';

export type Timing = Figures & { readonly callCount: number };

/** A call that takes longer is no faster the next time, and is not asked more often than it must be. */
const SLOW_MS = 1_000;

/** So long is enough for any question, even if it was asked less often than the size wants. */
const ASKING_MS_MAX = 5_000;

/**
 * Milliseconds of a call, warm: asked again and again for as long as the size says. `firstMs` is what it took
 * before.
 */
export async function timeCalls(
  ask: () => Promise<unknown>,
  size: Pick<Size, 'warmUpMs' | 'measuringMs' | 'callCountMax' | 'callCountMin'>,
  firstMs = 0,
): Promise<Timing> {
  if (firstMs >= ASKING_MS_MAX) return { ...figuresOf([firstMs]), callCount: 1 };
  if (firstMs < SLOW_MS) await warmUp(ask, size.warmUpMs);
  const samples: number[] = [];
  const startMs = performance.now();
  const isEnough = (): boolean => {
    const askingMs = performance.now() - startMs;
    if (samples.length === 0) return false;
    if (samples.length >= size.callCountMax || askingMs > ASKING_MS_MAX) return true;
    return samples.length >= size.callCountMin && askingMs > size.measuringMs;
  };
  while (!isEnough()) {
    await nextTurn();
    samples.push(await timeOnce(ask));
  }
  return { ...figuresOf(samples), callCount: samples.length };
}

export async function timeOnce(ask: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await ask();
  return performance.now() - startMs;
}

/**
 * Asks so many things in turns that each has taken about as long as any other when the time is over: by number, what
 * takes long would leave hardly any calls to what takes little, and V8 compiles what is called often.
 */
export async function warmUpEvenly(
  asks: readonly (() => Promise<unknown>)[],
  forMs: number,
): Promise<void> {
  const takenMs = asks.map(() => 0);
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const least = takenMs.indexOf(Math.min(...takenMs));
    await nextTurn();
    takenMs[least]! += await timeOnce(asks[least]!);
  }
}

/** At least once. */
async function warmUp(ask: () => Promise<unknown>, forMs: number): Promise<void> {
  const endMs = performance.now() + forMs;
  do {
    await nextTurn();
    await ask();
  } while (performance.now() < endMs);
}

/**
 * Each call in a turn of the event loop of its own, as calls come to a service: an engine in this process may answer
 * many in one, and what it puts off to the next would never be done.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
