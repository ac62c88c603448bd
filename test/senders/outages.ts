import assert from 'node:assert/strict';
import type { PostedService } from './posted-service.ts';
import { eventName, eventNames, type Sender } from './sender.ts';

/** An application that logs so often fills some posts in each second. */
const LOG_EVERY_MS = 10;

/** Logged at once while nobody listens. */
const AWAY_COUNT = 50;

/** Posts that are answered before, and after, each time that the service ends. */
const ANSWERED_COUNT = 3;

/**
 * An application logs all the time. The service ends twice while a post is under way, once as it is told to and once
 * as in a crash, and starts again. Then what is stored is held against what was acknowledged.
 */
export async function logThroughOutages(sender: Sender, posted: PostedService): Promise<void> {
  const application = new Application(posted);
  try {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await application.isAnswered(sender, ANSWERED_COUNT);
      await posted.tap.nextRequest();
      await posted.end(signal);
      application.log(AWAY_COUNT);
      await posted.startAgain();
    }
    await application.isAnswered(sender, ANSWERED_COUNT);
  } finally {
    application.stop();
  }
  // What it has in memory may go with it.
  if (sender.keeps === 'everything') await application.isAllAnswered(sender);
  await posted.sender.stop();
  holdAgainst(sender, {
    logged: application.logged,
    sent: counts(
      posted.tap.requestBodies.map((body) => eventNames(sender.readBody?.(body) ?? body)),
    ),
    acknowledged: counts(posted.tap.exchanges.map(sender.acknowledged)),
    stored: counts((await posted.rows()).map(({ event_message }) => eventNames(event_message))),
    dropped: posted.sender.dropped,
  });
}

/** How often each event is. */
type Counts = ReadonlyMap<string, number>;

/** Each list is of one thing, in which an event may be named more than once. */
function counts(lists: readonly (readonly string[])[]): Counts {
  const result = new Map<string, number>();
  for (const names of lists) {
    for (const name of new Set(names)) result.set(name, (result.get(name) ?? 0) + 1);
  }
  return result;
}

function holdAgainst(
  sender: Sender,
  events: {
    readonly logged: readonly string[];
    readonly sent: Counts;
    readonly acknowledged: Counts;
    readonly stored: Counts;
    readonly dropped: ReadonlySet<string>;
  },
): void {
  const { logged, sent, acknowledged, stored, dropped } = events;
  const lost = [...acknowledged].filter(([name, count]) => (stored.get(name) ?? 0) < count);
  assert.deepEqual(lost, [], 'an event is stored as often as it was acknowledged');
  const made = [...stored].filter(([name, count]) => (sent.get(name) ?? 0) < count);
  assert.deepEqual(made, [], 'an event is not stored more often than it was sent');
  if (sender.keeps === 'nothing') return;
  const missing = logged.filter((name) => !stored.has(name) && !dropped.has(name));
  assert.deepEqual(missing, [], 'what is not stored was given up by the sender');
  if (sender.keeps === 'everything') assert.equal(dropped.size, 0, 'the sender gives up nothing');
}

class Application {
  readonly logged: string[] = [];
  readonly #posted: PostedService;
  readonly #timer: NodeJS.Timeout;

  constructor(posted: PostedService) {
    this.#posted = posted;
    this.#timer = setInterval(() => this.log(1), LOG_EVERY_MS);
  }

  log(count: number): void {
    for (let index = 0; index < count; index++) {
      const message = eventName(this.logged.length);
      this.logged.push(message);
      this.#posted.sender.log({ message });
    }
  }

  /** Resolves when so many posts of what is logged from here on were acknowledged. */
  async isAnswered(sender: Sender, count: number): Promise<void> {
    const { tap } = this.#posted;
    const first = eventName(this.logged.length);
    const start = tap.exchanges.length;
    await tap.until(() => {
      const isAcknowledged = tap.exchanges
        .slice(start)
        .filter((exchange) => sender.acknowledged(exchange).some((name) => name >= first));
      return isAcknowledged.length >= count;
    });
  }

  /** Resolves when all that was logged was acknowledged. */
  async isAllAnswered(sender: Sender): Promise<void> {
    const { tap } = this.#posted;
    await tap.until(() => {
      const isAcknowledged = new Set(tap.exchanges.flatMap(sender.acknowledged));
      return this.logged.every((name) => isAcknowledged.has(name));
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
