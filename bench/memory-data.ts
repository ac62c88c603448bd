import { showProgress } from '../src/command/progress.ts';
import { Random } from '../src/demo/traffic/random.ts';
import { Traffic } from '../src/demo/traffic/traffic.ts';
import { EDGE_SOURCE } from './edge-events.ts';
import { callsOf, type MemoryCall } from './memory-calls.ts';

/** 90 whole days end here: as much as the retention keeps. */
const NOW = '2026-01-16T00:00:00Z';
const NOW_MS = Date.parse(NOW);
const SPAN_MS = 90 * 86_400_000;

const INVOCATION_SOURCE = 'deno-relay-logs';
const PROJECT_COUNT = 2_000;

/** Edge events to an invocation. */
const EDGE_PER_INVOCATION = 20;

/** Events of one post: of wide ones about 1.6 MB, of lean ones half a megabyte. */
const POST_EVENTS_WIDE = 500;
const POST_EVENTS_LEAN = 1_500;

/** What one source is sent. */
export type MemoryLoad = {
  readonly source: string;
  readonly eventCount: number;
  /** The next post; `undefined` when there are no more. */
  readonly nextBody: () => Buffer | undefined;
};

/** Events over 90 days, ascending, made as they are sent; and what is asked of them. */
export class MemoryData {
  readonly now = NOW;
  readonly loads: readonly MemoryLoad[];
  readonly calls: readonly MemoryCall[];

  /** `isLean`: edge events of a handful of fields, and not as a platform logs them. */
  constructor(options: { readonly eventCount: number; readonly isLean: boolean }) {
    const { eventCount, isLean } = options;
    const traffic = new Traffic({ seed: 1, projectCount: PROJECT_COUNT });
    const random = new Random(1);
    const refs = traffic.projects.map(({ ref }) => ref);
    const edge = isLean
      ? (timestampMs: number) => leanEdgeEvent(random, refs, timestampMs)
      : (timestampMs: number) => traffic.of(EDGE_SOURCE, timestampMs);
    const invocationCount = Math.floor(eventCount / EDGE_PER_INVOCATION);
    const postEvents = isLean ? POST_EVENTS_LEAN : POST_EVENTS_WIDE;
    this.loads = [
      loadOf(EDGE_SOURCE, { eventCount, postEvents }, edge),
      loadOf(INVOCATION_SOURCE, { eventCount: invocationCount, postEvents }, (timestampMs) =>
        traffic.of(INVOCATION_SOURCE, timestampMs),
      ),
    ];
    this.calls = callsOf({ hot: refs[0]!, few: refs.at(-1)! });
  }
}

function loadOf(
  source: string,
  counts: { readonly eventCount: number; readonly postEvents: number },
  makeEvent: (timestampMs: number) => object,
): MemoryLoad {
  const { eventCount, postEvents } = counts;
  let made = 0;
  const nextEvent = (): object => {
    const timestampMs = Math.floor(NOW_MS - SPAN_MS * (1 - made++ / eventCount));
    return makeEvent(timestampMs);
  };
  const nextBody = (): Buffer | undefined => {
    const count = Math.min(postEvents, eventCount - made);
    if (count === 0) return undefined;
    showProgress(`${source}: ${made} of ${eventCount}`);
    return Buffer.from(JSON.stringify(Array.from({ length: count }, nextEvent)));
  };
  return { source, eventCount, nextBody };
}

function leanEdgeEvent(random: Random, refs: readonly string[], timestampMs: number): object {
  const project = refs[random.zipf(refs.length)]!;
  const method = random.pick(['GET', 'GET', 'POST', 'PATCH']);
  const path = `/rest/v1/${random.pick(['orders', 'profiles', 'messages'])}`;
  const url = `https://${project}.supabase.co${path}?id=eq.${random.below(1_000_000)}`;
  const status = random.pick([200, 200, 201, 404, 500]);
  return {
    id: random.uuid(),
    timestamp: new Date(timestampMs).toISOString(),
    event_message: `${method} | ${status} | ${url}`,
    project,
    metadata: {
      request: { method, path, url },
      response: {
        status_code: status,
        headers: { content_length: String(random.below(60_000)) },
      },
    },
  };
}
