import { must } from '../../../engine/columns.ts';
import { edgeRequest } from './edge-request.ts';
import type { LogEvent, Project, TrafficContext } from './log-event.ts';
import { Random } from './random.ts';
import {
  authLog,
  databaseLog,
  functionInvocation,
  functionLog,
  poolerLog,
  realtimeLog,
  restApiLog,
  storageLog,
} from './service-event.ts';

/** The kinds of traffic by source, with their share of all events. */
const STREAMS: readonly {
  readonly source: string;
  readonly share: number;
  readonly make: (context: TrafficContext) => LogEvent;
}[] = [
  { source: 'cloudflare.logs.prod', share: 0.4, make: edgeRequest },
  { source: 'deno-relay-logs', share: 0.2, make: functionInvocation },
  { source: 'deno-subhosting-events', share: 0.08, make: functionLog },
  { source: 'postgres.logs', share: 0.12, make: databaseLog },
  { source: 'gotrue.logs.prod', share: 0.08, make: authLog },
  { source: 'realtime.logs.prod', share: 0.05, make: realtimeLog },
  { source: 'storage.logs.prod.2', share: 0.04, make: storageLog },
  { source: 'postgREST.logs.prod', share: 0.02, make: restApiLog },
  { source: 'pgbouncer.logs.prod', share: 0.01, make: poolerLog },
];

/** Generates realistic traffic of some hosted projects. The same seed gives the same events. */
export class Traffic {
  readonly projects: readonly Project[];
  readonly #random: Random;

  constructor(options: { readonly seed: number; readonly projectCount: number }) {
    this.#random = new Random(options.seed);
    this.projects = Array.from({ length: options.projectCount }, () => ({
      ref: this.#letters(20),
      functions: Array.from({ length: 3 }, () => this.#random.uuid()),
    }));
  }

  /**
   * An event of a random source, weighted by the shares of real traffic. A few projects have most
   * events.
   */
  next(timestampMs: number): { readonly source: string; readonly event: LogEvent } {
    let chance = this.#random.next();
    const stream = STREAMS.find((candidate) => {
      chance -= candidate.share;
      return chance < 0;
    });
    return this.#event(stream ?? must(STREAMS[0], 'there is a stream'), timestampMs);
  }

  /** An event of one source. */
  of(source: string, timestampMs: number): LogEvent {
    const stream = STREAMS.find((candidate) => candidate.source === source);
    if (stream === undefined) throw new Error(`there is no made-up traffic for ${source}`);
    return this.#event(stream, timestampMs).event;
  }

  #event(
    stream: (typeof STREAMS)[number],
    timestampMs: number,
  ): { readonly source: string; readonly event: LogEvent } {
    const project = this.projects[this.#random.zipf(this.projects.length)] as Project;
    const timestamp = new Date(timestampMs).toISOString();
    const context = { random: this.#random, project, timestampMs, timestamp };
    return { source: stream.source, event: stream.make(context) };
  }

  #letters(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(97 + this.#random.below(26))).join('');
  }
}
