import type { Project } from '../../src/demo/traffic/log-event.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import type { EventBatch } from '../workload/workload.ts';
import { Arrivals } from './arrivals.ts';
import { edgeEvent, leanEdgeEvent } from './edge-event.ts';
import { invocationEvent } from './invocation-event.ts';
import { LargeRandom } from './large-random.ts';
import type { LargeProjects } from './projects.ts';

/** The kinds of events that this store has, by the names that the other benchmarks have for them. */
export type LargeKind = 'full' | 'invocations' | 'lean';

type MakeEvent = (random: Random, project: Project, timestampUs: number) => string;

export const LARGE_KINDS: ReadonlyMap<
  LargeKind,
  { readonly make: MakeEvent; readonly seed: number }
> = new Map([
  ['full', { make: edgeEvent, seed: 381 }],
  ['invocations', { make: invocationEvent, seed: 382 }],
  ['lean', { make: leanEdgeEvent, seed: 385 }],
]);

/** So many events of a kind, in the order in which they arrive: the same ones in every run. */
export function* largeBatches(
  kind: LargeKind,
  of: {
    readonly projects: LargeProjects;
    readonly eventCount: number;
    readonly eventsPerBatch: number;
  },
): Generator<EventBatch> {
  const { make, seed } = LARGE_KINDS.get(kind)!;
  const arrivals = new Arrivals(seed, of);
  const random = new LargeRandom(seed + 1_000);
  for (let done = 0; done < of.eventCount; ) {
    const eventCount = Math.min(of.eventsPerBatch, of.eventCount - done);
    let text = '';
    for (let event = 0; event < eventCount; event++) {
      const { project, timestampUs } = arrivals.next();
      text += `${make(random, project, timestampUs)}\n`;
    }
    done += eventCount;
    yield { text, eventCount };
  }
}
