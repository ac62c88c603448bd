/**
 * One stage of the comparison in a process of its own, so that no engine suffers from what another has left
 * behind: `load`s the data of an engine, asks it everything (`measure`), or times calls whose parameters it
 * has never seen (`first-calls`); `version` fails where an engine is not to be had. Started by `run.ts`
 * through `engine-process.mjs`; the result is a file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { must } from '../../engine/assert.ts';
import { showProgress } from '../../src/command/progress.ts';
import { figuresOf } from '../measure.ts';
import { Tenants } from '../workload/tenants.ts';
import type { EventBatch } from '../workload/workload.ts';
import { type Asked, askedOf } from './asked.ts';
import { type BatchOrder, batchesAhead } from './batches-ahead.ts';
import { loadedNameOf, type Measured, memoryEnvironment, mustMeasured } from './engine-list.ts';
import type { MeasuredAnswer, MeasuredResult } from './result.ts';
import { type Size, sizeOf } from './size.ts';
import { type Subject, subjectOf } from './subject.ts';
import { nextTurn, timeCalls, timeOnce, warmUpEvenly } from './timing.ts';
import { WeirEngine, type WeirSubjectOptions } from './weir-engine.ts';
import { loadWeir } from './weir-loading.ts';
import { WeirService } from './weir-service.ts';

/** Events of a text that peers load: large enough that a call for each costs nothing. */
const LOAD_EVENTS = 10_000;

/** Of those whose first calls are made before the one that is timed, so many tell what is in use. */
const IN_USE_COUNT = 4;

type Stage = {
  readonly measured: Measured;
  readonly folder: string;
  readonly size: Size;
  readonly tenants: Tenants;
  readonly isUncompiled: boolean;
};

export async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ...{ task: { type: 'string' }, name: { type: 'string' }, folder: { type: 'string' } },
      ...{ size: { type: 'string' }, to: { type: 'string' }, uncompiled: { type: 'boolean' } },
      // Of `engine-process.mjs`.
      module: { type: 'string' },
    },
  });
  const size = sizeOf(must(values.size, 'a size is given'));
  const stage: Stage = {
    measured: mustMeasured(must(values.name, 'a name is given')),
    folder: must(values.folder, 'a folder is given'),
    size,
    tenants: new Tenants(size.projectCount),
    isUncompiled: values.uncompiled ?? false,
  };
  const result = await resultOf(must(values.task, 'a task is given'), stage);
  writeFileSync(must(values.to, 'a file is given'), JSON.stringify(result));
}

async function resultOf(task: string, stage: Stage): Promise<object> {
  switch (task) {
    case 'version':
      return { version: await versionOf(stage.measured) };
    case 'load':
      await load(stage);
      return {};
    case 'measure':
      return await asking(
        stage,
        (subject, one) => measure(subject, one, stage.size),
        (subject, all) => warmProcess(subject, all, stage.size),
      );
    case 'first-calls':
      return await asking(stage, firstCall, async (subject, all) => {
        await warmProcess(subject, all, stage.size);
        await warmAll(subject, all);
      });
    default:
      throw new Error(`there is no task ${task}`);
  }
}

async function versionOf(measured: Measured): Promise<string> {
  if (measured.kind === 'weir') return 'this checkout';
  return (await measured.make()).version();
}

async function load(stage: Stage): Promise<void> {
  const { measured, folder, size, tenants } = stage;
  const { eventCounts } = size;
  if (measured.kind === 'weir') {
    await loadWeir(weirOptionsOf(stage, {}), { tenants, eventCounts });
    return;
  }
  const peer = await measured.make();
  await peer.open(peerFolder(folder, loadedNameOf(measured)));
  for (const [kind, eventCount] of eventCounts) {
    const projectCount = tenants.projects.length;
    await peer.load(
      kind,
      shown(peer.name, { kind, projectCount, eventCount, perText: LOAD_EVENTS }),
    );
  }
  showProgress(`${peer.name}: indexes`);
  await peer.finishLoading();
  await peer.close();
  showProgress('');
}

function* shown(name: string, order: BatchOrder): Generator<EventBatch> {
  let loadedCount = 0;
  for (const batch of batchesAhead(order)) {
    yield batch;
    loadedCount += batch.eventCount;
    showProgress(`${name}: ${order.kind}, ${loadedCount} of ${order.eventCount}`);
  }
}

/** What an engine says to each question. */
async function asking(
  stage: Stage,
  ask: (subject: Subject, one: Asked) => Promise<MeasuredAnswer>,
  before: (subject: Subject, all: readonly Asked[]) => Promise<void> = async () => {},
): Promise<MeasuredResult> {
  const { measured, tenants } = stage;
  const subject = await open(stage);
  try {
    const all = askedOf(tenants);
    await before(subject, all);
    const answers: MeasuredAnswer[] = [];
    for (const one of all) {
      showProgress(`${measured.name}: ${one.name}`);
      answers.push(await ask(subject, one));
    }
    showProgress('');
    return {
      name: measured.name,
      version: await subject.version(),
      quantiles: subject.quantiles,
      counts: Object.fromEntries(await subject.counts()),
      answers,
    };
  } finally {
    await subject.close();
  }
}

async function open(stage: Stage): Promise<Subject> {
  const { measured, folder } = stage;
  if (measured.kind === 'peer') {
    const peer = await measured.make();
    await peer.open(peerFolder(folder, loadedNameOf(measured)));
    return subjectOf(peer);
  }
  const options = weirOptionsOf(stage, memoryEnvironment(measured.memory));
  return measured.through === 'engine' ? WeirEngine.open(options) : WeirService.open(options);
}

function weirOptionsOf(
  { folder, isUncompiled, tenants, size }: Stage,
  environment: Readonly<Record<string, string>>,
): WeirSubjectOptions {
  const kinds = Array.from(size.eventCounts.keys());
  return { folder, isUncompiled, floatProject: tenants.hot.ref, kinds, environment };
}

function peerFolder(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
}

async function measure(subject: Subject, one: Asked, size: Size): Promise<MeasuredAnswer> {
  const { name, question } = one;
  const startMs = performance.now();
  const rows = (await subject.rows(question)) ?? null;
  if (rows === null) return { name, rows, timing: null };
  const firstMs = performance.now() - startMs;
  return { name, rows, timing: await timeCalls(() => subject.ask(question), size, firstMs) };
}

/** Asks of other projects. */
async function warmProcess(
  subject: Subject,
  all: readonly Asked[],
  { processWarmUpMs }: Size,
): Promise<void> {
  const asks = all.flatMap((one) => one.alike).map((question) => () => subject.ask(question));
  await warmUpEvenly(asks, processWarmUpMs);
}

/**
 * Calls like all that will be made, so that the engine knows which are in use; then time for what it makes
 * ahead when little else is to be done.
 */
async function warmAll(subject: Subject, all: readonly Asked[]): Promise<void> {
  for (const { firstOfOthers } of all) {
    for (const question of firstOfOthers.slice(0, IN_USE_COUNT)) await subject.ask(question);
  }
  await subject.atRest();
}

async function firstCall(subject: Subject, one: Asked): Promise<MeasuredAnswer> {
  const { name, question, firstOfOthers, timedFirst } = one;
  if (firstOfOthers.length === 0) return { name, rows: null, timing: null };
  for (const other of firstOfOthers) {
    await nextTurn();
    await subject.ask(other);
  }
  const firstMs: number[] = [];
  for (const each of [...timedFirst, question]) {
    subject.prepare(each);
    await nextTurn();
    firstMs.push(await timeOnce(() => subject.ask(each)));
  }
  const rows = (await subject.rows(question)) ?? null;
  const timing = { ...figuresOf(firstMs), callCount: firstMs.length };
  return { name, rows, timing, firstMs };
}
