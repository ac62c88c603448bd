/**
 * How much memory does a service take that has little to do?
 *
 *   npm run build && node --import tsx bench/idle.ts
 *   node --import tsx bench/idle.ts --size small --uncompiled   as the tests run it
 *
 * In each profile: at rest with nothing stored; then with what a small stack does, some events a second
 * from nine sources and a page of logs looked at; then at rest again. Resident memory of the whole
 * process, as the system counts it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { BUILT_IN_SOURCES } from '../ingest/source.ts';
import { Traffic } from '../src/demo/traffic/traffic.ts';
import { PROFILE_NAMES, type ProfileName } from '../src/profile.ts';
import { HttpClient } from './http-client.ts';
import { barText, environmentLine } from './measure.ts';
import { mustPost } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { mustGet } from './service-reading.ts';
import { readSizeOptions } from './size-options.ts';

const IDLE_BYTES_MAX = 150e6;

type Size = {
  /** Before resident memory is looked at: threads end that had nothing to do for a minute. */
  readonly restS: number;
  /** Each posts some events of every source and calls once. */
  readonly rounds: number;
  readonly roundMs: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { restS: 0.2, rounds: 2, roundMs: 10 }],
  ['large', { restS: 65, rounds: 120, roundMs: 500 }],
]);

const EVENTS_PER_POST = 5;

await main();

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  console.log(environmentLine());
  for (const profile of PROFILE_NAMES) await measure(profile, command, size);
}

async function measure(
  profile: ProfileName,
  command: readonly string[],
  size: Size,
): Promise<void> {
  const service = await ServiceProcess.start(command, { PROFILE: profile });
  try {
    await wait(size.restS * 1000);
    tellIdle(`${profile}, idle for ${size.restS} s with nothing stored`, service.residentBytes());
    const eventCount = await useALittle(service, size);
    tell(
      `${profile}, after ${eventCount} events and ${size.rounds} calls`,
      service.residentBytes(),
    );
    await wait(size.restS * 1000);
    tellIdle(`${profile}, idle again for ${size.restS} s`, service.residentBytes());
  } finally {
    await service.kill();
  }
}

function tellIdle(stage: string, bytes: number): void {
  tell(stage, bytes, barText('<= 150 MB', bytes <= IDLE_BYTES_MAX));
}

function tell(stage: string, bytes: number, bar = ''): void {
  console.log(`${stage}: ${(bytes / 1e6).toFixed(0)} MB resident ${bar}`);
}

/** How many events were posted. */
async function useALittle(service: ServiceProcess, size: Size): Promise<number> {
  const client = new HttpClient(service.url, service.token, 2);
  const traffic = new Traffic({ seed: 1, projectCount: 1 });
  const [project] = traffic.projects;
  let eventCount = 0;
  for (let round = 0; round < size.rounds; round++) {
    for (const { name } of BUILT_IN_SOURCES) {
      const events = Array.from({ length: EVENTS_PER_POST }, () => traffic.of(name, Date.now()));
      await mustPost(client, `/api/logs?source_name=${name}`, Buffer.from(JSON.stringify(events)));
      eventCount += events.length;
    }
    await mustGet(client, `/api/endpoints/logs.all?project=${project?.ref}`);
    await wait(size.roundMs);
  }
  client.close();
  return eventCount;
}
