import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import { ServiceError } from '../../../src/errors.ts';
import { EventIds } from '../../../src/follow/event-ids.ts';
import type { EventReader } from '../../../src/follow/event-reader.ts';
import {
  Followers,
  type FollowStart,
  type FollowTimes,
  type WritePage,
} from '../../../src/follow/followers.ts';
import { AnswerWriter } from '../../../src/http/answer-writer.ts';
import { WorkTurns } from '../../../src/http/work-turns.ts';
import { InstanceKey } from '../../../src/instance-key.ts';
import type { PublishedEvents } from '../../../src/store/published-events.ts';
import { EventStream } from '../../support/event-stream.ts';

const [SOURCE] = BUILT_IN_SOURCES;

const IDS = new EventIds(InstanceKey.random());

const TURNS = new WorkTurns(() => performance.now());

/** The number of the event with this id. */
const numberOf = (id: string): number | undefined => IDS.findNumber(SOURCE!.name, id);

/** Begins to follow with the token of a tenant. */
type Open = (tenant?: string) => Promise<EventStream>;

/** Followers of a source whose events are numbers, each of this many bytes. */
class FollowersUnderTest {
  readonly followers: Followers;
  /** The path is the tenant; with a query, the follower starts from the last events. */
  readonly #server = createServer(({ url = '/' }, response) => {
    const [path = '', query] = url.split('?');
    const events = { source: SOURCE!, reach: EVERYTHING, tenant: path.slice(1) };
    const start: FollowStart = query === undefined ? { kind: 'now' } : { kind: 'last', count: 1 };
    const writer = new AnswerWriter(response, { turns: TURNS, tenant: events.tenant });
    const write: WritePage = (bytes, ending) => writer.write(bytes, ending);
    this.followers.follow(response, events, start, write).catch((error: ServiceError) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(error.status).end(error.message);
    });
  });
  /** The numbers that pages were read after. */
  readonly reads: number[] = [];
  /**
   * Signals of searches for the last events, which never succeed here. They abort when no caller
   * waits.
   */
  readonly openings: AbortSignal[] = [];
  failure: ServiceError | undefined;
  #lastNumber = 0;
  #publish: (source: string) => void = () => {};

  constructor(
    options: {
      readonly countMax?: number;
      readonly heldBytesMax?: number;
      readonly times?: Partial<FollowTimes>;
      readonly eventBytes?: number;
      /** Whether all events belong to others. */
      readonly isOfOthers?: boolean;
    } = {},
  ) {
    const events: PublishedEvents = {
      watch: async () => () => {},
      knows: (_source, number) => number <= this.#lastNumber,
      pageEnd: () => assert.fail('no page is read here'),
      lastNumber: () => this.#lastNumber,
      prepare: () => assert.fail('no text is bound here'),
      whenPublished: (listener) => {
        this.#publish = listener;
      },
    };
    const data = 'x'.repeat(options.eventBytes ?? 1);
    const reader: Pick<EventReader, 'read' | 'lastStart'> = {
      read: async (_events, after) => {
        this.reads.push(after);
        if (this.failure !== undefined) throw this.failure;
        const id = after + 1;
        if (options.isOfOthers === true) {
          return { bytes: Buffer.alloc(0), eventCount: 0, lastNumber: id, through: id };
        }
        const bytes = Buffer.from(`id: ${IDS.createId(SOURCE!.name, id)}\ndata: ${data}\n\n`);
        return { bytes, eventCount: 1, lastNumber: id, through: id };
      },
      lastStart: (_events, _count, cancelled) => {
        this.openings.push(cancelled);
        return new Promise((_resolve, reject) => {
          const message = 'nobody waits for it';
          const fail = () => reject(new ServiceError('query_cancelled', message));
          cancelled.addEventListener('abort', fail);
        });
      },
    };
    this.followers = new Followers({ ...options, reader: reader as EventReader, events, ids: IDS });
  }

  publish(count = 1, source = SOURCE!.name): void {
    this.#lastNumber += count;
    this.#publish(source);
  }

  /** All callers go away. */
  cutAll(): void {
    this.#server.closeAllConnections();
  }

  async with(work: (open: Open) => Promise<void>): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const streams: EventStream[] = [];
    try {
      await work(async (tenant = 'one') => {
        const stream = await EventStream.open(`http://127.0.0.1:${port}/${tenant}`);
        streams.push(stream);
        return stream;
      });
    } finally {
      for (const stream of streams) stream.close();
      this.#server.close();
      this.#server.closeAllConnections();
      while (this.followers.count > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test('the number of followers is limited, and one that leaves frees its place', async () => {
  const under = new FollowersUnderTest({ countMax: 2 });
  await under.with(async (open) => {
    const [first] = [await open(), await open()];
    const third = await open();
    assert.equal(third.response.statusCode, 503);
    first.close();
    while (under.followers.count > 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await open()).response.statusCode, 200);
  });
});

test('when all places are taken, the tenant with most loses its oldest follower', async () => {
  const under = new FollowersUnderTest({ countMax: 4 });
  await under.with(async (open) => {
    const many = [];
    for (let count = 1; count <= 4; count++) many.push(await open('many'));
    assert.equal((await open('many')).response.statusCode, 503, 'nobody takes its own place');
    under.publish();
    for (const stream of many) await stream.take(1);
    for (const oldest of many.slice(0, 2)) {
      const few = await open('few');
      assert.equal(few.response.statusCode, 200);
      const [failure] = await oldest.end();
      assert.equal(failure!.event, 'failure');
      assert.equal(JSON.parse(failure!.data).code, 'overloaded');
      assert.match(JSON.parse(failure!.data).message, /this one was closed for another token/);
      assert.equal(numberOf(oldest.lastId), 1, 'it comes again with what it had');
    }
    assert.equal(under.followers.count, 4);
    assert.equal((await open('few')).response.statusCode, 503, 'each has half');
    assert.equal((await open('many')).response.statusCode, 503);
    assert.equal((await open('third')).response.statusCode, 200);
  });
});

test('the place of a follower that reads nothing is free at once', async () => {
  const under = new FollowersUnderTest({ countMax: 2, eventBytes: 1024 * 1024 });
  await under.with(async (open) => {
    const oldest = await open('many');
    await open('many');
    oldest.response.pause();
    under.publish(50);
    while (under.reads.length < 5) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await open('few')).response.statusCode, 200);
    assert.equal(under.followers.count, 2);
  });
});

test('the search for the last events stops when the caller leaves or loses its place', async () => {
  const under = new FollowersUnderTest({ countMax: 2 });
  await under.with(async (open) => {
    const opened = open('many?last').catch(() => undefined);
    while (under.openings.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await open('many');
    await open('few');
    assert.equal(under.openings[0]!.aborted, true);
    assert.equal((await opened)!.response.statusCode, 503);
    under.followers.close();
  });
  const left = new FollowersUnderTest();
  await left.with(async (open) => {
    void open('one?last').catch(() => undefined);
    while (left.openings.length < 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(left.openings[0]!.aborted, false);
    left.cutAll();
    while (left.followers.count > 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(left.openings[0]!.aborted, true);
  });
});

test('an idle follower gets heartbeats with its id', async () => {
  const under = new FollowersUnderTest({ times: { heartbeatMs: 5 } });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(4);
    assert.equal(numberOf(stream.lastId), 0);
    under.publish();
    await stream.take(1);
    await stream.emptied(6);
    assert.equal(numberOf(stream.lastId), 1);
  });
});

test('heartbeats have their own times, whatever others post', async (context) => {
  const { timers } = context.mock;
  timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const under = new FollowersUnderTest({ times: { heartbeatMs: 1000 }, isOfOthers: true });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    for (let post = 1; post <= 7; post++) {
      under.publish();
      timers.tick(450);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(under.reads, [0, 1, 2, 3, 4, 5, 6]);
    under.followers.close();
    assert.deepEqual(await stream.end(), []);
    // One block starts the stream and one ends it; 3150 ms have 3 heartbeats.
    assert.equal(stream.emptyCount, 1 + 3 + 1);
    assert.equal(numberOf(stream.lastId), 7);
  });
});

test('nothing is read for a source without followers, or before there are events', async () => {
  const under = new FollowersUnderTest();
  under.publish(3);
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    under.publish(0, 'another');
    assert.deepEqual(under.reads, []);
    under.publish(2);
    assert.deepEqual(
      (await stream.take(2)).map(({ id }) => numberOf(id)),
      [4, 5],
    );
    assert.deepEqual(under.reads, [3, 4]);
  });
});

test('events that a follower has not read stay in the store', async () => {
  const under = new FollowersUnderTest({ eventBytes: 1024 * 1024 });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    stream.response.pause();
    under.publish(500);
    // Until nothing has been read for some turns.
    for (let [turns, seen] = [0, 0]; turns < 200; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (under.reads.length !== seen || seen === 0) turns = 0;
      seen = under.reads.length;
    }
    // What the connection buffered in the system, and one event more.
    assert.ok(under.reads.length < 100, `${under.reads.length} of 500 were read`);
  });
});

test('a page waits until unread pages of others leave room for it', async () => {
  const under = new FollowersUnderTest({ eventBytes: 32 * 1024 * 1024, heldBytesMax: 1 });
  await under.with(async (open) => {
    const slow = await open();
    await slow.emptied(1);
    slow.response.pause();
    under.publish();
    while (under.reads.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const quick = await open();
    await quick.emptied(1);
    under.publish();
    while (under.reads.length < 2) await new Promise((resolve) => setImmediate(resolve));
    slow.close();
    const [event] = await quick.take(1);
    assert.equal(numberOf(event!.id), 2);
    // Its page was dropped and read again.
    assert.deepEqual(under.reads.slice(1), [1, 1]);
  });
});

test('a slow follower gets everything, as fast as it reads', async () => {
  const under = new FollowersUnderTest({ eventBytes: 64 * 1024 });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    under.publish(100);
    for (let id = 1; id <= 100; id += 10) {
      stream.response.pause();
      await new Promise((resolve) => setImmediate(resolve));
      stream.response.resume();
      const got = await stream.take(10);
      assert.deepEqual(
        got.map((event) => numberOf(event.id)),
        Array.from({ length: 10 }, (_, index) => id + index),
      );
    }
  });
});

test('a failed read is reported and ends the stream, which can be continued from its id', async () => {
  const under = new FollowersUnderTest();
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    under.publish();
    await stream.take(1);
    under.failure = new ServiceError('query_timeout', 'it took too long');
    under.publish();
    const [failure] = await stream.end();
    assert.deepEqual(
      [failure!.event, JSON.parse(failure!.data), numberOf(stream.lastId)],
      ['failure', { code: 'query_timeout', message: 'it took too long' }, 1],
    );
  });
});

test('a stream ends after its time, and when the service stops, each with a time to reconnect', async () => {
  const brief = new FollowersUnderTest({ times: { followingMsMax: 5 } });
  await brief.with(async (open) => {
    const stream = await open();
    assert.deepEqual(await stream.end(), []);
    assert.equal(stream.retryMs, 2000);
  });
  const stopped = new FollowersUnderTest();
  await stopped.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    stopped.followers.close();
    assert.deepEqual(await stream.end(), []);
    assert.equal((await open()).response.statusCode, 503);
  });
});
