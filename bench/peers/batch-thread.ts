/** Makes the events of a kind for who loads them: see `batches-ahead.ts`. Started through `batch-thread.mjs`. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { Tenants } from '../workload/tenants.ts';
import { ndjson } from '../workload/workload.ts';
import { type BatchOrder, handOver } from './batches-ahead.ts';

type ThreadData = {
  readonly order: BatchOrder;
  readonly port: MessagePort;
  readonly waiting: Int32Array;
};

const { order, port, waiting } = workerData as ThreadData;
const { kind, projectCount, eventCount, perText } = order;
handOver(ndjson(kind, { tenants: new Tenants(projectCount), eventCount, perText }), {
  port,
  waiting,
});
