import { mkdirSync } from 'node:fs';
import { showProgress } from '../../src/command/progress.ts';
import { HttpClient } from '../http-client.ts';
import { postAll } from '../posting.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { Tenants } from '../workload/tenants.ts';
import { KINDS, type Kind, ndjson } from '../workload/workload.ts';
import { WeirEngine, type WeirSubjectOptions } from './weir-engine.ts';
import { dataDirOf, partOf, WEIR_PARTS } from './weir-folders.ts';
import { startWeir } from './weir-service.ts';

const BATCH_EVENTS = 500;
const CONNECTIONS = 4;

/**
 * Takes all events in through weir's HTTP door, each post durable before the next of its sender. Then it may come to rest,
 * as others merge, or analyse, what they have.
 */
export async function loadWeir(
  options: WeirSubjectOptions,
  data: { readonly tenants: Tenants; readonly eventCounts: ReadonlyMap<Kind, number> },
): Promise<void> {
  for (const part of WEIR_PARTS) {
    mkdirSync(dataDirOf(options.folder, part), { recursive: true });
    const service = await startWeir(part, options);
    try {
      for (const [kind, eventCount] of data.eventCounts) {
        if (partOf(kind) === part) await post(service, kind, { tenants: data.tenants, eventCount });
      }
      await service.atRest();
    } finally {
      await service.stop();
    }
  }
  const engine = await WeirEngine.open(options);
  await engine.settle();
  await engine.close();
}

async function post(
  service: ServiceProcess,
  kind: Kind,
  of: { readonly tenants: Tenants; readonly eventCount: number },
): Promise<void> {
  const client = new HttpClient(service.url, service.token, CONNECTIONS);
  const path = `/api/logs?source_name=${encodeURIComponent(KINDS.get(kind)!.source)}`;
  const batches = ndjson(kind, { ...of, perText: BATCH_EVENTS });
  let sentCount = 0;
  await postAll(client, { path, connectionCount: CONNECTIONS }, () => {
    const { value, done } = batches.next();
    if (done) return undefined;
    sentCount += value.eventCount;
    showProgress(`weir: ${kind}, ${sentCount} of ${of.eventCount}`);
    return Buffer.from(`[${value.text.slice(0, -1).replaceAll('\n', ',')}]`);
  });
  showProgress('');
  client.close();
}
