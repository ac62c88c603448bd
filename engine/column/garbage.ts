import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/**
 * Collects all garbage of this thread; takes some 10 ms. V8 does not count shared memory when it
 * decides whether to collect, and shared memory is freed when the last thread has collected what
 * named it: so whoever lets much of it go must ask.
 */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}

/** Bytes of arrays that this thread has outside of its heap, shared ones left out; takes about a microsecond. */
export function arrayBytes(): number {
  return getHeapStatistics().external_memory;
}
