import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { HttpClient } from '../../bench/http-client.ts';
import { ServiceProcess } from '../../bench/service-process.ts';
import { findStorePath } from '../../ingest/data-folder.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { PARTITION_US, toPartition } from '../../ingest/partition.ts';
import { SegmentFile } from '../../ingest/segment-file.ts';
import { parseSegmentName } from '../../ingest/segment-name.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { programWords } from '../support/program-words.ts';
import { fastNowUs } from './fast-clock.ts';
import { progressOf } from './progress.ts';

/** `WEIR_KILLS=500` is the long form. */
const KILLS = budgetOf('WEIR_KILLS', { fast: 1, all: 50 });
/** On a busy machine lives end before much was sealed; so many are lived until all was seen. */
const KILLS_MAX = 3 * KILLS;

/** A service is killed after so many posts were acknowledged, or so much time has passed. */
type LifeSpan = { readonly senders: number; readonly postsMax: number; readonly msMax: number };
const SHORT_LIFE: LifeSpan = { senders: 4, postsMax: 120, msMax: 1_500 };
/**
 * The lives after the wanted ones: sealing and merging step back behind all other work, so they
 * get more time and, from a single sender, more of the processor.
 */
const LONG_LIFE: LifeSpan = { senders: 1, postsMax: Number.POSITIVE_INFINITY, msMax: 10_000 };
/** Between two looks at all there is: sealing and storing have need of the same worker. */
const LOOK_MS = 30;
const SOURCE = 'cloudflare.logs.prod';
const PATH = `/api/logs?source_name=${SOURCE}`;
const RETENTION_DAYS = 1;

/** Of an answer; posts of a few days are fewer. */
const ROWS_MAX = 100_000;

const DEFINITION = `-- id: 0b7f1f6e-5a0e-4a8e-9d27-6b8a4c1f2e33
-- name: crash.everything
-- description: How many events of each post and day there are
-- max_rows: ${ROWS_MAX}
-- param: project string required

SELECT t.event_message AS post, TIMESTAMP_TRUNC(t.timestamp, DAY) AS day, COUNT(*) AS events,
  COUNT(DISTINCT t.id) AS ids
FROM \`cloudflare.logs.prod\` AS t
WHERE t.project = @project GROUP BY post, day
`;

type Row = {
  readonly post: string;
  /** Start of the day in microseconds. */
  readonly day: number;
  readonly events: number;
  readonly ids: number;
};

/** What senders know: how many events of each day each post has, and which were acknowledged. */
class Ledger {
  readonly #posts = new Map<string, ReadonlyMap<number, number>>();
  readonly #acknowledged = new Set<string>();
  acknowledgedCount = 0;
  #awaited = { count: Number.POSITIVE_INFINITY, resolve: (): void => {} };

  send(post: string, timestampsUs: readonly number[]): void {
    const events = new Map<number, number>();
    for (const day of timestampsUs.map(toPartition)) events.set(day, (events.get(day) ?? 0) + 1);
    this.#posts.set(post, events);
  }

  acknowledge(post: string): void {
    this.#acknowledged.add(post);
    this.acknowledgedCount++;
    if (this.acknowledgedCount >= this.#awaited.count) this.#awaited.resolve();
  }

  /** Resolves when so many more posts were acknowledged. */
  acknowledging(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { count: this.acknowledgedCount + count, resolve };
    });
  }

  /** Posts that a query begun now must see. */
  acknowledged(): ReadonlySet<string> {
    return new Set(this.#acknowledged);
  }

  /** Days that end before `oldestUs` may be gone; of the others all posts that `known` has must be there. */
  check(rows: readonly Row[], oldestUs: number, known: ReadonlySet<string>): void {
    const found = new Map<string, Set<number>>();
    for (const { post, day, events, ids } of rows) {
      const partition = toPartition(day);
      const wanted = this.#posts.get(post)?.get(partition);
      const place = `post ${post}, day ${partition}`;
      // A post that is not known any more is one whose days were all behind the retention.
      if (this.#posts.has(post)) assert.deepEqual([events, ids], [wanted, wanted], place);
      found.set(post, (found.get(post) ?? new Set()).add(partition));
    }
    for (const [post, events] of this.#posts) {
      const kept = [...events.keys()].filter((day) => (day + 1) * PARTITION_US > oldestUs);
      const days = found.get(post);
      if (kept.length === 0) this.#posts.delete(post);
      else if (days === undefined) {
        assert(!known.has(post), `post ${post} was acknowledged`);
      } else for (const day of kept) assert(days.has(day), `post ${post} is whole: day ${day}`);
      // What was seen once is there from now on.
      if (days !== undefined) this.#acknowledged.add(post);
    }
  }
}

/** Posts, one after another, until the service is gone. */
async function send(
  client: HttpClient,
  ledger: Ledger,
  options: { readonly random: Random; readonly sender: string; readonly nowUs: () => number },
): Promise<void> {
  const { random, sender, nowUs } = options;
  for (let number = 0; ; number++) {
    const post = `${sender}-${number}`;
    // Some posts have events of two days: one sealing makes two files of them.
    const spreadUs = random.pick([1, 0.5 * PARTITION_US]);
    const timestampsUs = Array.from({ length: 1 + random.below(20) }, () => {
      return Math.floor(nowUs() - random.next() * spreadUs);
    });
    const events = timestampsUs.map((timestamp, index) => ({
      ...{ id: `${post}-${index}`, timestamp, project: 'p', event_message: post },
      metadata: { request: { path: `/rest/v1/${random.hex(random.below(2_000))}` } },
    }));
    ledger.send(post, timestampsUs);
    try {
      const answer = await client.post(PATH, Buffer.from(JSON.stringify(events)));
      if (answer.status === 200) ledger.acknowledge(post);
      else assert([429, 503].includes(answer.status), answer.body.toString());
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

/** Holds what a query sees against what was acknowledged before it began. */
async function look(client: HttpClient, ledger: Ledger, nowUs: () => number): Promise<void> {
  const known = ledger.acknowledged();
  const answer = await client.get('/api/endpoints/crash.everything?project=p');
  assert.equal(answer.status, 200, answer.body.toString());
  const { result } = JSON.parse(answer.body.toString()) as { readonly result: Row[] };
  assert(result.length < ROWS_MAX, 'the answer is not cut');
  ledger.check(result, nowUs() - RETENTION_DAYS * PARTITION_US, known);
}

/** What left memory in one life of the service, and what was read for one query alone. */
type Evictions = { blocks: number; passingBytes: number };

/** Looks, again and again, until the service is gone; so what has left memory comes back. */
async function watch(client: HttpClient, ledger: Ledger, nowUs: () => number): Promise<Evictions> {
  const evictions = { blocks: 0, passingBytes: 0 };
  try {
    for (;;) {
      await look(client, ledger, nowUs);
      const metrics = (await client.get('/metrics')).body.toString();
      evictions.blocks = metric(metrics, 'weir_memory_evicted_blocks_total');
      evictions.passingBytes = metric(metrics, 'weir_memory_passing_bytes_total');
      await wait(LOOK_MS);
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return evictions;
  }
}

function metric(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  assert(value !== undefined, `there is a metric ${name}`);
  return Number(value);
}

/** What of the life of segments is seen from outside, between two lives. */
class Traces {
  readonly #disk = new NodeDisk();
  readonly #days = new Set<number>();
  #now = new Set<number>();
  #idMax = 0;
  #mergedIds = new Set<number>();
  #logNumberMin = 0;

  async look(dataDir: string): Promise<void> {
    const folder = join(dataDir, 'segments', SOURCE);
    this.#now = new Set();
    for (const name of await this.#disk.list(folder)) {
      const parsed = parseSegmentName(name);
      if (parsed === undefined) continue;
      const { envelope } = await SegmentFile.open(this.#disk, join(folder, name));
      if (envelope.replaced.length > 1) this.#mergedIds.add(parsed.id);
      this.#idMax = Math.max(this.#idMax, parsed.id);
      this.#now.add(parsed.partition);
      this.#days.add(parsed.partition);
    }
    const logNames = await this.#disk.list(join(dataDir, 'log'));
    this.#logNumberMin = Math.min(...logNames.map((name) => Number.parseInt(name, 10)));
  }

  summary(): Readonly<Record<string, number>> {
    return {
      stored: this.#idMax,
      merged: this.#mergedIds.size,
      daysDropped: this.#days.size - this.#now.size,
      logFilesRemoved: this.#logNumberMin - 1,
    };
  }
}

test(`a service killed ${KILLS} times during its work loses, doubles and halves nothing acknowledged`, async (context) => {
  const seed = fuzzSeed();
  const random = new Random(seed);
  const folder = await mkdtemp(join(tmpdir(), 'weir-kill-'));
  const definitions = join(folder, 'definitions');
  const dataDir = join(folder, 'data');
  await Promise.all([mkdir(definitions), mkdir(dataDir)]);
  await writeFile(join(definitions, 'everything.sql'), DEFINITION);
  const program = programWords('test/crash/killed-service.ts');
  const ledger = new Ledger();
  const traces = new Traces();
  const sinceMs = Date.now();
  const nowUs = (): number => fastNowUs(sinceMs);
  const environment = {
    ...{ ENDPOINTS_DIR: definitions, WORKERS: '1', RETENTION_DAYS: String(RETENTION_DAYS) },
    FAST_CLOCK_SINCE_MS: String(sinceMs),
  };
  const progress = progressOf('kill -9', KILLS);
  let evictedBlocks = 0;
  let passingLives = 0;
  const summary = () => {
    const { acknowledgedCount: acknowledged } = ledger;
    return { acknowledged, ...traces.summary(), evictedBlocks, passingLives };
  };
  // Fewer kills do not fill a day.
  const hasSeenAll = () => KILLS < 50 || Object.values(summary()).every((count) => count > 0);
  try {
    for (let kill = 0; kill <= KILLS || (!hasSeenAll() && kill <= KILLS_MAX); kill++) {
      const service = await ServiceProcess.start(program, environment, dataDir);
      const span = kill <= KILLS ? SHORT_LIFE : LONG_LIFE;
      const client = new HttpClient(service.url, service.token, span.senders + 1);
      try {
        await look(client, ledger, nowUs);
        const health = await client.get('/health');
        assert.deepEqual(JSON.parse(health.body.toString()).damage, undefined);
        const senders = Array.from({ length: span.senders }, (_, sender) =>
          send(client, ledger, { random, nowUs, sender: `${kill}-${sender}` }),
        );
        const watching = watch(client, ledger, nowUs);
        // Who finds something wrong ends the waiting.
        const acknowledged = ledger.acknowledging(span.postsMax * random.next());
        await Promise.race([acknowledged, wait(span.msMax), ...senders, watching]);
        await wait(random.below(LOOK_MS));
        await service.kill();
        await Promise.all(senders);
        const { blocks, passingBytes } = await watching;
        evictedBlocks += blocks;
        passingLives += passingBytes > 0 ? 1 : 0;
        await traces.look(await findStorePath(dataDir));
        progress(kill);
      } finally {
        client.close();
        await service.kill();
      }
    }
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true });
  }
  context.diagnostic(`seed ${seed}, ${KILLS} kills or more: ${JSON.stringify(summary())}`);
  assert(hasSeenAll(), JSON.stringify(summary()));
});
