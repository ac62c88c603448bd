import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { must } from '../../engine/assert.ts';
import { IS_COMPILED, moduleUrl } from '../../test/support/program-words.ts';
import type { EventBatch, Kind } from '../workload/workload.ts';

/** Batches that wait to be taken: some, as their texts are of some megabytes. */
const AHEAD_MAX = 8;

/** Who waits longer for a batch waits for a thread that is no more. */
const WAITING_MS_MAX = 60_000;

/** A thread does not inherit what lets its process read sources. */
const THREAD = IS_COMPILED ? './batch-thread.ts' : './batch-thread.mjs';

/** What a thread is told that makes the batches of a kind. */
export type BatchOrder = {
  readonly kind: Kind;
  readonly projectCount: number;
  readonly eventCount: number;
  readonly perText: number;
};

/** Of one integer that both threads share: the batches that wait. */
const WAITING = 0;

/** The events of a kind, made in a thread of their own while those before are loaded. */
export function* batchesAhead(order: BatchOrder): Generator<EventBatch> {
  const { port1: port, port2: theirs } = new MessageChannel();
  const waiting = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(moduleUrl(THREAD, import.meta.url), {
    workerData: { order, port: theirs, waiting },
    transferList: [theirs],
  });
  try {
    for (let left = order.eventCount; left > 0; ) {
      // This thread blocks, for its peers take their batches one after the other.
      if (Atomics.wait(waiting, WAITING, 0, WAITING_MS_MAX) === 'timed-out') {
        throw new Error(`no batch of ${order.kind} was made within ${WAITING_MS_MAX} ms`);
      }
      const received = must(receiveMessageOnPort(port), 'a batch that waits is there');
      Atomics.sub(waiting, WAITING, 1);
      Atomics.notify(waiting, WAITING);
      const batch = received.message as EventBatch;
      left -= batch.eventCount;
      yield batch;
    }
  } finally {
    port.close();
    void thread.terminate();
  }
}

/** In the thread: hands over batches, and rests while enough of them wait. */
export function handOver(
  batches: Iterable<EventBatch>,
  { port, waiting }: { readonly port: Pick<Worker, 'postMessage'>; readonly waiting: Int32Array },
): void {
  for (const batch of batches) {
    Atomics.wait(waiting, WAITING, AHEAD_MAX);
    port.postMessage(batch);
    Atomics.add(waiting, WAITING, 1);
    Atomics.notify(waiting, WAITING);
  }
}
