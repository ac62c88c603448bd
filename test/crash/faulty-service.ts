/**
 * The service as `weir start` runs it, for `receivers.test.ts`: a file says what is wrong with its disk or its memory at
 * present.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { DiskError, type DiskFile } from '../../ingest/disk/disk.ts';
import { ForwardingDisk } from '../../ingest/disk/forwarding-disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { MemoryBudget } from '../../ingest/memory-budget.ts';
import { createClock } from '../../src/clock.ts';
import { createLog } from '../../src/log.ts';
import { startService } from '../../src/service.ts';
import { parseSettings } from '../../src/settings.ts';
import { openBackend } from '../../src/store/log-backend.ts';
import { faultIn, SLOW_SYNC_MS } from './fault-file.ts';

const FAULT_PATH = String(process.env['FAULT_PATH']);

class FaultyDisk extends ForwardingDisk {
  override async create(path: string): Promise<DiskFile> {
    const file = await this.below.create(path);
    return {
      write: async (parts) => {
        if (faultIn(FAULT_PATH) !== 'full disk') return file.write(parts);
        throw new DiskError('written', path, Object.assign(new Error('full'), { code: 'ENOSPC' }));
      },
      sync: async () => {
        if (faultIn(FAULT_PATH) === 'slow disk') await wait(SLOW_SYNC_MS);
        await file.sync();
      },
      checkPlace: () => file.checkPlace(),
      close: () => file.close(),
    };
  }
}

const own = Object.getOwnPropertyDescriptor(MemoryBudget.prototype, 'backlogBytesMax')!;
Object.defineProperty(MemoryBudget.prototype, 'backlogBytesMax', {
  get(this: MemoryBudget): number {
    // Less than nothing: an empty backlog is full, too.
    return faultIn(FAULT_PATH) === 'full backlog' ? -1 : Number(own.get!.call(this));
  },
});

const settings = parseSettings(process.env);
const clock = createClock({
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  frozenNowUs: settings.frozenNowUs,
});
// What is wrong is wanted.
const log = createLog(
  () => {},
  () => new Date().toISOString(),
);
const service = await startService({
  ...{ settings, clock, log },
  openBackend: (stored) =>
    openBackend({
      ...{ settings: stored, log, disk: new FaultyDisk(new NodeDisk()) },
      nowMs: clock.monotonicMs,
    }),
});
process.once('SIGTERM', () => {
  void service.stop().then(() => process.exit(0));
});
process.stdout.write(`${JSON.stringify({ url: service.url })}\n`);
