import { findStorePath } from '../../ingest/data-folder.ts';
import type { Disk } from '../../ingest/disk/disk.ts';
import type { LogEntry } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import type { Backend } from '../../src/store/backend.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { NOW_US, PRIVATE } from '../src/harness.ts';

/** A service on a folder that is given, whose clock is moved by the test. */
export type StartedService = {
  readonly service: Service;
  readonly backend: Backend;
  /** Where all is stored until the next start. */
  readonly storePath: string;
  readonly port: number;
  readonly entries: readonly LogEntry[];
  readonly clock: { us: number };
};

export async function startedOn(
  folder: string,
  options: { readonly disk?: Disk; readonly nowUs?: number } = {},
): Promise<StartedService> {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry): void => void entries.push(entry);
  const settings = parseSettings({
    ...{ PORT: '0', DATA_DIR: folder, PRIVATE_ACCESS_TOKEN: PRIVATE, WORKERS: '1' },
  });
  const moved = { us: options.nowUs ?? NOW_US };
  const clock = { nowUs: () => moved.us, monotonicMs: () => 0, wallMs: () => Date.now() };
  const service = await startService({
    ...{ settings, clock, log },
    openBackend: (stored) => openBackend({ settings: stored, log, disk: options.disk }),
  });
  const { backend } = service;
  const storePath = await findStorePath(folder);
  return {
    service,
    backend,
    storePath,
    port: Number(new URL(service.url).port),
    entries,
    clock: moved,
  };
}
