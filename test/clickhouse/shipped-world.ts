import assert from 'node:assert/strict';
import { must } from '../../engine/assert.ts';
import { recoverLog } from '../../ingest/log/log-recovery.ts';
import { WriteAheadLog } from '../../ingest/log/write-ahead-log.ts';
import { PARTITION_US } from '../../ingest/partition.ts';
import { Quarantine } from '../../ingest/quarantine.ts';
import {
  type ClickHouseOptions,
  ClickHouseTable,
  type EventTable,
} from '../../src/clickhouse/event-table.ts';
import { ShipCheckpoint } from '../../src/clickhouse/ship-checkpoint.ts';
import { Shipper } from '../../src/clickhouse/shipper.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { batchOf } from '../column/batch-of.ts';
import { Crash, MemoryDisk } from '../ingest/memory-disk.ts';
import { idsOf } from '../support/small-batch.ts';
import type { ChdbUnderTest } from './chdb.ts';
import { DATABASE } from './events-database.ts';

const DATA = '/data';
const LOG = '/data/log';
const LOG_FILE_BYTES_MAX = 4_000;
const FOREVER = Number.NEGATIVE_INFINITY;
const SOURCES = ['edge', 'postgres'];
const FIRST_DAY_US = 20_000 * PARTITION_US;
/** One process of a gateway. */
type Life = {
  readonly log: WriteAheadLog;
  readonly gateway: string;
  readonly shipper: Shipper;
};

/** Whether a process is alive. What it does after its death is no step of the next one. */
class Pulse {
  isDead = false;
  #die = (): void => {};
  readonly died = new Promise<void>((resolve) => {
    this.#die = resolve;
  });

  die(): void {
    this.isDead = true;
    this.#die();
  }
}

/**
 * A gateway on the model of a disk: its log, its shipper, and what must be in the table in the end. A crash leaves of the
 * disk what the dice say; requests that are on their way may still arrive.
 */
export class ShippedWorld {
  readonly #random: Random;
  readonly #name: string;
  readonly #connection: ClickHouseOptions;
  readonly #tables: EventTable[] = [];
  #disk = new MemoryDisk();
  #pulse = new Pulse();
  #life: Life | undefined;
  #postCount = 0;
  /** The ids of each record that is durable, by gateway and sequence. */
  readonly #kept = new Map<string, readonly string[]>();
  /** Called before each step of the shipper: at the disk, and around inserts. It may throw a Crash. */
  beforeStep: (step: string) => void = () => {};
  failureCount = 0;

  constructor(options: {
    readonly name: string;
    readonly random: Random;
    readonly connection: ClickHouseOptions;
  }) {
    this.#name = options.name;
    this.#random = options.random;
    this.#connection = options.connection;
  }

  /** Starts a process on the disk as the last one left it. It may die meanwhile. */
  async start(): Promise<void> {
    const pulse = new Pulse();
    this.#pulse = pulse;
    const disk = this.#disk;
    const replayed = new Map<number, readonly string[]>();
    const recovered = await recoverLog({
      ...{ disk, folder: LOG, quarantine: new Quarantine(disk, `${DATA}/quarantine`) },
      apply: async ({ sequence, batch }) => void replayed.set(sequence, idsOf(batch())),
      onDamage: () => {},
      onProgress: () => {},
    });
    assert.equal(recovered.recordsLost, 0);
    const log = await WriteAheadLog.open({
      ...{ ...recovered, disk, folder: LOG, fileBytesMax: LOG_FILE_BYTES_MAX, onEvent: () => {} },
    });
    disk.before = (step) => this.#step(pulse, step);
    try {
      const checkpoint = await ShipCheckpoint.open({
        ...{ disk, folder: DATA, firstSequence: 1, nextSequence: log.nextSequence },
      });
      const { gateway } = checkpoint;
      for (const [sequence, ids] of replayed) this.#kept.set(keyOf(gateway, sequence), ids);
      const shipper = new Shipper({
        ...{ disk, folder: LOG, log, checkpoint, table: this.#openTable(pulse) },
        onFailure: () => {
          this.failureCount++;
        },
        limits: { batchRows: 20, batchWaitMs: 1, retryTickMs: 1 },
      });
      this.#life = { log, gateway, shipper };
      this.notify();
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  }

  get isDead(): boolean {
    return this.#pulse.isDead;
  }

  /** Posts some events, of one day or several. Resolves when they are durable, or the process has died. */
  async post(): Promise<void> {
    if (this.isDead) return;
    const { log, gateway } = this.#alive();
    const pulse = this.#pulse;
    const number = this.#postCount++;
    const dayCount = this.#random.pick([1, 1, 2, 4]);
    const count = 1 + this.#random.below(8);
    const ids = Array.from({ length: count }, (_, row) => `${this.#name}-${number}-${row}`);
    const batch = batchOf(
      ids.map((id) => ({
        id,
        timestampUs: FIRST_DAY_US + this.#random.below(dayCount * PARTITION_US),
        event_message: `message\tof ${id}`,
        project: `p${this.#random.below(3)}`,
        metadata: { text: this.#random.hex(this.#random.below(100)) },
      })),
    );
    const source = this.#random.pick(SOURCES);
    const appended = log.append({ source, receivedUs: number, arrivalBase: 0, batch }).then(
      (sequence) => {
        this.#kept.set(keyOf(gateway, sequence), ids);
        if (!pulse.isDead) this.notify();
      },
      (error: unknown) => {
        if (!pulse.isDead) throw error;
      },
    );
    await Promise.race([appended, pulse.died]);
  }

  notify(): void {
    const { shipper } = this.#alive();
    shipper.notify();
    // A crash is the end of a life, and nothing else may reject.
    shipper.settled().catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
  }

  /** Deletes files of the log whose records were sent. */
  trim(): void {
    if (this.isDead) return;
    const { log, shipper } = this.#alive();
    log.tick(FOREVER, shipper.shippedBefore);
  }

  /** Ends the life as `kill -9` does. Requests that are on their way go on. */
  crash(): void {
    if (this.isDead) return;
    this.#pulse.die();
    this.#disk.before = () => {
      throw new Crash();
    };
    this.#disk = this.#disk.afterCrash(() => this.#random.below(2) === 0);
    this.#life = undefined;
  }

  /** Ends the life in order. */
  async close(): Promise<void> {
    const { log, shipper } = this.#alive();
    await shipper.close();
    await log.close(shipper.shippedBefore);
    this.#life = undefined;
    for (const table of this.#tables) await table.close();
  }

  /** Resolves when all has been sent, or the process has died. */
  async settled(): Promise<void> {
    if (this.isDead) return;
    const pulse = this.#pulse;
    const sent = this.#alive().shipper.settled();
    await Promise.race([sent.catch(() => {}), pulse.died]);
  }

  /** The ids that the table must have, by gateway, in the order of arrival. */
  expected(): Map<string, string[]> {
    const byGateway = new Map<string, string[]>();
    for (const key of [...this.#kept.keys()].sort()) {
      const [gateway = ''] = key.split(' ');
      const ids = byGateway.get(gateway) ?? [];
      ids.push(...must(this.#kept.get(key)));
      byGateway.set(gateway, ids);
    }
    return byGateway;
  }

  #alive(): Life {
    return must(this.#life, 'the gateway has been started');
  }

  #step(pulse: Pulse, step: string): void {
    if (pulse.isDead) throw new Crash();
    try {
      this.beforeStep(step);
    } catch (error) {
      if (error instanceof Crash) this.crash();
      throw error;
    }
  }

  /** A table around whose inserts the process may die: before, while it happens, and before the answer is seen. */
  #openTable(pulse: Pulse): EventTable {
    const table = new ClickHouseTable(this.#connection);
    this.#tables.push(table);
    return {
      insert: (rows, token, signal) =>
        untilDeath(async () => {
          this.#step(pulse, 'insert is sent');
          const inserted = table.insert(rows, token, signal);
          inserted.catch(() => {});
          this.#step(pulse, 'insert is under way');
          await inserted;
          this.#step(pulse, 'insert is acknowledged');
        }),
      count: (rows, signal) => table.count(rows, signal),
      appendArrivals: (gateway, stretches, signal) =>
        untilDeath(async () => {
          this.#step(pulse, 'numbers are sent');
          const appended = table.appendArrivals(gateway, stretches, signal);
          appended.catch(() => {});
          this.#step(pulse, 'numbers are under way');
          await appended;
          this.#step(pulse, 'numbers are acknowledged');
        }),
      close: () => table.close(),
    };
  }
}

/** Runs a step of a process. A dead one never comes to its end, and so does not try again. */
async function untilDeath(step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    await new Promise<never>(() => {});
  }
}

function keyOf(gateway: string, sequence: number): string {
  return `${gateway} ${String(sequence).padStart(10, '0')}`;
}

/** Fails unless the table has each event of the worlds once, in the order of arrival, with a number of its own. */
export function expectShipped(chdb: ChdbUnderTest, worlds: readonly ShippedWorld[]): void {
  const wanted = new Map(worlds.flatMap((world) => [...world.expected()]));
  const arrived = chdb.rows<[number, number]>(
    `SELECT number_start, number_end FROM ${DATABASE}.arrivals ORDER BY number_end`,
  );
  for (const [index, [start]] of arrived.entries()) {
    assert.equal(start, arrived[index - 1]?.[1] ?? 0, 'numbers are given without gaps, once');
  }
  for (const rows of [`${DATABASE}.events ORDER BY gateway, sequence, event`, NUMBERED]) {
    const found = new Map(
      chdb.rows<[string, string[]]>(
        `SELECT gateway, groupArray(id) FROM (SELECT gateway, id FROM ${rows}) GROUP BY gateway`,
      ),
    );
    for (const gateway of new Set([...found.keys(), ...wanted.keys()])) {
      assert.deepEqual(found.get(gateway), wanted.get(gateway));
    }
  }
}

const NUMBERED = `${DATABASE}.events AS e INNER JOIN ${DATABASE}.arrivals AS a ON e.gateway = a.gateway
  AND sequence >= sequence_start AND sequence < sequence_end
  ORDER BY number_start + (sequence - sequence_start) * stride + event`;
