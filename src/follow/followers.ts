import type { ServerResponse } from 'node:http';
import { must } from '../../engine/columns.ts';
import { type Tenant, TenantSets } from '../../engine/index.ts';
import type { Source } from '../../ingest/source.ts';
import { ServiceError } from '../errors.ts';
import {
  FOLLOWED_PAUSE_MS,
  FOLLOWER_RETRY_MS,
  FOLLOWERS_MAX,
  FOLLOWING_MS_MAX,
  HEARTBEAT_MS,
} from '../limits.ts';
import type { PublishedEvents } from '../store/published-events.ts';
import type { EventIds } from './event-ids.ts';
import type { EventReader, FollowedEvents } from './event-reader.ts';

/** Where a follower starts. */
export type FollowStart =
  /** Only new events. */
  | { readonly kind: 'now' }
  /** The last `count` events, then new ones. */
  | { readonly kind: 'last'; readonly count: number }
  /** The first stored event. */
  | { readonly kind: 'first' }
  /** After the event with this number; `undefined` if the id is unknown. `id` is its text. */
  | { readonly kind: 'after'; readonly number: number | undefined; readonly id: string };

/** Writes a page of events; resolves when the connection takes more, is closed, or `ending` aborts. */
export type WritePage = (bytes: Buffer, ending: AbortSignal) => Promise<void>;

/** Why a stream ends without a failure. */
type Ending =
  /** The caller has disconnected. */
  | 'gone'
  /** FOLLOWING_MS_MAX has passed. */
  | 'over'
  /** The service stops. */
  | 'closing'
  /** Another tenant with fewer streams needed the place. */
  | 'displaced';

/** A stream under way. */
type Stream = {
  /** All wanted events up to this number have been sent. */
  after: number;
  isHeartbeatDue: boolean;
  /** Ends the current wait for events. */
  wake: (() => void) | undefined;
};

/** Times in milliseconds; those of `limits.ts` by default. */
export type FollowTimes = {
  readonly heartbeatMs: number;
  readonly followingMsMax: number;
};

/**
 * All followers of sources. Each has a number up to which it has all events, and continues from there as fast as its
 * connection accepts data; unread events stay in the store. So slow, reconnecting and new followers are treated alike.
 *
 * If all places are taken, the tenant with most followers loses its oldest one to a tenant with fewer.
 */
export class Followers {
  readonly #reader: EventReader;
  readonly #events: PublishedEvents;
  readonly #ids: EventIds;
  readonly #countMax: number;
  readonly #heldBytesMax: number;
  /** Bytes of pages that are being sent. */
  #heldBytes = 0;
  /** Callbacks that wait for room for a page, oldest first. */
  readonly #waitingForRoom = new Set<() => void>();
  readonly #times: FollowTimes;
  #isClosing = false;
  /** The controllers that abort each stream, with an `Ending` as the reason. */
  readonly #places = new TenantSets<AbortController>();
  /** Callbacks of followers that have all events, by source. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Sources whose followers will be woken. */
  readonly #waking = new Set<string>();

  constructor(parts: {
    readonly reader: EventReader;
    readonly events: PublishedEvents;
    readonly ids: EventIds;
    readonly countMax?: number;
    /** Bytes of all pages that are being sent; unlimited by default. */
    readonly heldBytesMax?: number;
    readonly times?: Partial<FollowTimes>;
  }) {
    this.#reader = parts.reader;
    this.#events = parts.events;
    this.#ids = parts.ids;
    this.#countMax = parts.countMax ?? FOLLOWERS_MAX;
    this.#heldBytesMax = parts.heldBytesMax ?? Number.POSITIVE_INFINITY;
    this.#times = {
      heartbeatMs: HEARTBEAT_MS,
      followingMsMax: FOLLOWING_MS_MAX,
      ...parts.times,
    };
    this.#events.whenPublished((source) => this.#published(source));
  }

  /** Bytes of pages that are being sent. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get count(): number {
    return this.#places.size;
  }

  /** The number of the event of a source with this id; `undefined` if there is none. Rejects with a QueryError. */
  async findNumber(source: Source, id: string): Promise<number | undefined> {
    const unwatch = await this.#events.watch();
    unwatch();
    return this.#ids.findNumber(source.name, id);
  }

  /**
   * Sends events as Server-Sent Events until the caller disconnects, the time is over, another tenant needs the place,
   * or the service stops; then resolves.
   *
   * @throws ServiceError if there are too many followers, or if something fails before the first byte is sent.
   */
  async follow(
    response: ServerResponse,
    events: FollowedEvents,
    start: FollowStart,
    writePage: WritePage,
  ): Promise<void> {
    if (this.#isClosing) throw stopping();
    const ending = this.#takePlace(events.tenant);
    const { signal } = ending;
    const go = (): void => ending.abort('gone' satisfies Ending);
    response.on('close', go);
    if (response.destroyed) go();
    let unwatch = (): void => {};
    try {
      unwatch = await this.#events.watch();
      const { after, notice } = await this.#begin(events, start, signal);
      response.statusCode = 200;
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      response.setHeader('Cache-Control', 'no-store');
      // Tells proxies not to buffer the answer.
      response.setHeader('X-Accel-Buffering', 'no');
      response.write(`retry: ${FOLLOWER_RETRY_MS}\n${notice}${this.#idLine(events, after)}\n`);
      await this.#send(response, { events, after, ending, writePage });
    } catch (error) {
      if (signal.reason === 'displaced') throw this.#displaced();
      if (signal.reason === 'closing') throw stopping();
      throw error;
    } finally {
      unwatch();
      response.off('close', go);
      this.#places.delete(events.tenant, ending);
    }
  }

  /** Ends all streams so that their callers reconnect, and accepts no more. */
  close(): void {
    this.#isClosing = true;
    for (const tenant of [...this.#places.tenants()]) {
      for (const place of this.#places.list(tenant)) place.abort('closing' satisfies Ending);
    }
  }

  /**
   * Takes a place. Returns the controller that aborts the stream.
   *
   * @throws ServiceError if all places are taken and no tenant has enough more to lose one.
   */
  #takePlace(tenant: Tenant): AbortController {
    if (this.#places.size >= this.#countMax) {
      const fullest = this.#places.fullest() ?? tenant;
      // Even with one more it must have fewer; otherwise the two would take places from each other for ever.
      if (this.#places.sizeOf(tenant) + 1 >= this.#places.sizeOf(fullest)) {
        throw new ServiceError(
          'overloaded',
          `at most ${this.#countMax} may follow sources at once; the limit is reached, and ${this.#places.sizeOf(tenant)} of these have this token`,
        );
      }
      const oldest = must(this.#places.oldest(fullest));
      // Its place is free at once, however long the stream takes to end.
      this.#places.delete(fullest, oldest);
      oldest.abort('displaced' satisfies Ending);
    }
    const ending = new AbortController();
    this.#places.add(tenant, ending);
    return ending;
  }

  #displaced(): ServiceError {
    return new ServiceError(
      'overloaded',
      `at most ${this.#countMax} followers may be connected at once; this one was closed for another token, as the oldest of the token with the most followers`,
    );
  }

  async #begin(
    events: FollowedEvents,
    start: FollowStart,
    cancelled: AbortSignal,
  ): Promise<{ readonly after: number; readonly notice: string }> {
    const lastNumber = this.#events.lastNumber(events.source.name);
    switch (start.kind) {
      case 'now':
        return { after: lastNumber, notice: '' };
      case 'first':
        return { after: 0, notice: '' };
      case 'last': {
        const after = await this.#reader.lastStart(events, start.count, cancelled);
        return { after, notice: '' };
      }
      case 'after': {
        const { number, id } = start;
        const isKnown = number !== undefined && this.#events.knows(events.source.name, number);
        if (isKnown) return { after: number, notice: '' };
        // The id is of an earlier store, so it is unknown which events the follower has.
        return { after: 0, notice: `event: gap\ndata: ${JSON.stringify({ after: id })}\n\n` };
      }
    }
  }

  #idLine({ source }: FollowedEvents, number: number): string {
    return `id: ${this.#ids.createId(source.name, number)}\n`;
  }

  async #send(
    response: ServerResponse,
    following: {
      readonly events: FollowedEvents;
      readonly after: number;
      readonly ending: AbortController;
      readonly writePage: WritePage;
    },
  ): Promise<void> {
    const { events, after, ending, writePage } = following;
    const { signal } = ending;
    const stream: Stream = { after, isHeartbeatDue: false, wake: undefined };
    const timer = setTimeout(
      () => ending.abort('over' satisfies Ending),
      this.#times.followingMsMax,
    );
    // Sent by a clock of its own, so that a follower of one project cannot see when others post.
    const heartbeat = setInterval(() => {
      stream.isHeartbeatDue = true;
      stream.wake?.();
    }, this.#times.heartbeatMs);
    signal.addEventListener('abort', () => stream.wake?.());
    const isOver = (): boolean => signal.aborted || events.mayGoOn?.() === false;
    let failure: ServiceError | undefined;
    try {
      while (!isOver()) {
        await this.#sendNext(response, { events, stream, signal, isOver, writePage });
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // The follower reconnects, and gets a status if the failure persists.
      failure = error;
    } finally {
      clearTimeout(timer);
      clearInterval(heartbeat);
    }
    // A read that was cancelled because the stream ends is no failure.
    if (signal.aborted) failure = signal.reason === 'displaced' ? this.#displaced() : undefined;
    if (failure === undefined) {
      response.end(`retry: ${FOLLOWER_RETRY_MS}\n${this.#idLine(events, stream.after)}\n`);
    } else {
      const { code, message } = failure;
      response.end(`event: failure\ndata: ${JSON.stringify({ code, message })}\n\n`);
    }
  }

  /** Sends one heartbeat or one page, or waits for either. */
  async #sendNext(
    response: ServerResponse,
    following: {
      readonly events: FollowedEvents;
      readonly stream: Stream;
      readonly signal: AbortSignal;
      readonly isOver: () => boolean;
      readonly writePage: WritePage;
    },
  ): Promise<void> {
    const { events, stream, signal, isOver, writePage } = following;
    const { name } = events.source;
    if (stream.isHeartbeatDue) {
      stream.isHeartbeatDue = false;
      response.write(`:\n${this.#idLine(events, stream.after)}\n`);
      return;
    }
    if (this.#events.lastNumber(name) <= stream.after) {
      await this.#waitFor(name, stream, signal);
      return;
    }
    const page = await this.#reader.read(events, stream.after, signal);
    if (isOver()) return;
    if (page.eventCount > 0 && !(await this.#writeHeld(page.bytes, signal, writePage))) {
      // The page is dropped and read again later: a waiting follower holds no memory.
      await this.#waitForRoom(stream, signal);
      return;
    }
    stream.after = page.through;
  }

  /** Writes a page if there is room for it. A page of any length fits if it is the only one. */
  async #writeHeld(bytes: Buffer, signal: AbortSignal, writePage: WritePage): Promise<boolean> {
    const isRoom = this.#heldBytes + bytes.length <= this.#heldBytesMax;
    if (!isRoom && this.#heldBytes > 0) return false;
    this.#heldBytes += bytes.length;
    try {
      await writePage(bytes, signal);
    } finally {
      this.#heldBytes -= bytes.length;
      const [next] = this.#waitingForRoom;
      next?.();
    }
    return true;
  }

  /** Resolves when a page was sent, a heartbeat is due, or the stream must end. */
  #waitForRoom(stream: Stream, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        stream.wake = undefined;
        this.#waitingForRoom.delete(wake);
        resolve();
      };
      stream.wake = wake;
      this.#waitingForRoom.add(wake);
      if (signal.aborted) wake();
    });
  }

  /** Resolves when events were published, a heartbeat is due, or the stream must end. */
  #waitFor(source: string, stream: Stream, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(source) ?? new Set();
      this.#waiting.set(source, waiting);
      const wake = (): void => {
        stream.wake = undefined;
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(source);
        resolve();
      };
      stream.wake = wake;
      waiting.add(wake);
      if (signal.aborted) wake();
    });
  }

  /** Called for every batch, so it must cost nothing while nobody waits. */
  #published(source: string): void {
    if (!this.#waiting.has(source) || this.#waking.has(source)) return;
    this.#waking.add(source);
    setTimeout(() => {
      this.#waking.delete(source);
      this.#wake(source);
    }, FOLLOWED_PAUSE_MS);
  }

  #wake(source: string): void {
    for (const wake of [...(this.#waiting.get(source) ?? [])]) wake();
  }
}

function stopping(): ServiceError {
  return new ServiceError('draining', 'the service is stopping');
}
