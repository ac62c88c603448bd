import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ServiceProcess } from '../../bench/service-process.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf } from '../support/budget.ts';
import { type HttpAnswer, HttpClient } from '../support/http-client.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { programWords } from '../support/program-words.ts';
import { CellSender, type Post, type SentRound, SOURCE } from './cell-sender.ts';
import { type FileFault, writeFault } from './fault-file.ts';
import { progressOf } from './progress.ts';
import {
  allCells,
  type Cell,
  ENCODINGS,
  FAULTS,
  type Fault,
  MATRIX_RECEIVERS,
  pairCells,
  shuffle,
} from './receiver-cells.ts';

const SEED = fuzzSeed();
const RANDOM = new Random(SEED);
const PAIRS = pairCells(RANDOM);

/** The pairs first, then all others. */
const CELLS = [
  ...PAIRS,
  ...shuffle(
    allCells().filter((cell) => !PAIRS.some((pair) => keyOf(pair) === keyOf(cell))),
    RANDOM,
  ),
].slice(0, budgetOf('WEIR_RECEIVER_CELLS', { fast: PAIRS.length, all: allCells().length }));

/** The pairs are chosen so that they take less time than this on two busy cores; it is printed, not enforced. */
const PAIRS_SECONDS_AIM = 90;

/** Senders at the same time. */
const CELLS_AT_ONCE = 33;

/** A round in which some sender is not answered is over then. */
const ROUND_MS_MAX = 120_000;

const LOOK_MS = 20;

/** A service is killed so long after all senders are at work, at most. */
const KILL_MS_MAX = 50;

/** Of an answer; a round has a few hundred events. */
const ROWS_MAX = 100_000;

const DEFINITION = `-- id: 4b8a4e0c-6f0e-4f6a-8f7d-0c2b6a0b9d11
-- name: posted.events
-- description: All events of all receivers
-- max_rows: ${ROWS_MAX}

SELECT t.event_message, t.metadata FROM \`${SOURCE}\` AS t
`;

function keyOf({ receiver, encoding, fault }: Cell): string {
  return [receiver.path, receiver.type, encoding, fault].join(' ');
}

/** The posts of all senders, by their texts. */
class Ledger {
  readonly posts: Post[] = [];

  begin(cell: Cell): Post {
    const text = `p${this.posts.length}z`;
    const post: Post = { cell, text, end: undefined, uncertainCount: 0 };
    this.posts.push(post);
    return post;
  }

  /** Holds stored events against the posts, each of which has been answered for good. */
  check(rows: readonly unknown[]): void {
    const stored = new Map<string, Map<string, number>>();
    for (const row of rows) {
      const event = JSON.stringify(row);
      const texts = new Set(event.match(/p\d+z/g));
      assert.equal(texts.size, 1, event);
      const [text] = texts;
      const events = stored.get(text!) ?? new Map<string, number>();
      events.set(event, (events.get(event) ?? 0) + 1);
      stored.set(text!, events);
    }
    for (const post of this.posts) checkPost(post, stored.get(post.text) ?? new Map());
  }
}

/** `events` counts each event that is stored of the post. */
function checkPost(post: Post, events: ReadonlyMap<string, number>): void {
  const { cell, text, end, uncertainCount } = post;
  const said = `${keyOf(cell)}, ${text}, ${uncertainCount} uncertain, ${end}`;
  assert(end !== undefined, said);
  assert.equal(events.size, end === 'refused' ? 0 : cell.receiver.eventCount, said);
  for (const [event, count] of events) {
    assert(count <= 1 + uncertainCount, `${said}: ${count} times ${event}`);
  }
}

/** A service in a process of its own that ends and starts again on one folder and one port. */
class FaultyService {
  readonly #folder: string;
  readonly #port: number;
  #process: ServiceProcess | undefined;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  async start(): Promise<void> {
    const environment = {
      ...{ PORT: String(this.#port), WORKERS: '1', FROZEN_NOW: '2026-01-15T12:00:00Z' },
      ...{ ENDPOINTS_DIR: join(this.#folder, 'definitions'), FAULT_PATH: this.#faultPath },
    };
    const words = programWords('test/crash/faulty-service.ts');
    this.#process = await ServiceProcess.start(words, environment, join(this.#folder, 'data'));
  }

  get url(): string {
    return this.#running.url;
  }

  get token(): string {
    return this.#running.token;
  }

  kill(): Promise<void> {
    return this.#running.kill();
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }

  suffer(fault: FileFault): void {
    writeFault(this.#faultPath, fault);
  }

  async rows(): Promise<readonly unknown[]> {
    const client = new HttpClient(this.url);
    try {
      const path = '/api/endpoints/posted.events';
      const headers = { 'X-API-KEY': this.token };
      let answer: HttpAnswer;
      // On a busy machine a thread may take longer to start than a query may take.
      do answer = await client.ask({ method: 'GET', path, headers });
      while (answer.status === 504);
      const { status, text } = answer;
      assert.equal(status, 200, text);
      const { result } = JSON.parse(text) as { readonly result: readonly unknown[] };
      assert(result.length < ROWS_MAX, 'the answer is not cut');
      return result;
    } finally {
      client.close();
    }
  }

  get #faultPath(): string {
    return join(this.#folder, 'fault');
  }

  get #running(): ServiceProcess {
    assert(this.#process !== undefined, 'the service was started');
    return this.#process;
  }
}

type Round = {
  readonly service: FaultyService;
  readonly sent: SentRound;
  readonly senders: readonly CellSender[];
  /** Resolves when this holds of each sender. */
  readonly until: (what: string, holds: (sender: CellSender) => boolean) => Promise<void>;
};

/** The faults; each is over when they resolve. */
const HAPPEN: Readonly<Record<Fault, (round: Round) => Promise<void>>> = {
  kill: async ({ service }) => {
    await wait(RANDOM.below(KILL_MS_MAX));
    await service.kill();
    await service.start();
  },
  stop: async ({ service }) => {
    await wait(RANDOM.below(KILL_MS_MAX));
    await service.stop();
    await service.start();
  },
  '429': (round) => refuse(round, 'full backlog'),
  '503': (round) => refuse(round, 'full disk'),
  'slow disk': async ({ service, sent, until }) => {
    service.suffer('slow disk');
    sent.slowSinceMs = performance.now();
    await until('acknowledged slowly', ({ slowCount, isTaken }) => slowCount > 0 || !isTaken);
    sent.slowSinceMs = Number.POSITIVE_INFINITY;
    service.suffer('none');
  },
};

async function refuse({ service, until }: Round, fault: FileFault): Promise<void> {
  service.suffer(fault);
  await until('refused', ({ laterCount, isTaken }) => laterCount > 0 || !isTaken);
  service.suffer('none');
}

/** Senders post at the same time, one for each cell, while one fault happens. */
async function play(service: FaultyService, ledger: Ledger, cells: readonly Cell[]): Promise<void> {
  const { fault } = cells[0]!;
  const client = new HttpClient(service.url);
  const sent: SentRound = {
    ...{ begin: (cell) => ledger.begin(cell), client, token: service.token },
    slowSinceMs: Number.POSITIVE_INFINITY,
  };
  const senders = cells.map((cell) => new CellSender(cell, sent));
  const running = Promise.all(senders.map((sender) => sender.run()));
  const endMs = performance.now() + ROUND_MS_MAX;
  const until: Round['until'] = async (what, holds) => {
    for (;;) {
      const waiting = senders.filter((sender) => !holds(sender));
      if (waiting.length === 0) return;
      const cell = keyOf(waiting[0]!.cell);
      assert(performance.now() < endMs, `${waiting.length} are not ${what}: ${cell}`);
      // A sender that finds something wrong ends the waiting.
      await Promise.race([wait(LOOK_MS), running]);
    }
  };
  try {
    await until('answered before', ({ endedCount }) => endedCount > 0);
    await HAPPEN[fault]({ service, sent, senders, until });
    const before = new Map(senders.map((sender) => [sender, sender.endedCount]));
    // The second of them was sent when the fault was over.
    await until('answered after', (sender) => sender.endedCount >= before.get(sender)! + 2);
    for (const sender of senders) sender.end();
    await running;
  } finally {
    for (const sender of senders) sender.end();
    client.close();
  }
}

/** Cells of one fault each, as many as post at the same time, in a random order. */
function roundsOf(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  const rounds = FAULTS.flatMap((fault) => {
    const own = cells.filter((cell) => cell.fault === fault);
    const starts = own.flatMap((_, index) => (index % CELLS_AT_ONCE === 0 ? [index] : []));
    return starts.map((start) => own.slice(start, start + CELLS_AT_ONCE));
  });
  return shuffle(rounds, RANDOM);
}

test('the fast cells hold each pair of a receiver, an encoding and a fault', () => {
  const pairs = new Set<string>();
  for (const { receiver, encoding, fault } of PAIRS) {
    const name = `${receiver.path} ${receiver.type}`;
    for (const pair of [`${name}, ${encoding}`, `${name}, ${fault}`, `${encoding}, ${fault}`]) {
      pairs.add(pair);
    }
  }
  const [receivers, encodings] = [MATRIX_RECEIVERS.length, Object.keys(ENCODINGS).length];
  const wanted = receivers * encodings + (receivers + encodings) * FAULTS.length;
  assert.equal(pairs.size, wanted);
});

test(`each event that a receiver acknowledges is stored once: ${CELLS.length} of ${allCells().length} cells`, async (context) => {
  const startMs = performance.now();
  const folder = await mkdtemp(join(tmpdir(), 'weir-receivers-'));
  await Promise.all(['definitions', 'data'].map((name) => mkdir(join(folder, name))));
  await writeFile(join(folder, 'definitions', 'posted.sql'), DEFINITION);
  const service = new FaultyService(folder, await lastingPort());
  const ledger = new Ledger();
  const rounds = roundsOf(CELLS);
  const progress = progressOf('receivers', rounds.length);
  service.suffer('none');
  await service.start();
  try {
    for (const [index, cells] of rounds.entries()) {
      await play(service, ledger, cells);
      ledger.check(await service.rows());
      progress(index + 1);
    }
    await service.kill();
    await service.start();
    ledger.check(await service.rows());
  } catch (error) {
    throw new Error(`seed ${SEED}: ${String(error)}`, { cause: error });
  } finally {
    await service.kill();
    await rm(folder, { recursive: true });
  }
  const { posts } = ledger;
  const repeated = posts.filter(({ uncertainCount }) => uncertainCount > 0).length;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  context.diagnostic(
    `seed ${SEED}: ${CELLS.length} cells, ${posts.length} posts, ${repeated} repeated; ${seconds} s (aim for ${PAIRS.length} cells: ${PAIRS_SECONDS_AIM} s)`,
  );
});
