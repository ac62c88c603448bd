/**
 * Does one task with a peer and reports to its parent process: `version` fails where the engine is not installed, `load`
 * takes in all events, `ask` asks all that weir was asked, `ask texts` what it is given. Started by `peer-stages.ts`.
 */
import { mkdirSync } from 'node:fs';
import { must } from '../../engine/assert.ts';
import { showProgress } from '../../src/command/progress.ts';
import type { Peer } from '../peers/peer.ts';
import { PEERS } from '../peers/peer-list.ts';
import type { AnswerRow, Question } from '../peers/question.ts';
import { readBytesOf } from '../read-bytes.ts';
import type { EventBatch, Kind } from '../workload/workload.ts';
import { type AskText, askTwice, type TextTimes } from './asked-texts.ts';
import { type AskedEngine, askGroups, warmUp } from './asking.ts';
import { LargeCalls } from './calls.ts';
import type { PeerResult } from './engine-result.ts';
import { type LargeKind, largeBatches } from './large-events.ts';
import { dropPageCache } from './page-cache.ts';
import type { PeerOrder, PeerTextTimes } from './peer-order.ts';

/** Events of a text that peers load. */
const LOAD_EVENTS = 2_000;

/** Its tables, and the events that become their rows: one of full events as they were sent, one of what is counted of them. */
const LOADS: readonly { readonly table: Kind; readonly kind: LargeKind }[] = [
  { table: 'full', kind: 'full' },
  { table: 'lean', kind: 'full' },
  { table: 'invocations', kind: 'invocations' },
  { table: 'lean', kind: 'lean' },
];

process.once('message', (order: PeerOrder) => {
  void runTask(order).then((report) => process.send?.(report, () => process.exit(0)));
});

async function runTask(order: PeerOrder): Promise<object> {
  const make = must(PEERS.get(order.name), 'the peer is one of the list');
  switch (order.task) {
    case 'version':
      return { version: await (await make()).version() };
    case 'load':
      await load(await make(), order);
      return {};
    case 'ask':
      return await ask(await make(order.size.memoryBytes), order);
    case 'ask texts':
      return await askTexts(await make(order.size.memoryBytes), order);
  }
}

async function load(peer: Peer, { folder, size }: PeerOrder): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await peer.open(folder);
  const { projects } = new LargeCalls(size);
  const loads = LOADS.filter(({ kind }) => size.eventCounts.has(kind));
  for (const { table, kind } of loads) {
    const eventCount = size.eventCounts.get(kind)!;
    const batches = largeBatches(kind, { projects, eventCount, eventsPerBatch: LOAD_EVENTS });
    await peer.load(table, shown(`${peer.name}: ${table}`, eventCount, batches));
  }
  showProgress(`${peer.name}: indexes`);
  await peer.finishLoading();
  for (const [table, count] of await peer.counts()) {
    const kind = loads.find((one) => one.table === table)!.kind;
    if (count !== size.eventCounts.get(kind))
      throw new Error(`${count} rows of ${table} are there`);
  }
  await peer.close();
  showProgress('');
}

function* shown(
  name: string,
  eventCount: number,
  batches: Iterable<EventBatch>,
): Generator<EventBatch> {
  let loadedCount = 0;
  for (const batch of batches) {
    yield batch;
    loadedCount += batch.eventCount;
    showProgress(`${name}, ${loadedCount} of ${eventCount}`);
  }
}

async function askTexts(peer: Peer, { folder, texts }: PeerOrder): Promise<PeerTextTimes> {
  const { warmUp: others, asked } = must(texts, 'there is something to ask');
  await peer.open(folder);
  const ask: AskText = async (text) => {
    const rows = await must(peer.askSql?.(text), 'the peer takes SQL of its own');
    return () => rows;
  };
  for (const text of others) await ask(text);
  const times: TextTimes[] = [];
  for (const text of asked) times.push(await askTwice(ask, text));
  const version = await peer.version();
  await peer.close();
  return { version, times };
}

async function ask(peer: Peer, { folder, size }: PeerOrder): Promise<PeerResult> {
  await peer.open(folder);
  const calls = new LargeCalls(size);
  const asked: AskedEngine = {
    name: peer.name,
    ask: async (question: Question): Promise<() => readonly AnswerRow[]> => {
      const rows = must(await peer.ask(question), 'every peer can be asked these');
      return () => rows;
    },
    readBytes: () => readBytesOf(process.pid),
  };
  await warmUp(asked, calls.warmUp, size.warmUpMs);
  let isCacheDropped = true;
  const drop = (): void => {
    isCacheDropped = dropPageCache(folder) && isCacheDropped;
  };
  const first = await askGroups(asked, calls.first, drop);
  const busiest = await askGroups(asked, calls.busiest, () => {});
  const version = await peer.version();
  await peer.close();
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  return { name: peer.name, version, first, busiest, peakBytes, isCacheDropped };
}
