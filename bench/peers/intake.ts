/**
 * How many events a second are taken in durably: by weir over HTTP, and by other engines in this process that
 * get the same NDJSON in the same batches, with a sync for each acknowledgement?
 *
 *   npm run bench:intake
 *   node --import tsx bench/peers/intake.ts --size small --only weir --uncompiled   as the tests run it
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showProgress } from '../../src/command/progress.ts';
import { environmentLine } from '../measure.ts';
import { readSizeOptions } from '../size-options.ts';
import { Tenants } from '../workload/tenants.ts';
import { type Kind, ndjson } from '../workload/workload.ts';
import { type Door, openPeerDoor, openWeirDoor } from './intake-door.ts';
import { PEERS } from './peer-list.ts';

/** What is posted, and what it is to reach. */
type Post = {
  readonly name: string;
  readonly kind: Kind;
  readonly perText: number;
  readonly senderCount: number;
  readonly eventsPerSecondMin: number;
};

const POSTS: readonly Post[] = [
  {
    ...{ name: 'lean, by 500', kind: 'lean', perText: 500, senderCount: 4 },
    eventsPerSecondMin: 120_000,
  },
  {
    ...{ name: 'full, by 500', kind: 'full', perText: 500, senderCount: 4 },
    eventsPerSecondMin: 30_000,
  },
  {
    ...{ name: 'lean, one by one', kind: 'lean', perText: 1, senderCount: 32 },
    eventsPerSecondMin: 3_000,
  },
];

/** Bytes of texts that are made before the clock runs: making them is not what is timed. */
const AHEAD_BYTES = 32_000_000;
const AHEAD_POSTS = 4_000;

/** How long each takes, and what is sent before it counts. */
const SIZES = new Map([
  ['small', { warmMs: 0, sendingMs: 200, projectCount: 20 }],
  ['large', { warmMs: 2_000, sendingMs: 8_000, projectCount: 2_000 }],
]);

async function main(): Promise<void> {
  const { size, isUncompiled, own } = readSizeOptions(SIZES, ['only']);
  const names = own['only']?.split(',') ?? ['weir', ...enginesOf(PEERS.keys())];
  console.log(
    `${environmentLine()}\n\n| events/s | ${POSTS.map(({ name }) => name).join(' | ')} |`,
  );
  console.log(`| --- |${POSTS.map(() => ' --- |').join('')}`);
  for (const name of names) {
    const cells: string[] = [];
    for (const post of POSTS) {
      showProgress(`${name}: ${post.name}`);
      cells.push(await cellOf(name, post, { ...size, isUncompiled: isUncompiled }));
    }
    showProgress('');
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  console.log(`| aim | ${POSTS.map((post) => `≥ ${post.eventsPerSecondMin}`).join(' | ')} |`);
}

/** Each engine once, in whatever ways it is asked: names that are alike up to a hyphen are of one. */
function enginesOf(names: Iterable<string>): ReadonlySet<string> {
  return new Set(Array.from(names, (name) => name.split('-')[0]!));
}

type Sending = {
  readonly warmMs: number;
  readonly sendingMs: number;
  readonly projectCount: number;
  readonly isUncompiled: boolean;
};

async function cellOf(name: string, post: Post, sending: Sending): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-intake-'));
  try {
    const door =
      name === 'weir'
        ? await openWeirDoor(folder, post, sending)
        : await openPeerDoor(name, folder, post.kind);
    if (door === undefined) return '–';
    try {
      const { eventCount, ms } = await sendAll(door, post, sending);
      return `${Math.round(eventCount / (ms / 1000))}`;
    } finally {
      await door.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error when not every event that was acknowledged is there. */
async function sendAll(
  door: Door,
  post: Post,
  { warmMs, sendingMs, projectCount }: Sending,
): Promise<{ readonly eventCount: number; readonly ms: number }> {
  const tenants = new Tenants(projectCount);
  // More than can be sent: it only sets the pace of their times.
  const texts = ndjson(post.kind, { tenants, eventCount: 10_000_000, perText: post.perText });
  const sendFor = async (ms: number): Promise<{ readonly count: number; readonly ms: number }> => {
    let [count, passedMs] = [0, 0];
    while (passedMs < ms) {
      const round = await sendSome(postsOf(door, texts), post.senderCount, ms - passedMs);
      count += round.count * post.perText;
      passedMs += round.ms;
    }
    return { count, ms: passedMs };
  };
  const warm = warmMs > 0 ? await sendFor(warmMs) : { count: 0, ms: 0 };
  const counted = await sendFor(sendingMs);
  const held = await door.count();
  const sent = warm.count + counted.count;
  if (held !== sent) throw new Error(`${held} of ${sent} events are there`);
  return { eventCount: counted.count, ms: counted.ms };
}

function postsOf(door: Door, texts: ReturnType<typeof ndjson>): readonly (() => Promise<void>)[] {
  const posts: (() => Promise<void>)[] = [];
  for (let bytes = 0; bytes < AHEAD_BYTES && posts.length < AHEAD_POSTS; ) {
    const { text } = texts.next().value!;
    bytes += text.length;
    posts.push(door.prepare(text));
  }
  return posts;
}

/** Sends until all are sent or the time is over: how many were acknowledged, and in which time. */
async function sendSome(
  posts: readonly (() => Promise<void>)[],
  senderCount: number,
  msMax: number,
): Promise<{ readonly count: number; readonly ms: number }> {
  const startMs = performance.now();
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < posts.length && performance.now() - startMs < msMax) await posts[next++]!();
  };
  await Promise.all(Array.from({ length: senderCount }, send));
  return { count: next, ms: performance.now() - startMs };
}

await main();
