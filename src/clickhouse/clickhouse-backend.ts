import type { Disk } from '../../ingest/disk/disk.ts';
import { NodeDisk } from '../../ingest/disk/node-disk.ts';
import { SourceDirectory } from '../../ingest/source.ts';
import type { Clock } from '../clock.ts';
import { QUERY_MS_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import { StackThrottle } from '../log-throttle.ts';
import { divideMemory } from '../memory-shares.ts';
import { getProfile } from '../profile.ts';
import type { Settings } from '../settings.ts';
import type { Backend, BackendStats } from '../store/backend.ts';
import { IngestCounts } from '../store/ingest-counts.ts';
import { StoreIntake } from '../store/store-intake.ts';
import { ArrivalsTrim } from './arrivals-trim.ts';
import { ClickHouseEngine } from './clickhouse-engine.ts';
import { type ClickHouseConnection, connectionOf, openClient } from './client.ts';
import { ClickHouseTable } from './event-table.ts';
import { FieldColumns } from './fields/field-columns.ts';
import { FollowedArrivals } from './followed-arrivals.ts';
import { EVENTS_TABLE } from './schema.ts';
import { ShippedStore, type ShippedStoreOptions } from './shipped-store.ts';
import { READING_SETTINGS } from './statement-run.ts';
import { STATEMENTS_MAX, StatementRunner } from './statement-runner.ts';
import { CHANGE_SETTINGS } from './table-layout.ts';

const DAY_US = 86_400_000_000;

/** Longer than ClickHouse itself lets a statement run, which sends nothing before its end. */
const SILENT_MS_MAX = QUERY_MS_MAX + 5_000;

/** Milliseconds without a byte from ClickHouse after which a change of the table counts as failed. */
const CHANGE_MS_MAX = 60_000;

/** Opens a store that keeps events in ClickHouse: posts go to the log and are sent from there, queries go to ClickHouse. */
export function openClickHouseBackend(options: {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowUs' | 'monotonicMs'>;
  /** The machine's disk by default. */
  readonly disk?: Disk | undefined;
  /** Bytes from which a new log file is begun; for tests. */
  readonly logFileBytesMax?: number;
  /** For tests. */
  readonly shipLimits?: ShippedStoreOptions['limits'];
}): Backend {
  const { settings, log, clock, disk = new NodeDisk(), logFileBytesMax, shipLimits } = options;
  const directory = new SourceDirectory(settings.sources);
  const division = divideMemory(settings);
  const connection = connectionOf(settings);
  const table = new ClickHouseTable({
    ...connection,
    table: EVENTS_TABLE,
    made: { cluster: settings.clickhouseCluster, retentionDays: settings.retentionDays },
  });
  const stacks = new StackThrottle(clock.monotonicMs);
  const store = new ShippedStore({
    ...{ disk, dataDir: settings.dataDir, table, log, clock, logFileBytesMax, limits: shipLimits },
    sources: directory.sources.map(({ name }) => name),
    stacks,
  });
  const runner = new StatementRunner({
    client: openClient(connection, {
      silentMsMax: SILENT_MS_MAX,
      requestsMax: STATEMENTS_MAX,
      settings: READING_SETTINGS,
    }),
    makeTable: () => table.make(),
    completeUntilUs: () => store.completeUntilUs(),
    answersBytesMax: division.shares.queries,
    nowMs: clock.monotonicMs,
  });
  const { sources } = directory;
  const upkeep = { connection, table, settings, sources, log, stacks };
  const { columns, trim } = openUpkeep(upkeep);
  const engine = new ClickHouseEngine({ sources, runner, columns, nowMs: clock.monotonicMs });
  const counts = new IngestCounts();
  const intake = new StoreIntake({
    ...{ directory, store, counts, division, log },
    retentionUs: settings.retentionDays * DAY_US,
    durableMs: () => store.logStats()?.groupMs ?? 0,
    manners: getProfile(settings.profile).admission,
  });
  return {
    engine,
    intake,
    published: new FollowedArrivals({ journal: table.journal, sources }),
    sources: {
      holdsEventsOf: (name) => engine.holdsEventsOf(name),
      add: (source) => directory.add(source),
    },
    recover: (nowUs, observer) => store.recover(nowUs, observer),
    followDefinitions: (catalogue) => columns.follow(catalogue),
    tick: () => {
      store.tick();
      columns.tick();
      trim.tick();
    },
    stats: () => readStats({ store, engine, runner, intake, counts, settings }),
    close: async () => {
      await intake.close();
      await trim.close();
      await store.close();
      await columns.close();
      await runner.close();
    },
  };
}

/** What changes the tables while the service runs. */
function openUpkeep(of: {
  readonly connection: ClickHouseConnection;
  readonly table: ClickHouseTable;
  readonly settings: Settings;
  readonly sources: SourceDirectory['sources'];
  readonly log: Log;
  readonly stacks: StackThrottle;
}): { readonly columns: FieldColumns; readonly trim: ArrivalsTrim } {
  const { connection, table, settings, sources, log, stacks } = of;
  const report = (event: string) => (error: unknown) => {
    log({ level: 'error', event, error: stacks.describe(error) });
  };
  const columns = new FieldColumns({
    client: openClient(connection, {
      silentMsMax: CHANGE_MS_MAX,
      requestsMax: 1,
      settings: CHANGE_SETTINGS,
    }),
    makeTable: () => table.make(),
    sources,
    onFailure: report('columns_failed'),
  });
  const trim = new ArrivalsTrim({
    journal: table.journal,
    retentionDays: settings.retentionDays,
    onFailure: report('trim_failed'),
  });
  return { columns, trim };
}

function readStats(of: {
  readonly store: ShippedStore;
  readonly engine: ClickHouseEngine;
  readonly runner: StatementRunner;
  readonly intake: StoreIntake;
  readonly counts: IngestCounts;
  readonly settings: Settings;
}): BackendStats {
  const { store, engine, runner, intake, counts, settings } = of;
  const shipping = store.shippingStats();
  return {
    engine: engine.stats(),
    sources: store.stats(),
    ingest: counts.bySource(),
    pooledBytes: intake.pooledBytes,
    memory: {
      memoryBytesMax: settings.memoryBytesMax,
      segmentBytesMax: 0,
      segmentBytes: 0,
      held: { blocks: 0, unstored: 0, open: 0, queued: store.queuedBytes, index: 0 },
      residentCount: 0,
      evictedBlocks: 0,
      evictedBytes: 0,
      passingBytes: 0,
      isExceeded: false,
    },
    log: store.logStats(),
    shipping: shipping && { ...shipping, isFailing: shipping.isFailing || runner.isAway },
  };
}
