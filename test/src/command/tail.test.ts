import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { NOW, us } from '../../scripts/script.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const SOURCE = 'gotrue.logs.prod';

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-tail-'));
  service = await ServiceUnderTest.start({ DATA_DIR: folder });
  await post('e0', 'long ago');
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function post(id: string, message: string, project = 'alpha'): Promise<void> {
  const event = { id, event_message: message, timestamp: us(NOW), project, metadata: { id } };
  await service.post(SOURCE, [event], us(NOW));
}

/** A running `weir tail` with these arguments. */
class Tail {
  readonly #ended = new AbortController();
  readonly #done: Promise<Ended>;
  #out = '';
  #err = '';
  #heard = (): void => {};

  constructor(words: readonly string[]) {
    this.#done = runWeir(['tail', ...words], {
      environment: { PRIVATE_ACCESS_TOKEN: 'a-private-token' },
      ended: this.#ended.signal,
      seen: (out, err) => {
        [this.#out, this.#err] = [out, err];
        this.#heard();
      },
    });
  }

  /** All lines so far, once there are this many. */
  lines(count: number): Promise<string[]> {
    return this.#until(() => {
      const lines = this.#out.split('\n').slice(0, -1);
      return lines.length >= count ? lines : undefined;
    });
  }

  /** The output on standard error, once it contains this. */
  told(part: string): Promise<string> {
    return this.#until(() => (this.#err.includes(part) ? this.#err : undefined));
  }

  /** Ctrl-C. */
  end(): Promise<Ended> {
    this.#ended.abort();
    return this.#done;
  }

  async #until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const heard = new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
      const ended = this.#done.then((result) => assert.fail(`it ended: ${JSON.stringify(result)}`));
      await Promise.race([heard, ended]);
    }
  }
}

test('events are shown as lines, starting with the last ones, until Ctrl-C', async () => {
  const tail = new Tail([SOURCE, '--last', '1', '--url', service.url]);
  await tail.lines(1);
  await post('e1', 'a \u001b[2Jmessage');
  await post('e2', 'of another', 'beta');
  assert.deepEqual(await tail.lines(3), [
    '2026-01-15T12:00:00.000Z  alpha  long ago',
    '2026-01-15T12:00:00.000Z  alpha  a \\u001b[2Jmessage',
    '2026-01-15T12:00:00.000Z  beta  of another',
  ]);
  const { status, err } = await tail.end();
  assert.deepEqual([status, err], [0, '']);
});

test('--json shows each event whole, and --project filters', async () => {
  const words = ['--json', '--project', 'beta', '--last', '5', '--url', service.url];
  const tail = new Tail([SOURCE, ...words]);
  const [line] = await tail.lines(1);
  assert.deepEqual(JSON.parse(line!), {
    id: 'e2',
    timestamp: us(NOW),
    event_message: 'of another',
    project: 'beta',
    metadata: [{ id: 'e2' }],
  });
  await post('e3', 'not mine');
  await post('e4', 'mine', 'beta');
  const lines = await tail.lines(2);
  assert.deepEqual(
    lines.map((each) => JSON.parse(each).id),
    ['e2', 'e4'],
  );
  await tail.end();
});

test('after an interruption it continues after the last event that it got', async () => {
  // A proxy keeps the address while the service behind it restarts.
  const front = createServer((socket) => {
    const back = connect(Number(new URL(service.url).port), '127.0.0.1');
    for (const each of [socket, back]) each.on('error', () => {});
    socket.on('close', () => back.destroy()).pipe(back);
    back.on('close', () => socket.destroy()).pipe(socket);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const tail = new Tail([SOURCE, '--json', '--last', '1', '--url', url]);
  await tail.lines(1);
  await post('r1', 'before');
  await tail.lines(2);
  await service.stop();
  await tail.told('trying again');
  service = await ServiceUnderTest.start({ DATA_DIR: folder });
  await post('r2', 'after');
  const lines = await tail.lines(3);
  assert.deepEqual(
    lines.map((each) => JSON.parse(each).id),
    ['e4', 'r1', 'r2'],
  );
  const { status, err } = await tail.end();
  assert.equal(status, 0);
  assert.match(err, /^[^\n]*; trying again\n$/, 'it is told once');
  front.close();
});

test('--search shows only the events that match, also stored ones', async () => {
  await post('s1', 'a slow request');
  await post('s2', 'a slow request of a robot');
  const words = ['--search', 'slow -robot', '--last', '5', '--json', '--url', service.url];
  const tail = new Tail([SOURCE, ...words]);
  await tail.lines(1);
  await post('s3', 'slow robot');
  await post('s4', 'slow again');
  const lines = await tail.lines(2);
  assert.deepEqual(
    lines.map((each) => JSON.parse(each).id),
    ['s1', 's4'],
  );
  await tail.end();
});

test('usage errors end with 2, failures with 1', async () => {
  const environment = { PRIVATE_ACCESS_TOKEN: 'a-private-token' };
  for (const [words, status, sentence] of [
    [[], 2, /^tail must be followed by the name of one source; got nothing\n/],
    [['a', 'b'], 2, /got "a", "b"\n/],
    [[SOURCE, '--last', 'all'], 2, /^last must be a whole number from 0 to 10000; got "all"\n/],
    [[SOURCE, '--since', 'now'], 2, /^since must be an ISO 8601 time; got "now"\n/],
    [[SOURCE, '--search', '"open'], 2, /^search, character 1: a closing " is missing/],
    [['nothing'], 1, /^there is no source "nothing"; GET \/api\/sources lists them/],
  ] as const) {
    const ended = await runWeir(['tail', ...words, '--url', service.url], { environment });
    assert.deepEqual([ended.status, ended.out], [status, '']);
    assert.match(ended.err, sentence);
  }
  const url = 'http://127.0.0.1:1';
  const none = await runWeir(['tail', SOURCE, '--url', url], { environment });
  assert.equal(none.status, 1);
  assert.match(none.err, /^no service answers at http:\/\/127\.0\.0\.1:1: /);
});
