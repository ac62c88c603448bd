import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { must } from '../../engine/assert.ts';
import type { Source } from '../../ingest/source.ts';
import { showProgress } from '../../src/command/progress.ts';
import { ServiceError } from '../../src/errors.ts';
import { Readiness } from '../../src/readiness.ts';
import { parseSettings } from '../../src/settings.ts';
import type { Backend } from '../../src/store/backend.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { sealEverything } from '../sealed-folder.ts';
import { NOW_US } from './clock.ts';
import { Tenants } from './tenants.ts';
import { FLOATS_SOURCE, type Kind, ndjson, sourceOf } from './workload.ts';

/** A workload to measure the engine with, in this process. */
export type WorkloadOptions = {
  /** How many events of which kinds; `lean` and `full` are of one source. */
  readonly eventCounts: ReadonlyMap<Kind, number>;
  readonly projectCount?: number;
  /** Where it is kept; one in the system's folder for such things when left out. */
  readonly folder?: string;
  /** Of the service: `WORKERS`, `MEMORY_LIMIT`, … */
  readonly environment?: Readonly<Record<string, string>>;
};

export type Workload = {
  readonly backend: Backend;
  readonly tenants: Tenants;
  readonly nowUs: number;
};

const EVENTS_PER_BODY = 2000;
const PROJECT_COUNT = 2000;

/** A sender who is told to come back does so after this. */
const RETRY_MS = 20;

/** The backend makes room now and then, for instance by writing what was sealed. */
const BODIES_PER_TICK = 50;

/**
 * A backend as the service has it, with these events taken in, sealed, merged and stored. They are
 * made the first time only: the same counts find them again in a second. Remove the folder
 * (`weir-workload-…`) when the format of segments changes. To be closed with `backend.close(nowUs)`.
 */
export async function openWorkload(options: WorkloadOptions): Promise<Workload> {
  const { eventCounts, projectCount = PROJECT_COUNT } = options;
  const tenants = new Tenants(projectCount);
  const name = Array.from(eventCounts, ([kind, count]) => `${kind}-${count}`).join('-');
  const folder = options.folder ?? join(tmpdir(), `weir-workload-${projectCount}-${name}`);
  if (!existsSync(folder)) {
    const partial = `${folder}.${process.pid}`;
    mkdirSync(partial, { recursive: true });
    for (const [kind, eventCount] of eventCounts) {
      await takeIn(partial, { kind, eventCount, tenants });
    }
    renameSync(partial, folder);
  }
  const backend = open(folder, options.environment ?? {});
  await backend.recover(NOW_US, new Readiness());
  return { backend, tenants, nowUs: NOW_US };
}

async function takeIn(
  folder: string,
  of: { readonly kind: Kind; readonly eventCount: number; readonly tenants: Tenants },
): Promise<void> {
  const backend = open(folder, {});
  await backend.recover(NOW_US, new Readiness());
  const source = must(backend.intake.findSource(sourceOf(of.kind)), 'the source is built in');
  let done = 0;
  let bodyCount = 0;
  for (const { text, eventCount } of ndjson(of.kind, { ...of, perText: EVENTS_PER_BODY })) {
    while (!isTaken(backend, source)) await wait(RETRY_MS);
    const post = await backend.intake.decode({ pieces: [Buffer.from(text)], format: 'ndjson' });
    const refusals = await post.store(source, { nowUs: NOW_US });
    post.end();
    const [refusal] = refusals.reasons;
    if (refusal !== undefined) throw new Error(`events were refused: ${refusal}`);
    done += eventCount;
    if (++bodyCount % BODIES_PER_TICK === 0) backend.tick(NOW_US);
    showProgress(`making ${of.kind}: ${done} of ${of.eventCount}`);
  }
  showProgress('');
  await backend.close(NOW_US);
  await sealEverything(folder, NOW_US, { SOURCES: FLOATS_SOURCE });
}

/** False while sealing lies behind, as senders would be told. */
function isTaken({ intake }: Backend, source: Source): boolean {
  try {
    intake.check(source);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'ingest_overloaded') return false;
    throw error;
  }
}

function open(folder: string, environment: Readonly<Record<string, string>>): Backend {
  return openBackend({
    settings: parseSettings({ SOURCES: FLOATS_SOURCE, ...environment, DATA_DIR: folder }),
    log: (entry) => {
      if (entry.level === 'error') throw new Error(JSON.stringify(entry));
    },
  });
}
