import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import { BUILT_IN_SOURCES } from '../../../ingest/source.ts';
import { ServiceError } from '../../../src/errors.ts';
import type { EventReader } from '../../../src/follow/event-reader.ts';
import { Followers, type FollowTimes } from '../../../src/follow/followers.ts';
import type { PublishedEvents } from '../../../src/store/published-events.ts';
import { EventStream } from '../../support/event-stream.ts';

const [SOURCE] = BUILT_IN_SOURCES;

/** Followers over a source whose events are numbers, each of so many bytes. */
class FollowersUnderTest {
  readonly followers: Followers;
  readonly #server = createServer((_request, response) => {
    const events = { source: SOURCE!, reach: EVERYTHING };
    this.followers.follow(response, events, { kind: 'now' }).catch((error: ServiceError) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(error.status).end(error.message);
    });
  });
  /** The ids that pages were read behind. */
  readonly reads: number[] = [];
  failure: ServiceError | undefined;
  #lastId = 0;
  #publish: (source: string) => void = () => {};

  constructor(
    options: {
      readonly countMax?: number;
      readonly times?: Partial<FollowTimes>;
      readonly eventBytes?: number;
    } = {},
  ) {
    const events: PublishedEvents = {
      lastId: () => this.#lastId,
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
        const bytes = Buffer.from(`id: ${id}\ndata: ${data}\n\n`);
        return { bytes, eventCount: 1, lastId: id, through: id };
      },
      lastStart: async () => 0,
    };
    this.followers = new Followers({ ...options, reader: reader as EventReader, events });
  }

  publish(count = 1, source = SOURCE!.name): void {
    this.#lastId += count;
    this.#publish(source);
  }

  async with(work: (open: () => Promise<EventStream>) => Promise<void>): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const streams: EventStream[] = [];
    try {
      await work(async () => {
        const stream = await EventStream.open(`http://127.0.0.1:${port}`);
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

test('no more follow than there may be, and one that goes makes room', async () => {
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

test('a follower for whom nothing comes hears that it is still there, with its id', async () => {
  const under = new FollowersUnderTest({ times: { heartbeatMs: 5 } });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(4);
    assert.equal(stream.lastId, '0');
    under.publish();
    await stream.take(1);
    await stream.emptied(6);
    assert.equal(stream.lastId, '1');
  });
});

test('nothing is read for a source that nobody follows, nor before there is something', async () => {
  const under = new FollowersUnderTest();
  under.publish(3);
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    under.publish(0, 'another');
    assert.deepEqual(under.reads, []);
    under.publish(2);
    assert.deepEqual(
      (await stream.take(2)).map(({ id }) => id),
      ['4', '5'],
    );
    assert.deepEqual(under.reads, [3, 4]);
  });
});

test('what a follower does not read stays in the store', async () => {
  const under = new FollowersUnderTest({ eventBytes: 1024 * 1024 });
  await under.with(async (open) => {
    const stream = await open();
    await stream.emptied(1);
    stream.response.pause();
    under.publish(500);
    // Until nothing more is read, for some turns.
    for (let [turns, seen] = [0, 0]; turns < 200; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (under.reads.length !== seen || seen === 0) turns = 0;
      seen = under.reads.length;
    }
    // What the connection took, in memory of the system, and one event more.
    assert.ok(under.reads.length < 100, `${under.reads.length} of 500 were read`);
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
        got.map((event) => Number(event.id)),
        Array.from({ length: 10 }, (_, index) => id + index),
      );
    }
  });
});

test('a failure of a read is told, and ends the stream; its id is where to go on', async () => {
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
      [failure!.event, JSON.parse(failure!.data), stream.lastId],
      ['failure', { code: 'query_timeout', message: 'it took too long' }, '1'],
    );
  });
});

test('a stream ends after its time, and when the service stops, each with a time to come again', async () => {
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
