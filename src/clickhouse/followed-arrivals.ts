import { setTimeout as wait } from 'node:timers/promises';
import type { SourceSchema } from '../../engine/columns.ts';
import { type ParameterDeclaration, type PreparedQuery, prepareQuery } from '../../engine/index.ts';
import { InstanceKey } from '../instance-key.ts';
import type { PublishedEvents, SourcePage } from '../store/published-events.ts';
import { ARRIVED_ROWS_MAX, type ArrivalJournal, type Arrived } from './arrival-journal.ts';
import { toQueryError } from './statement-error.ts';

type Journal = Pick<ArrivalJournal, 'read' | 'readEnds' | 'findPageEnd'>;

/** How often new numbers are looked for while anybody follows a source: a quarter of the second that a tail may take. */
const POLL_MS = 250;

/** How long one look may take. ClickHouse may be away without a sign of it. */
const LOOK_MS_MAX = 5_000;

/**
 * Looks for which a missing row, or one without its events, holds up those after it. A replica gets them in any order;
 * after some ten seconds they are not late but lost.
 */
const LATE_LOOKS_MAX = 40;

/** Numbers up to which a page is read at once. Of more, the part is looked up that has events of the source. */
const PAGE_NUMBERS = 200_000;

/** A statement takes almost as long for one event as for all of a usual batch. */
const PAGE_ROWS = 2_000;

/**
 * What of the numbered events of ClickHouse followers may read. While anybody follows, one statement looks every POLL_MS
 * for the numbers that all gateways have given, whatever the number of followers and of sources.
 */
export class FollowedArrivals implements PublishedEvents {
  readonly pageRows = PAGE_ROWS;
  readonly #journal: Journal;
  readonly #sources: readonly SourceSchema[];
  readonly #pollMs: number;
  #publish: (source: string) => void = () => {};
  #watcherCount = 0;
  /** Ends the loop that looks; `undefined` while there is none. */
  #loop: AbortController | undefined;
  /** Whether nobody has watched since the last look: what came meanwhile is of no interest. */
  #isStale = true;
  /** The number up to which all rows are known. */
  #end = 0;
  /** Where `#end` was when watching began: sources without newer events end here. */
  #floor = 0;
  readonly #ends = new Map<string, number>();
  #key: InstanceKey | undefined;
  #lateLooks = 0;
  /** The look under way, and the one that begins after it. */
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(parts: {
    readonly journal: Journal;
    /** The list may grow. */
    readonly sources: readonly SourceSchema[];
    /** Instead of POLL_MS; for tests. */
    readonly pollMs?: number;
  }) {
    this.#journal = parts.journal;
    this.#sources = parts.sources;
    this.#pollMs = parts.pollMs ?? POLL_MS;
  }

  /** Of all gateways; `undefined` before the first `watch` has resolved. */
  get sharedKey(): InstanceKey | undefined {
    return this.#key;
  }

  lastNumber(source: string): number {
    return this.#ends.get(source) ?? this.#floor;
  }

  /** The last number of a source at another gateway may be one of another source here. */
  knows(_source: string, number: number): boolean {
    return number <= this.#end;
  }

  prepare(text: string, parameters: readonly ParameterDeclaration[]): PreparedQuery {
    return prepareQuery(text, { sources: this.#sources, parameters, hasArrivals: true });
  }

  whenPublished(listener: (source: string) => void): void {
    this.#publish = listener;
  }

  /** Rejects with a QueryError if ClickHouse cannot say which numbers there are. */
  async watch(): Promise<() => void> {
    this.#watcherCount += 1;
    let isWatching = true;
    const unwatch = (): void => {
      if (isWatching) this.#leave();
      isWatching = false;
    };
    try {
      await this.#look();
    } catch (error) {
      unwatch();
      throw toQueryError(error, []);
    }
    if (this.#loop === undefined) {
      this.#loop = new AbortController();
      void this.#run(this.#loop.signal);
    }
    return unwatch;
  }

  async pageEnd(page: SourcePage, signal: AbortSignal): Promise<number> {
    const before = this.lastNumber(page.source);
    if (before - page.after <= PAGE_NUMBERS) return before;
    try {
      return await this.#journal.findPageEnd({ ...page, before }, signal);
    } catch (error) {
      throw toQueryError(error, []);
    }
  }

  #leave(): void {
    this.#watcherCount -= 1;
    if (this.#watcherCount > 0) return;
    this.#loop?.abort();
    this.#loop = undefined;
    this.#isStale = true;
  }

  async #run(stopped: AbortSignal): Promise<void> {
    for (;;) {
      await wait(this.#pollMs, undefined, { signal: stopped }).catch(() => {});
      if (stopped.aborted) return;
      // While ClickHouse is away nothing new can be read, and streams stay open.
      await this.#look().catch(() => {});
    }
  }

  /** Resolves when a look has ended that began after this call. */
  #look(): Promise<void> {
    this.#next ??= this.#lookAfter(this.#looking);
    return this.#next;
  }

  async #lookAfter(looking: Promise<void> | undefined): Promise<void> {
    await looking?.catch(() => {});
    this.#looking = this.#next;
    this.#next = undefined;
    const signal = AbortSignal.timeout(LOOK_MS_MAX);
    if (this.#isStale) await this.#begin(signal);
    else await this.#readOn(signal);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { end, secret } = await this.#journal.readEnds(signal);
    this.#isStale = false;
    this.#end = end;
    this.#floor = end;
    this.#key ??= InstanceKey.fromSecret(Buffer.from(secret));
    this.#lateLooks = 0;
    this.#ends.clear();
  }

  async #readOn(signal: AbortSignal): Promise<void> {
    let rows: readonly Arrived[];
    do {
      rows = await this.#journal.read(this.#end, signal);
      this.#take(rows);
    } while (rows.length === ARRIVED_ROWS_MAX && this.#lateLooks === 0);
  }

  #take(rows: readonly Arrived[]): void {
    const published = new Set<string>();
    for (const { start, end, sources, isWhole } of rows) {
      if ((start > this.#end || !isWhole) && this.#isLate()) break;
      this.#lateLooks = 0;
      this.#end = end;
      for (const source of sources) {
        this.#ends.set(source, end);
        published.add(source);
      }
    }
    for (const source of published) this.#publish(source);
  }

  /** Whether what is missing may still come. */
  #isLate(): boolean {
    this.#lateLooks += 1;
    return this.#lateLooks < LATE_LOOKS_MAX;
  }
}
