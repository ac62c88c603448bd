import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { explore, type LogEvent } from '../../api/explore.ts';
import { formatIso } from './event-time.ts';
import { formatSearch, type RequestKey } from './request-key.ts';

/** Time on either side of an event in which the others of its request are looked for. */
export const REQUEST_US = 600e6;

/** Rows of one source. */
const ROWS_MAX = 1_000;

/** Sources that are asked at once: the service has other callers. */
const ASKED_MAX = 4;

export type RequestSearch = {
  readonly key: RequestKey;
  /** A time about which the request was, in microseconds. */
  readonly at: number;
  readonly project: string;
  readonly sources: readonly string[];
};

/** The events of one request in all sources, oldest first. */
export class RequestEvents {
  readonly events = signal<readonly LogEvent[]>([]);
  readonly askedCount = signal(0);
  /** Sources that have more events than are shown. */
  readonly cutSources = signal<readonly string[]>([]);
  readonly failures = signal<readonly { readonly source: string; readonly error: ApiError }[]>([]);
  readonly #search: RequestSearch;
  readonly #stopped = new AbortController();

  constructor(search: RequestSearch) {
    this.#search = search;
  }

  async start(): Promise<void> {
    const waiting = [...this.#search.sources];
    const work = async (): Promise<void> => {
      for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
        await this.#ask(source);
      }
    };
    await Promise.all(Array.from({ length: ASKED_MAX }, work));
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #ask(source: string): Promise<void> {
    const { key, at, project } = this.#search;
    const request = {
      ...{ source, search: formatSearch(key), limit: ROWS_MAX, histogram: false },
      ...{ from: formatIso(at - REQUEST_US), to: formatIso(at + REQUEST_US) },
      ...(project !== '' && { project }),
    };
    try {
      for await (const line of explore(request, this.#stopped.signal)) {
        if (line.type === 'error') throw new ApiError(200, line.error);
        if (line.type !== 'rows') continue;
        this.#add(line.rows.map((row) => ({ ...row, source })));
        if (typeof line.next === 'string')
          this.cutSources.value = [...this.cutSources.peek(), source];
      }
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.failures.value = [...this.failures.peek(), { source, error: ApiError.from(error) }];
    }
    this.askedCount.value += 1;
  }

  #add(rows: readonly LogEvent[]): void {
    // Rows come newest first.
    this.events.value = [...this.events.peek(), ...[...rows].reverse()].sort(
      (one, other) => one.timestamp - other.timestamp,
    );
  }
}

export function useRequestEvents(search: RequestSearch): RequestEvents {
  const request = useMemo(() => new RequestEvents(search), [JSON.stringify(search)]);
  useEffect(() => {
    void request.start();
    return () => request.stop();
  }, [request]);
  return request;
}
