import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { ApiError } from '../../api/client.ts';
import {
  type Bucket,
  type EventKey,
  type ExploreQuery,
  type ExploreRequest,
  explore,
  type LogEvent,
} from '../../api/explore.ts';
import { formatIso } from './event-time.ts';
import { quoteValue } from './search-text.ts';

/** Rows that come at first, and with each step of the scroll. */
const ROWS_FIRST = 100;
const ROWS_MORE = 500;

/** Rows on either side of an event. */
const ROWS_AROUND = 50;

type Direction = 'older' | 'newer';

/**
 * Events, newest first, and their histogram. It holds what has come so far, and grows when it is asked to.
 *
 * Invariant: the events are those between the two places where the list goes on, without a gap.
 */
export class EventList {
  readonly query = signal<ExploreQuery | undefined>(undefined);
  /** Absent until the first answer. */
  readonly events = signal<readonly LogEvent[] | undefined>(undefined);
  readonly buckets = signal<readonly Bucket[]>([]);
  /** The part of the window that the buckets are of. */
  readonly share = signal(0);
  /** The newest event before the window, if the list is empty and there is one. */
  readonly older = signal<number | null>(null);
  /** Whether all of the first answer is there. */
  readonly isDone = signal(false);
  /** Days of which damage took rows. */
  readonly lostDays = signal<readonly number[]>([]);
  readonly failure = signal<ApiError | undefined>(undefined);
  /** Which way it grows at the moment. */
  readonly growing = signal<Direction | undefined>(undefined);
  readonly hasOlder = signal(false);
  readonly hasNewer = signal(false);
  readonly #request: ExploreRequest;
  readonly #around: EventKey | undefined;
  readonly #stopped = new AbortController();
  #older: string | null = null;
  #newer: string | null = null;

  constructor(request: ExploreRequest, around: EventKey | undefined) {
    this.#request = request;
    this.#around = around;
  }

  /** Asks for the first rows. */
  async start(): Promise<void> {
    await this.#note(async () => {
      if (this.#around === undefined) await this.#startNewest();
      else await this.#startAround(this.#around);
    });
  }

  /** Nobody wants it any more. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Adds the next events of one side, unless it does so already. */
  async grow(direction: Direction): Promise<void> {
    const place = direction === 'older' ? this.#older : this.#newer;
    if (place === null || this.growing.peek() !== undefined) return;
    this.growing.value = direction;
    await this.#note(async () => {
      const start = direction === 'older' ? { before: place } : { after: place };
      const { rows, next } = await this.#page({ ...this.#bounds(), ...start, limit: ROWS_MORE });
      const known = this.events.peek() ?? [];
      if (direction === 'older') {
        this.events.value = [...known, ...rows];
        this.#goOn({ older: next });
      } else {
        this.events.value = [...rows, ...known];
        this.#goOn({ newer: next });
      }
    });
    this.growing.value = undefined;
  }

  async #startNewest(): Promise<void> {
    for await (const line of explore({ ...this.#request, limit: ROWS_FIRST }, this.#signal)) {
      if (line.type === 'query') this.query.value = line;
      else if (line.type === 'rows') {
        this.events.value = [...(this.events.peek() ?? []), ...line.rows];
        if (line.next !== undefined) this.#goOn({ older: line.next });
      } else if (line.type === 'series') {
        this.query.value = { ...this.query.peek()!, histogram_sql: line.histogram_sql };
      } else if (line.type === 'buckets') {
        this.buckets.value = [...this.buckets.peek(), ...line.buckets];
        this.share.value = line.share;
      } else if (line.type === 'end') {
        this.older.value = line.older;
        this.lostDays.value = line.lost_days;
        this.isDone.value = true;
      } else throw new ApiError(200, line.error);
    }
  }

  async #startAround(key: EventKey): Promise<void> {
    const limit = ROWS_AROUND;
    const own = {
      from: formatIso(key.timestamp),
      to: formatIso(key.timestamp + 1),
      search: `id:${quoteValue(key.id)}`,
    };
    const [newer, event, older] = await Promise.all([
      this.#page({ after: key, limit }),
      this.#page({ ...own, limit }),
      this.#page({ before: key, limit }),
    ]);
    this.events.value = [...newer.rows, ...event.rows, ...older.rows];
    this.#goOn({ older: older.next, newer: newer.next });
  }

  /** Rows alone, and where they go on. */
  async #page(
    more: Partial<ExploreRequest>,
  ): Promise<{ readonly rows: readonly LogEvent[]; readonly next: string | null }> {
    const { from, to, by, ...request } = this.#request;
    const rows: LogEvent[] = [];
    let next: string | null | undefined;
    const asked = { ...request, ...more, histogram: false };
    for await (const line of explore(asked, this.#signal)) {
      if (line.type === 'query' && more.before !== undefined) this.query.value ??= line;
      if (line.type === 'rows') {
        rows.push(...line.rows);
        next = line.next;
      }
      if (line.type === 'error') throw new ApiError(200, line.error);
    }
    if (next === undefined) throw new ApiError(200, { message: 'the answer has no rows' });
    return { rows, next };
  }

  /** The window of the first answer: what is relative to now would be another one by now. */
  #bounds(): Pick<ExploreRequest, 'from' | 'to'> {
    const { from = null, to = null } = this.query.peek() ?? {};
    return {
      ...(from !== null && { from: formatIso(from) }),
      ...(to !== null && { to: formatIso(to) }),
    };
  }

  #goOn(places: { readonly older?: string | null; readonly newer?: string | null }): void {
    const { older = this.#older, newer = this.#newer } = places;
    this.#older = older;
    this.#newer = newer;
    this.hasOlder.value = older !== null;
    this.hasNewer.value = newer !== null;
  }

  async #note(work: () => Promise<void>): Promise<void> {
    this.failure.value = undefined;
    try {
      await work();
    } catch (error) {
      const failure = ApiError.from(error);
      if (!this.#stopped.signal.aborted) this.failure.value = failure;
    }
  }

  get #signal(): AbortSignal {
    return this.#stopped.signal;
  }
}

/** A list that starts before it is drawn, anew when what is asked for changes, and ends with the component. */
export function useEventList(
  request: ExploreRequest,
  around: EventKey | undefined,
  round: number,
): EventList {
  // The service looks for events while the page draws what is around them.
  const list = useMemo(() => {
    const made = new EventList(request, around);
    void made.start();
    return made;
  }, [JSON.stringify([request, around, round])]);
  useLayoutEffect(() => () => list.stop(), [list]);
  return list;
}
