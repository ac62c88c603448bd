import type { Random } from '../../src/demo/traffic/random.ts';
import type { JsonObject } from '../oracle/oracle.ts';
import type { Answerer } from '../support/answerer.ts';
import { type Call, randomCalls } from './random-calls.ts';
import { randomEdgeEvent, randomInvocation } from './random-events.ts';
import { randomNow } from './random-time.ts';

/** What happens to a store: a post of some events, or a sealing of all that came before. */
export type Step =
  | { readonly source: string; readonly events: readonly JsonObject[] }
  | { readonly source?: undefined };

export type DataSet = {
  readonly nowUs: number;
  readonly steps: readonly Step[];
  readonly calls: readonly Call[];
};

const SOURCES = [
  { source: 'cloudflare.logs.prod', event: randomEdgeEvent },
  { source: 'deno-relay-logs', event: randomInvocation },
] as const;

/** Some events of both sources that queries read, posted and sealed in turns, and some calls. */
export function randomDataSet(random: Random, dayUs: number): DataSet {
  const nowUs = randomNow(random, dayUs);
  // More than a chunk now and then, a handful else: faults show in the smallest data that has them.
  const eventsMax = random.below(12) === 0 ? 2600 : random.pick([2, 12, 60, 200, 400]);
  const steps: Step[] = [];
  let left = 1 + random.below(eventsMax);
  let eventCount = 0;
  while (left > 0) {
    const { source, event } = random.pick(SOURCES);
    const count = 1 + random.below(left);
    left -= count;
    const events = Array.from({ length: count }, () => event(random, nowUs, `${eventCount++}`));
    steps.push({ source, events });
    if (random.below(3) === 0) steps.push({});
  }
  if (random.below(2) === 0) steps.push({});
  const calls = Array.from({ length: 8 }, () => randomCalls(random, nowUs)).flat();
  return { nowUs, steps, calls };
}

/** Does the steps, in order. What cannot seal keeps its events as they are. */
export async function load(
  answerer: Answerer & { readonly seal?: () => Promise<void> },
  { steps, nowUs }: Pick<DataSet, 'steps' | 'nowUs'>,
): Promise<void> {
  for (const step of steps) {
    if (step.source === undefined) await answerer.seal?.();
    else await answerer.post(step.source, step.events, nowUs);
  }
}

/**
 * The fewest steps that still fail, found by leaving parts out: first halves, then smaller parts,
 * down to single events.
 */
export async function shrink(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let kept: readonly Step[] = steps.flatMap((step): Step[] =>
    step.source === undefined
      ? [step]
      : step.events.map((event) => ({ source: step.source, events: [event] })),
  );
  if (!(await fails(kept))) return steps;
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let start = 0; start < kept.length; ) {
      const rest = [...kept.slice(0, start), ...kept.slice(start + size)];
      if (await fails(rest)) kept = rest;
      else start += size;
    }
  }
  return kept;
}
