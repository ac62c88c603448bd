import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchRecords, MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { findStorePath } from '../../ingest/data-folder.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { SEAL_AGE_US } from '../../ingest/limits.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { batchOf, HugeNumber, type TestEvent } from '../column/batch-of.ts';
import { openStore } from '../crash/opened-store.ts';

export const NOW_US = 20_000 * PARTITION_US + 14 * 3_600_000_000;
const SOURCES = ['cloudflare.logs.prod', 'postgres.logs', 'app'] as const;

/** An event as it must be in the table: source, id, project, whether it is mixed, message, and its JSON as it was posted. */
export type MovedEvent = readonly [string, string, string, boolean, string | null, string];

/** A data folder of the embedded store on the disk, and what it holds. */
export class GrownFolder {
  readonly path: string;
  readonly #random: Random;
  readonly #events: MovedEvent[] = [];
  #postCount = 0;

  private constructor(path: string, random: Random) {
    this.path = path;
    this.#random = random;
  }

  static async make(random: Random): Promise<GrownFolder> {
    const path = await mkdtemp(join(tmpdir(), 'weir-grown-'));
    await mkdir(join(path, 'store-1'));
    return new GrownFolder(path, random);
  }

  /** Another folder with the same contents. */
  async copy(): Promise<GrownFolder> {
    const copy = await GrownFolder.make(this.#random);
    await cp(this.path, copy.path, { recursive: true });
    copy.#events.push(...this.#events);
    copy.#postCount = this.#postCount;
    return copy;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true });
  }

  /** The store folder: whoever takes the data folder gives it another name. */
  storePath(): Promise<string> {
    return findStorePath(this.path);
  }

  /** Runs a service that takes in so many posts, seals most of them, merges, and stops. */
  async live(postCount: number): Promise<void> {
    const disk = new NodeDisk();
    const dataDir = await this.storePath();
    const { durable } = await openStore({
      ...{ disk, nowUs: NOW_US, dataDir, sources: SOURCES, segmentBytesMax: 2 ** 30 },
    });
    for (let post = 0; post < postCount; post++) {
      // The last posts stay in the log.
      if (post % 10 === 5) {
        durable.tick(NOW_US);
        durable.tick(NOW_US + SEAL_AGE_US);
        await durable.store.flush();
        await durable.store.settled();
      }
      const source = this.#random.pick(SOURCES);
      const events = Array.from({ length: 1 + this.#random.below(6) }, () => this.#event());
      const batch = batchOf(events);
      await durable.store.append(source, batch, NOW_US);
      const records = new BatchRecords(batch);
      const out = new JsonBuffer();
      for (const [row, event] of events.entries()) {
        records.write(row, out);
        this.#events.push(movedEvent(source, event, Buffer.from(out.take()).toString()));
      }
    }
    await durable.close();
  }

  /** The events, in the order of arrival in each source. */
  expected(): MovedEvent[] {
    return SOURCES.toSorted().flatMap((source) => this.#events.filter(([its]) => its === source));
  }

  /** Inverts a byte in the middle of a file of the store folder. */
  async damage(name: string, part = 1 / 2): Promise<void> {
    const path = join(await this.storePath(), name);
    const bytes = await readFile(path);
    bytes[Math.floor(bytes.length * part)]! ^= 0xff;
    await writeFile(path, bytes);
  }

  #event(): TestEvent {
    const random = this.#random;
    const number = this.#postCount++;
    const key = random.pick(['p', 'q', 'r', 'é\ud800', null, MIXED_PROJECTS] as const);
    return {
      id: `e${number}`,
      timestampUs: NOW_US - random.below(3) * PARTITION_US - random.below(1_000) * 1_000,
      event_message: random.pick([
        'GET | 200',
        '',
        null,
        'tab\t\\N "é" 😀',
        `half \ud83d of ${number}`,
      ]),
      project: typeof key === 'string' ? key : null,
      projectKey: key,
      metadata: {
        number,
        text: random.pick(['x', 'line\nand \\ud800', 'half \udc00', random.hex(50)]),
        size: random.pick([1, 2n ** 64n, -(2n ** 70n), 1e20, 1e300, new HugeNumber('1e999'), null]),
        list: random.pick([[], [1, 'a', { b: 2n ** 65n }], null]),
      },
    };
  }
}

function movedEvent(source: string, event: TestEvent, body: string): MovedEvent {
  const { id = '', projectKey, event_message: message = null } = event;
  const isMixed = projectKey === MIXED_PROJECTS;
  const project = typeof projectKey === 'string' ? projectKey : '';
  return [source, id, project, isMixed, message, body];
}
