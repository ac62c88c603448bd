/**
 * What do people wait for who look at projects of the last minutes while logs flow? A sender posts edge events and
 * invocations at a fixed rate; one reader asks the three saved queries of projects by their share of the traffic, one of
 * projects that are all as likely. Calls are told apart by whether the process was asked the same before.
 *
 *   npm run bench:live                        seven minutes
 *   npm run bench:live -- --size medium       two minutes and a half; small: as the tests run it
 *   npm run bench:live -- --beside PATH       by turns with the build of another checkout: four times as long
 *
 * The clock is the real one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { showProgress } from '../src/command/progress.ts';
import { type Build, buildsInTurn } from './builds.ts';
import { SenderProcess } from './large/sender-process.ts';
import { ClosedDay } from './live/closed-day.ts';
import { LiveReaders } from './live/live-readers.ts';
import { type LiveRun, tableOf } from './live/report.ts';
import { environmentLine } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';

const MEMORY_LIMIT = '1GiB';

type Size = {
  /** Events of each kind of a day before the run. */
  readonly dayEvents: number;
  readonly eventsPerSecond: number;
  /** How long logs flow before anyone asks. */
  readonly fillMs: number;
  readonly askMs: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { dayEvents: 1_000, eventsPerSecond: 500, fillMs: 1_000, askMs: 3_000 }],
  ['medium', { dayEvents: 20_000, eventsPerSecond: 2_000, fillMs: 20_000, askMs: 120_000 }],
  ['large', { dayEvents: 100_000, eventsPerSecond: 3_000, fillMs: 60_000, askMs: 300_000 }],
]);

/** One run of a build, and what it answered. */
type Run = LiveRun & { readonly hash: string };

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['beside']);
  console.log(
    `${environmentLine()}, MEMORY_LIMIT=${MEMORY_LIMIT}, ${size.eventsPerSecond} events/s`,
  );
  const runs: Run[] = [];
  for (const build of buildsInTurn(command, own['beside'])) runs.push(await measure(build, size));
  const hashes = Array.from(new Set(runs.map(({ hash }) => hash)));
  if (hashes.length > 1) throw new Error(`answers differ: ${hashes}`);
  const names = Array.from(new Set(runs.map(({ name }) => name)));
  const joined = names.map((name) => ({
    name,
    calls: runs.filter((run) => run.name === name).flatMap(({ calls }) => calls),
  }));
  console.log(`\n${tableOf(joined)}`);
  console.log(`result hash ${hashes}`);
}

async function measure({ name, command }: Build, size: Size): Promise<Run> {
  const service = await ServiceProcess.start(command, { MEMORY_LIMIT });
  try {
    const { url, token } = service;
    const day = new ClosedDay({ url, token, nowMs: Date.now() });
    await day.fill(size.dayEvents);
    const { eventsPerSecond, fillMs, askMs } = size;
    const sender = new SenderProcess({ url, token, eventsPerSecond });
    while (sender.counts.eventCount === 0) await wait(10);
    showProgress(`${name}: logs flow`);
    await wait(fillMs);
    const before = sender.counts;
    const readers = new LiveReaders(service);
    showProgress(`${name}: asking`);
    await wait(askMs);
    const all = await readers.stop();
    const { eventCount, refusedCount } = sender.counts;
    await sender.stop();
    showProgress('');
    const calls = all.filter(({ isAnswered }) => isAnswered);
    console.log(
      `${name}: ${calls.length} calls answered, ${all.length - calls.length} not 200; ` +
        `${((1000 * (eventCount - before.eventCount)) / askMs).toFixed(0)} events/s taken, ` +
        `${refusedCount - before.refusedCount} posts refused`,
    );
    return { name, calls, hash: await day.hash() };
  } finally {
    await service.stop();
  }
}

await main();
