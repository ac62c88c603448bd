import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { COLLECTING_MS_MAX } from '../limits.ts';

/**
 * V8 counts what arrays have outside of its heap, and begins to collect once there are 64 MiB more than when it
 * last did (`kExternalAllocationSoftLimit`). An array as long that nobody writes to takes no memory.
 */
const UNUSED_BYTES = 65 * 1024 * 1024;

/**
 * COLLECTING_MS_MAX of the main thread. Where all processors are busy V8 takes as long as that, and a collection at once
 * holds up all callers for a tenth of a second and more; nothing on this thread waits for the memory.
 */
const COLLECTING_MAIN_MS_MAX = 2_000;

let collect: ((options?: { readonly type: 'minor' }) => void) | undefined;

/**
 * Collects all garbage of this thread now; takes some 10 ms. V8 also forgets the shapes of classes without an
 * instance at this moment, and throws away all code that was compiled for them, which takes ten times as long
 * to be made again: for whoever cannot go on without the memory.
 */
export function collectGarbage(): void {
  collector()();
}

/**
 * Collects the garbage among new objects of this thread, with the arrays that they hold: most of what a task leaves, in
 * about a millisecond, and what is compiled stays.
 */
export function collectNewGarbage(): void {
  collector()({ type: 'minor' });
  // Arrays that one collection finds are given back by the next.
  collector()({ type: 'minor' });
}

function collector(): NonNullable<typeof collect> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as NonNullable<typeof collect>;
  }
  return collect;
}

let last: Promise<void> = Promise.resolve();

/**
 * Collects all garbage of this thread beside its other work, as V8 does of itself: within some 10 ms, and what is
 * compiled stays. Resolves once it is done. V8 does not count shared memory when it decides whether to collect, and
 * shared memory is freed when the last thread has collected what named it: so whoever lets much of it go must ask.
 */
export function collectGarbageBeside(): Promise<void> {
  // What is let go of while V8 collects is found by the next time only.
  last = last.then(collecting);
  return last;
}

const found = new FinalizationRegistry((resolve: () => void) => resolve());

async function collecting(): Promise<void> {
  const isCollected = await new Promise<boolean>((resolve) => {
    found.register({}, () => resolve(true));
    const msMax = isMainThread ? COLLECTING_MAIN_MS_MAX : COLLECTING_MS_MAX;
    setTimeout(() => resolve(false), msMax).unref();
    void new ArrayBuffer(UNUSED_BYTES);
  });
  if (!isCollected) collectGarbage();
}

/** Bytes of arrays that this thread has outside of its heap, shared ones left out; takes about a microsecond. */
export function arrayBytes(): number {
  return getHeapStatistics().external_memory;
}
