import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import { askEvents } from '../../api/event-stream.ts';
import type { LogEvent } from '../../api/explore.ts';
import type { ExplorePlace } from './explore-place.ts';

/** Events that stay in the list, and those that wait while it is paused. Older ones are in the store. */
const SHOWN_MAX = 5_000;
const WAITING_MAX = 5_000;

/** How often the list changes at most: each event for itself would keep the page from drawing. */
const TICK_MS = 250;

/** Ticks over which the rate is taken. */
const RATE_TICKS = 20;

const RECONNECT_MS = 2_000;

/** Events with which the list begins. */
const FIRST_COUNT = 50;

export type TailState = 'connecting' | 'live' | 'lost';

/** Events that match as they come, the last one first. While it is held they wait. */
export class TailEvents {
  readonly state = signal<TailState>('connecting');
  readonly events = signal<readonly LogEvent[]>([]);
  readonly waitingCount = signal(0);
  /** Events that arrived during the pause, and for which there was no room. */
  readonly leftOutCount = signal(0);
  /** Events a second. */
  readonly rate = signal(0);
  /** Why it ended for good. */
  readonly failure = signal<ApiError | undefined>(undefined);
  readonly #path: string;
  readonly #stopped = new AbortController();
  readonly #counts: number[] = [];
  #waiting: LogEvent[] = [];
  #arrivedCount = 0;
  #isHeld = false;
  #timer = 0;
  #lastId: string | undefined;

  constructor(source: string, project: string, search: string) {
    const query = new URLSearchParams({
      ...(project !== '' && { project }),
      ...(search !== '' && { search }),
    });
    query.set('last', String(FIRST_COUNT));
    this.#path = `api/sources/${encodeURIComponent(source)}/tail?${query}`;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS) as unknown as number;
    void this.#follow();
  }

  stop(): void {
    this.#stopped.abort();
    clearInterval(this.#timer);
  }

  /** Pauses the list, or continues it with the events that wait. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#show();
  }

  async #follow(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#followOnce();
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        const failure = ApiError.from(error);
        if (failure.status >= 400 && failure.status < 500) {
          this.failure.value = failure;
          return;
        }
      }
      if (this.#stopped.signal.aborted) return;
      this.state.value = 'lost';
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  async #followOnce(): Promise<void> {
    const headers = this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId };
    const asked = { headers, signal: this.#stopped.signal };
    for await (const { id, event, data } of askEvents(this.#path, asked)) {
      this.state.value = 'live';
      if (id !== undefined) this.#lastId = id;
      if (event === 'message' && data !== undefined) this.#take(JSON.parse(data) as LogEvent);
      if (event === 'failure' && data !== undefined) {
        throw new ApiError(503, JSON.parse(data) as { code: string; message: string });
      }
    }
  }

  #take(event: LogEvent): void {
    this.#arrivedCount += 1;
    this.#waiting.push(event);
  }

  #tick(): void {
    this.#counts.push(this.#arrivedCount);
    this.#arrivedCount = 0;
    if (this.#counts.length > RATE_TICKS) this.#counts.shift();
    const sum = this.#counts.reduce((all, count) => all + count, 0);
    this.rate.value = Math.round((sum * 1_000) / (this.#counts.length * TICK_MS));
    if (this.#isHeld) this.#wait();
    else this.#show();
  }

  #show(): void {
    if (this.#waiting.length > 0) {
      const newest = this.#waiting.slice(-SHOWN_MAX).reverse();
      this.events.value = [...newest, ...this.events.peek()].slice(0, SHOWN_MAX);
    }
    this.#waiting = [];
    this.waitingCount.value = 0;
  }

  #wait(): void {
    const leftOutCount = this.#waiting.length - WAITING_MAX;
    if (leftOutCount > 0) {
      this.#waiting = this.#waiting.slice(leftOutCount);
      this.leftOutCount.value += leftOutCount;
    }
    this.waitingCount.value = this.#waiting.length;
  }
}

export function useTailEvents(
  source: string,
  { project, search }: Pick<ExplorePlace, 'project' | 'search'>,
): TailEvents {
  const tail = useMemo(() => new TailEvents(source, project, search), [source, project, search]);
  useEffect(() => {
    tail.start();
    return () => tail.stop();
  }, [tail]);
  return tail;
}
