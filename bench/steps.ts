/**
 * How long does a step of the main thread hold it, at most, while events come in?
 *
 *   npm run build && node --import tsx bench/steps.ts
 *   node --import tsx bench/steps.ts --size small --uncompiled   as the tests run it
 *
 * The service is measured by a hook in it (`step-meter.mjs`), which takes some of its time itself. The sender is
 * a process of its own on the same processors.
 */
import { showProgress } from '../src/command/progress.ts';
import type { CallLoad, PostLoad, Stream } from './load/order.ts';
import { send } from './load/send.ts';
import { barText, environmentLine } from './measure.ts';
import { MeteredService, type Steps } from './metered-service.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { Tenants } from './workload/tenants.ts';
import { type Kind, sourceOf } from './workload/workload.ts';

const STEP_MS_MAX = 10;

/** So many of the longest steps are told. */
const TOLD_COUNT = 5;

const SIZES = new Map([
  ['small', { projectCount: 2_000, seconds: 1 }],
  ['large', { projectCount: 2_000, seconds: 12 }],
]);

type Size = { readonly projectCount: number; readonly seconds: number };

type Part = { readonly name: string; readonly streams: readonly Omit<Stream, 'token'>[] };

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const metered = await MeteredService.start(command, { FROZEN_NOW: NOW, CACHE_LIMIT: '0' });
  try {
    console.log(environmentLine());
    for (const part of partsOf(size)) {
      showProgress(part.name);
      const steps = await measure(metered, part, size.seconds);
      showProgress('');
      tell(part, steps);
    }
  } finally {
    await metered.stop();
  }
}

function partsOf({ projectCount }: Size): readonly Part[] {
  const lean = postsOf('lean', 500);
  const { hot, median } = new Tenants(projectCount);
  const calls: CallLoad = {
    kind: 'calls',
    paths: [hot, median].flatMap(({ ref }) => [
      `/api/endpoints/logs.all?project=${ref}&project_tier=PRO`,
      `/api/endpoints/usage.api-counts?project=${ref}&interval=daily`,
      `/api/endpoints/usage.api-counts?project=${ref}&interval=hourly`,
    ]),
  };
  const steady = (load: PostLoad | CallLoad, connectionsMax: number) => ({
    ...{ load, perSecond: 0, connectionsMax },
  });
  return [
    { name: 'lean events by 500', streams: [steady(lean, 4)] },
    { name: 'full events by 500', streams: [steady(postsOf('full', 500), 4)] },
    { name: 'lean events one by one', streams: [steady(postsOf('lean', 1), 32)] },
    { name: 'lean events by 500, and calls', streams: [steady(lean, 4), steady(calls, 1)] },
  ];
}

function postsOf(of: Kind, eventsPerPost: number): PostLoad {
  const path = `/api/logs?source_name=${sourceOf(of)}`;
  return { kind: 'posts', of, path, eventsPerPost, bodyCount: 64 };
}

/** @throws Error when anything is answered but 200 and, for a moment, 429. */
async function measure(metered: MeteredService, part: Part, seconds: number): Promise<Steps> {
  const { url, token } = metered.service;
  const streams = part.streams.map((stream) => ({ ...stream, token }));
  const { steps, value } = await metered.measure(() => send({ url, seconds, streams }));
  const others = value.streams
    .flatMap(({ samples }) => samples)
    .filter(({ status }) => status !== 200 && status !== 429);
  if (others.length > 0) throw new Error(`${others.length} answers like ${others[0]!.status}`);
  return steps;
}

function tell({ name }: Part, { count, longest }: Steps): void {
  const told = longest.slice(0, TOLD_COUNT).map(({ kind, ms, wallMs, isStolen }) => {
    const by = isStolen ? `${kind}, stolen from` : kind;
    return `${ms.toFixed(1)} (${wallMs.toFixed(1)} by the clock, ${by})`;
  });
  const [first] = longest;
  if (first === undefined) throw new Error('no step was seen');
  const long = longest.filter(({ ms }) => ms > STEP_MS_MAX);
  const stolenCount = long.filter(({ isStolen }) => isStolen).length;
  console.log(
    `${name}: ${count} steps, ${long.length} longer than ${STEP_MS_MAX} ms, ${stolenCount} of them while the host took a ` +
      `processor away; the longest in ms: ${told.join(', ')} ` +
      `${barText(`<= ${STEP_MS_MAX}, but for those`, long.length === stolenCount)}`,
  );
}

await main();
