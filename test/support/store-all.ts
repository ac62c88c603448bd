import { setTimeout as wait } from 'node:timers/promises';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import type { Backend } from '../../src/store/backend.ts';

/**
 * Has all events that were taken in sealed and stored, as it happens by itself in five minutes, and
 * lets go of what the log has of them. `nowUs`: the service's time, which goes on unchanged.
 */
export async function storeAll(backend: Backend, nowUs: number): Promise<void> {
  backend.tick(nowUs);
  backend.tick(nowUs + SEAL_AGE_US);
  const isStored = (): boolean =>
    backend.stats().sources.every(({ segments, stored }) => {
      const { open, frozen, sealed } = segments;
      return open.count === 0 && frozen.count === 0 && stored.count === sealed.count;
    });
  while (!isStored()) await wait(1);
  backend.tick(nowUs + SEAL_AGE_US);
}
