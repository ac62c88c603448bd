import { setTimeout as wait } from 'node:timers/promises';
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
  const renewalsBefore = await readRenewals(client);
  const processorBefore = service.processorMs();
  showProgress('idle');
  await wait(idleMs);
  showProgress('');
  const share = (service.processorMs() - processorBefore) / idleMs;
  const renewals = (await readRenewals(client)) - renewalsBefore;
  console.log(
    `idle for ${idleMs / 1000} s: ${(100 * share).toFixed(2)} % of a processor, ` +
      `${((1000 * renewals) / idleMs).toFixed(1)} renewals/s ` +
      barText(`< ${100 * SHARE_MAX} %`, share < SHARE_MAX),
  );
}

/** How many kept answers the service has made anew. */
async function readRenewals(client: HttpClient): Promise<number> {
  return (await readMetrics(client)).get('weir_cache_renewals_total{result="ok"}') ?? 0;
}
