// In a process of its own: ClickHouse has one folder open in a process.
import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { HttpClient } from '../support/http-client.ts';
import { programWords } from '../support/program-words.ts';
import { ChdbUnderTest, missingChdb } from './chdb.ts';
import { DATABASE, makeDatabase } from './events-database.ts';
import { HttpDoor } from './http-door.ts';
import { ServiceOnClickHouse, settingsFor, TOKEN, until } from './service-on-clickhouse.ts';

const SOURCE = 'postgres.logs';

/** `weir start` in a process of its own. */
class StartedProcess {
  static readonly #alive = new Set<ChildProcess>();
  readonly #child: ChildProcess;
  readonly #client: HttpClient;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#client = new HttpClient(url);
  }

  static async start(folder: string, doorUrl: string): Promise<StartedProcess> {
    const env = { ...process.env, ...settingsFor(folder, doorUrl) };
    const words = [...programWords('src/main.ts'), 'start'];
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    StartedProcess.#alive.add(child);
    child.once('exit', () => StartedProcess.#alive.delete(child));
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const urlIn = () => /"event":"started".*"url":"(http:[^"]+)"/.exec(text)?.[1];
    await until(() => urlIn() !== undefined || child.exitCode !== null);
    const url = urlIn();
    if (url === undefined) throw new Error(`weir did not start: ${text}`);
    return new StartedProcess(child, url);
  }

  /** Ends what a failed test has left. */
  static endAll(): void {
    for (const child of StartedProcess.#alive) child.kill('SIGKILL');
  }

  async post(ids: readonly string[]): Promise<number> {
    const body = JSON.stringify(ids.map((id) => ({ id, event_message: id, project: 'p' })));
    const path = `/api/logs?source_name=${SOURCE}`;
    const headers = { 'X-API-KEY': TOKEN, 'Content-Type': 'application/json' };
    return (await this.#client.ask({ method: 'POST', path, headers, body })).status;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#client.close();
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
  }
}

suite('a service that is killed', { skip: missingChdb() }, () => {
  let chdb: ChdbUnderTest;
  let door: HttpDoor;
  let folder: string;

  before(async () => {
    chdb = ChdbUnderTest.start();
    door = await HttpDoor.open(chdb);
  });

  beforeEach(async () => {
    makeDatabase(chdb);
    door.isOpen = true;
    door.beforeAnswer = () => {};
    folder = await mkdtemp(join(tmpdir(), 'weir-killed-'));
  });

  after(async () => {
    StartedProcess.endAll();
    await door?.close();
    await chdb?.close();
  });

  function stored(): readonly string[] {
    return chdb.rows<[string]>(`SELECT id FROM ${DATABASE}.events ORDER BY id`).map(([id]) => id);
  }

  async function finish(expected: readonly string[]): Promise<void> {
    const next = await StartedProcess.start(folder, door.url);
    await until(() => stored().length >= expected.length);
    await next.end('SIGTERM');
    deepEqual(stored(), expected);
    await rm(folder, { recursive: true });
  }

  test('between the answer to a post and its sending: nothing is lost, and nothing is there twice', async () => {
    door.isOpen = false;
    const first = await StartedProcess.start(folder, door.url);
    equal(await first.post(['a', 'b']), 200);
    equal(await first.post(['c']), 200);
    await first.end('SIGKILL');
    deepEqual(stored(), []);
    door.isOpen = true;
    await finish(['a', 'b', 'c']);
  });

  test('when ClickHouse has the events and has not said so; a follower elsewhere gets each once', async () => {
    const other = await ServiceOnClickHouse.start({ url: door.url });
    const stream = await other.follow(SOURCE);
    const first = await StartedProcess.start(folder, door.url);
    let killed: Promise<void> | undefined;
    door.beforeAnswer = async () => {
      killed ??= first.end('SIGKILL');
      await killed;
    };
    equal(await first.post(['a', 'b']), 200);
    await until(() => killed !== undefined);
    await killed;
    door.beforeAnswer = () => {};
    deepEqual(stored(), ['a', 'b']);
    await finish(['a', 'b']);
    const followed = await stream.take(2);
    await other.post(SOURCE, [{ id: 'c', event_message: 'c' }]);
    followed.push(...(await stream.take(1)));
    deepEqual(
      followed.map(({ data }) => JSON.parse(data).id),
      ['a', 'b', 'c'],
    );
    stream.close();
    await other.stopForGood();
  });
});
