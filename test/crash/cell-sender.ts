import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpAnswer, HttpClient } from '../support/http-client.ts';
import { SLOW_SYNC_MS } from './fault-file.ts';
import { type Cell, ENCODINGS, type Fault } from './receiver-cells.ts';

/** The source of all posts. Each receiver takes its name in the URL. */
export const SOURCE = 'postgres.logs';

/** Between two posts of one sender, and between two attempts of a post. */
const PACE_MS = 100;

/** A timer of the service may end so much earlier than a clock here says. */
const TIMER_MS = 5;

/** A body that a sender posts until it is answered. */
export type Post = {
  readonly cell: Cell;
  /** A text of each of its events that no other post has. */
  readonly text: string;
  /** How it ended: all is stored, or its encoding is refused. */
  end: 'acknowledged' | 'refused' | undefined;
  /** Attempts after which its sender cannot know whether it is stored. */
  uncertainCount: number;
};

/** What senders see of the service, and what happens to it. */
export type SentRound = {
  /** Begins a post of a cell. */
  readonly begin: (cell: Cell) => Post;
  readonly client: HttpClient;
  readonly token: string;
  /** Since when each sync is slow, by the clock of `performance`. */
  slowSinceMs: number;
};

/** Posts bodies of one cell, one after another, and repeats each until it is answered for good. */
export class CellSender {
  readonly cell: Cell;
  readonly #round: SentRound;
  #isEnding = false;
  #hasGivenUp = false;
  /** Posts that are answered for good, and those of them that were sent while the disk was slow. */
  endedCount = 0;
  slowCount = 0;
  /** Answers that ask for a repetition. */
  laterCount = 0;

  constructor(cell: Cell, round: SentRound) {
    this.cell = cell;
    this.#round = round;
  }

  /** Whether the receiver takes the encoding. */
  get isTaken(): boolean {
    return this.cell.receiver.encodings.includes(this.cell.encoding);
  }

  /** Posts until `end` is called. */
  async run(): Promise<void> {
    while (!this.#isEnding) {
      await this.#post(this.#round.begin(this.cell));
      await wait(PACE_MS);
    }
  }

  end(): void {
    this.#isEnding = true;
  }

  async #post(post: Post): Promise<void> {
    const { receiver, encoding } = this.cell;
    const body = ENCODINGS[encoding](receiver.body(post.text));
    for (;;) {
      const sentMs = performance.now();
      const answer = await this.#ask(body);
      const wasSlow = sentMs >= this.#round.slowSinceMs;
      post.end = answer === undefined ? this.#readNothing() : this.#read(answer);
      if (post.end === 'acknowledged' && wasSlow) {
        const durationMs = performance.now() - sentMs;
        assert(durationMs >= SLOW_SYNC_MS - TIMER_MS, this.#say(`${durationMs} ms`));
      }
      if (post.end !== undefined) {
        this.endedCount += 1;
        this.slowCount += wasSlow ? 1 : 0;
        return;
      }
      // Who is refused for lack of room knows that nothing is stored.
      if (this.cell.fault !== '429') post.uncertainCount += 1;
      await wait(PACE_MS);
    }
  }

  /** Nothing if there was no answer. */
  async #ask(body: Buffer): Promise<HttpAnswer | undefined> {
    const { client, token, slowSinceMs } = this.#round;
    const { receiver, encoding } = this.cell;
    // Once on a slow disk, a sender whose patience ends before the sync does.
    const givesUp = performance.now() >= slowSinceMs && !this.#hasGivenUp;
    this.#hasGivenUp ||= givesUp;
    const signal = givesUp ? AbortSignal.timeout(SLOW_SYNC_MS / 2) : undefined;
    try {
      return await client.ask({
        method: 'POST',
        path: `${receiver.path}?source_name=${SOURCE}`,
        headers: {
          'X-API-KEY': token,
          'Content-Type': receiver.type,
          'Content-Encoding': encoding,
        },
        body,
        signal,
      });
    } catch {
      return undefined;
    }
  }

  /** Without an answer a post must be repeated. */
  #readNothing(): undefined {
    const { receiver, fault } = this.cell;
    const isRefusal = REFUSING.has(fault);
    assert(!isRefusal || receiver.cutsRefusals, this.#say('no answer'));
    if (isRefusal) this.laterCount += 1;
  }

  /** How a post has ended by its answer; nothing if it must be repeated. */
  #read({ status, text }: HttpAnswer): Post['end'] {
    const { receiver, fault } = this.cell;
    const said = this.#say(`${status} ${text.slice(0, 500)}`);
    // A service that starts or stops does not look at the post.
    const isAway = status === 503 && (fault === 'stop' || fault === 'kill');
    if (isAway) return undefined;
    if (!this.isTaken) {
      assert.equal(status, 415, said);
      return 'refused';
    }
    if (status === receiver.success) {
      assert.doesNotMatch(text, PARTLY_STORED, said);
      return 'acknowledged';
    }
    assert(REFUSING.has(fault), said);
    assert.equal(status, fault === '429' ? receiver.overload : 503, said);
    this.laterCount += 1;
    return undefined;
  }

  #say(what: string): string {
    const { receiver, encoding, fault } = this.cell;
    return `${receiver.path} ${receiver.type} ${encoding} during ${fault}: ${what}`;
  }
}

/** The faults in which the service answers that a post must be repeated. */
const REFUSING: ReadonlySet<Fault> = new Set(['429', '503']);

/** How receivers with a successful status say that some events are not stored. */
const PARTLY_STORED = /partialSuccess|errorMessage|"errors":true|"details"|refused/;
