import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SEAL_AGE_US } from '../ingest/limits.ts';
import { Readiness } from '../src/readiness.ts';
import { parseSettings } from '../src/settings.ts';
import type { Backend } from '../src/store/backend.ts';
import { openBackend } from '../src/store/log-backend.ts';

/** Sealing and writing what was open takes seconds. */
const SEAL_MS_MAX = 120_000;

/**
 * Seals and stores every event of a data folder that no service has: time passes for it until nothing
 * is open.
 */
export async function sealEverything(
  dataDir: string,
  nowUs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const backend = openBackend({
    settings: parseSettings({ ...environment, DATA_DIR: dataDir }),
    log: (entry) => {
      if (entry.level === 'error') throw new Error(JSON.stringify(entry));
    },
  });
  try {
    await backend.recover(nowUs, new Readiness());
    backend.tick(nowUs);
    backend.tick(nowUs + SEAL_AGE_US);
    const endMs = performance.now() + SEAL_MS_MAX;
    while (!isStored(backend)) {
      if (performance.now() > endMs) throw new Error(`not sealed in ${SEAL_MS_MAX} ms`);
      await wait(20);
    }
  } finally {
    await backend.close(nowUs);
  }
}

function isStored(backend: Backend): boolean {
  return backend.stats().sources.every(({ segments, stored }) => {
    const { open, frozen, sealed } = segments;
    return open.count === 0 && frozen.count === 0 && stored.count === sealed.count;
  });
}

/** How many files below a folder have names that end so, and their bytes. */
export function filesBelow(
  folder: string,
  ending: string,
): { readonly count: number; readonly byteSize: number } {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith(ending));
  // One that is removed meanwhile has none.
  const sizes = files.map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  const byteSize = sizes.reduce((sum, size) => sum + size, 0);
  return { count: files.length, byteSize };
}
