import type { ServerResponse } from 'node:http';
import { ServiceError } from '../errors.ts';
import {
  FOLLOWED_PAUSE_MS,
  FOLLOWER_RETRY_MS,
  FOLLOWERS_MAX,
  FOLLOWING_MS_MAX,
  HEARTBEAT_MS,
} from '../limits.ts';
import type { PublishedEvents } from '../store/published-events.ts';
import type { EventReader, FollowedEvents } from './event-reader.ts';

/** Where a follower begins. */
export type FollowStart =
  /** With what comes from now on. */
  | { readonly kind: 'now' }
  /** With the last events that there are. */
  | { readonly kind: 'last'; readonly count: number }
  /** Behind the event with this id. */
  | { readonly kind: 'after'; readonly id: number };

/** Times of following, in milliseconds; those of the limits where left out. */
export type FollowTimes = {
  readonly heartbeatMs: number;
  readonly followingMsMax: number;
};

/**
 * Everyone who follows a source. Each has an id up to which it has everything, and reads on from there
 * as fast as its connection takes it: what it has not read is in the store, not here. So a slow
 * one, one that comes again and one that comes for the first time are all the same.
 */
export class Followers {
  readonly #reader: EventReader;
  readonly #events: PublishedEvents;
  readonly #countMax: number;
  readonly #times: FollowTimes;
  readonly #closing = new AbortController();
  /** Those that have everything, by source: they wait for more. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Sources whose followers are about to hear of something. */
  readonly #waking = new Set<string>();
  #count = 0;

  constructor(parts: {
    readonly reader: EventReader;
    readonly events: PublishedEvents;
    readonly countMax?: number;
    readonly times?: Partial<FollowTimes>;
  }) {
    this.#reader = parts.reader;
    this.#events = parts.events;
    this.#countMax = parts.countMax ?? FOLLOWERS_MAX;
    this.#times = {
      heartbeatMs: HEARTBEAT_MS,
      followingMsMax: FOLLOWING_MS_MAX,
      ...parts.times,
    };
    this.#events.whenPublished((source) => this.#published(source));
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Sends events as Server-Sent Events, until the caller goes, the time is over, or the service
   * stops. Resolves then.
   *
   * @throws ServiceError when there are too many, and for what goes wrong before the first byte.
   */
  async follow(
    response: ServerResponse,
    events: FollowedEvents,
    start: FollowStart,
  ): Promise<void> {
    if (this.#closing.signal.aborted) throw new ServiceError('draining', 'the service is stopping');
    if (this.#count >= this.#countMax) {
      throw new ServiceError(
        'overloaded',
        `at most ${this.#countMax} may follow sources at once; there are as many`,
      );
    }
    this.#count += 1;
    try {
      const { after, notice } = await this.#begin(events, start);
      response.statusCode = 200;
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      response.setHeader('Cache-Control', 'no-store');
      // Some proxies collect an answer before they pass it on, unless they are told.
      response.setHeader('X-Accel-Buffering', 'no');
      response.write(`retry: ${FOLLOWER_RETRY_MS}\n${notice}id: ${after}\n\n`);
      await this.#send(response, events, after);
    } finally {
      this.#count -= 1;
    }
  }

  /** All are told to come again, and no more are taken. */
  close(): void {
    this.#closing.abort();
    for (const source of this.#waiting.keys()) this.#wake(source);
  }

  async #begin(
    events: FollowedEvents,
    start: FollowStart,
  ): Promise<{ readonly after: number; readonly notice: string }> {
    const lastId = this.#events.lastId(events.source.name);
    switch (start.kind) {
      case 'now':
        return { after: lastId, notice: '' };
      case 'last':
        return { after: await this.#reader.lastStart(events, start.count), notice: '' };
      case 'after': {
        if (start.id <= lastId) return { after: start.id, notice: '' };
        // It is of a store that is no more: nobody knows what its follower has of this one.
        const gap = JSON.stringify({ after: start.id, last: lastId });
        return { after: 0, notice: `event: gap\ndata: ${gap}\n\n` };
      }
    }
  }

  async #send(response: ServerResponse, events: FollowedEvents, start: number): Promise<void> {
    const { name } = events.source;
    const over = new AbortController();
    const timer = setTimeout(() => {
      over.abort();
      this.#wake(name);
    }, this.#times.followingMsMax);
    const isOver = (): boolean =>
      response.destroyed ||
      over.signal.aborted ||
      this.#closing.signal.aborted ||
      events.mayGoOn?.() === false;
    let after = start;
    try {
      while (!isOver()) {
        if (this.#events.lastId(name) <= after) {
          const isWoken = await this.#waitFor(name, response);
          if (!isWoken && !isOver()) await this.#write(response, `:\nid: ${after}\n\n`);
          continue;
        }
        const page = await this.#reader.read(events, after);
        if (isOver()) break;
        if (page.eventCount > 0) await this.#write(response, page.bytes);
        after = page.through;
      }
      response.end(`retry: ${FOLLOWER_RETRY_MS}\nid: ${after}\n\n`);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // It comes again, and is told by the status what is still wrong.
      const { code, message } = error;
      response.end(`event: failure\ndata: ${JSON.stringify({ code, message })}\n\n`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes, and waits until it is on its way. The server cuts off whoever reads nothing for long. */
  async #write(response: ServerResponse, bytes: Buffer | string): Promise<void> {
    if (response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
      if (response.destroyed) done();
    });
  }

  /** Resolves when events were published, or the caller has gone; to false when nothing was for a while. */
  #waitFor(source: string, response: ServerResponse): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(source) ?? new Set();
      this.#waiting.set(source, waiting);
      const end = (isWoken: boolean): void => {
        clearTimeout(timer);
        response.off('close', wake);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(source);
        resolve(isWoken);
      };
      const wake = (): void => end(true);
      const timer = setTimeout(() => end(false), this.#times.heartbeatMs);
      waiting.add(wake);
      response.on('close', wake);
      if (response.destroyed) wake();
    });
  }

  /** Called for every batch: while nobody waits it must cost nothing. */
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
