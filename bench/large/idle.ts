import { setTimeout as wait } from 'node:timers/promises';
import { WORK_KINDS } from '../../engine/pool/work-shares.ts';
import { showProgress } from '../../src/command/progress.ts';
import type { HttpClient } from '../http-client.ts';
import { barText } from '../measure.ts';
import type { ServiceProcess } from '../service-process.ts';
import { readMetrics } from '../service-reading.ts';

const SHARE_MAX = 0.02;

/** Says what the service does for so long when nobody calls. */
export async function tellIdle(
  service: ServiceProcess,
  client: HttpClient,
  idleMs: number,
): Promise<void> {
  const before = await readWork(client);
  const processorBefore = service.processorMs();
  showProgress('idle');
  await wait(idleMs);
  showProgress('');
  const share = (service.processorMs() - processorBefore) / idleMs;
  const after = await readWork(client);
  const renewals = after.renewals - before.renewals;
  const ran = WORK_KINDS.map(
    (kind, index) => `${kind} ${(after.runSeconds[index]! - before.runSeconds[index]!).toFixed(1)}`,
  );
  console.log(
    `idle for ${idleMs / 1000} s: ${(100 * share).toFixed(2)} % of a processor, ` +
      `${((1000 * renewals) / idleMs).toFixed(1)} renewals/s, threads run ${ran.join(', ')} s ` +
      barText(`< ${100 * SHARE_MAX} %`, share < SHARE_MAX),
  );
}

/** How many kept answers the service has made anew, and how long its threads have run for each kind of work. */
async function readWork(
  client: HttpClient,
): Promise<{ readonly renewals: number; readonly runSeconds: readonly number[] }> {
  const metrics = await readMetrics(client);
  return {
    renewals: metrics.get('weir_cache_renewals_total{result="ok"}') ?? 0,
    runSeconds: WORK_KINDS.map(
      (kind) => metrics.get(`weir_work_run_seconds_total{kind="${kind}"}`) ?? 0,
    ),
  };
}
