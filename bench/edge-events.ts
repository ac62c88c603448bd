import { Traffic } from '../src/demo/traffic/traffic.ts';

/** The end of a UTC day: a day of events is one partition. */
export const NOW = '2026-01-15T23:59:59Z';
export const NOW_MS = Date.parse(NOW);
export const EDGE_SOURCE = 'cloudflare.logs.prod';
export const EDGE_PATH = `/api/logs?source_name=${EDGE_SOURCE}`;

/** Events of a large post, and senders of such posts. */
export const LARGE_POST_EVENTS = 500;
export const CONNECTIONS = 4;

/** Full edge events, of 2,000 projects by a Zipf law: the same ones in every run. */
export class EdgeEvents {
  readonly #traffic = new Traffic({ seed: 1, projectCount: 2_000 });

  next(timestampMs: number = NOW_MS): ReturnType<Traffic['of']> {
    return this.#traffic.of(EDGE_SOURCE, timestampMs);
  }

  take(count: number): readonly object[] {
    return Array.from({ length: count }, () => this.next());
  }
}

export function bodyOf(events: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify(events));
}
