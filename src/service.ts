import { join, resolve } from 'node:path';
import { must } from '../engine/columns.ts';
import { DataFolder } from '../ingest/data-folder.ts';
import { NodeDisk } from '../ingest/disk/node-disk.ts';
import { SteadyDisk } from '../ingest/disk/steady-disk.ts';
import { LockedError } from '../ingest/lock-file.ts';
import type { Source } from '../ingest/source.ts';
import { formatVariable, type NewToken, revokeUnseen } from './access/first-tokens.ts';
import { QuotaFile } from './access/quota-file.ts';
import { type QuotaOptions, Quotas } from './access/quotas.ts';
import { type OpenedTokens, openTokens } from './access/tokens.ts';
import { CallerQueries } from './call/caller-queries.ts';
import { EndpointCaller } from './call/endpoint-call.ts';
import type { Clock } from './clock.ts';
import { prepareDataDir } from './data-dir.ts';
import type { Catalogue } from './definition/catalogue.ts';
import { DefinitionFolder } from './definition/definition-folder.ts';
import { DefinitionStore } from './definition/definition-store.ts';
import { Definitions } from './definition/definitions.ts';
import { KeptFiles } from './definition/kept-files.ts';
import { EventIds } from './follow/event-ids.ts';
import { EventReader } from './follow/event-reader.ts';
import { Followers } from './follow/followers.ts';
import { HealthReasons } from './health-reasons.ts';
import { createApp } from './http/app.ts';
import { InstanceKey } from './instance-key.ts';
import { ENDPOINTS_LOOK_MS, TICK_MS } from './limits.ts';
import { Listeners } from './listeners.ts';
import type { Log } from './log.ts';
import { divideMemory, sumShares } from './memory-shares.ts';
import type { RequestMemory } from './metrics/memory-parts.ts';
import type { Metrics } from './metrics/metrics.ts';
import { getProfile } from './profile.ts';
import { Readiness } from './readiness.ts';
import type { Settings } from './settings.ts';
import { asStartError, findAdvice, StartError, systemSentence } from './start-error.ts';
import type { Backend, TakenMemory } from './store/backend.ts';
import { SourceFile } from './store/source-file.ts';
import { joinSources, Sources } from './store/sources.ts';
import { PostHistory } from './watch/post-history.ts';
import type { ServiceHistory } from './watch/service-history.ts';
import { beginHistory, createMetrics, createStateReader } from './watch/service-state.ts';

/** A running service. */
export type Service = {
  readonly url: string;
  /** Address and port for OpenTelemetry's protocol over gRPC, if it has a port. */
  readonly otlpGrpc: string | undefined;
  readonly catalogue: Catalogue;
  readonly definitions: Definitions;
  readonly backend: Backend;
  /** Tokens that this start made, to be shown once. */
  readonly tokensMade: readonly NewToken[];
  /**
   * Resolves when another process has taken over the data folder, after which nothing can be
   * stored. Never rejects.
   */
  readonly replaced: Promise<LockedError>;
  /** Finishes running work and writes everything to disk. A second call waits for the first. */
  stop: Stop;
};

/**
 * With `closeMsMax` the caller ends the process after the stop. Work that the next start can repeat
 * then delays the stop by at most this time; if some is left, the data folder stays locked until
 * the process ends.
 */
type Stop = (options?: { readonly closeMsMax?: number }) => Promise<void>;

export type ServiceOptions = {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Opens the backend after the data folder is locked. The `dataDir` of its settings is the store
   * folder.
   */
  readonly openBackend: (settings: Settings) => Backend | Promise<Backend>;
  /** Whether an invalid file in `ENDPOINTS_DIR` stops the start; false by default. */
  readonly isStrict?: boolean;
  /** Delay of the refusal of a wrong token after many from its address; by default the limit's. */
  readonly refusedTokenWaitMs?: number;
};

/**
 * Starts the service: locks the data folder, binds the definitions, listens, reads what is stored,
 * and then takes calls.
 *
 * @throws StartError, CatalogueError or an error of the backend, with everything closed again.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { settings, clock, log } = options;
  await prepareDataDir(settings.dataDir);
  const folder = await withFolderErrors(() => DataFolder.take(settings.dataDir, clock.nowUs()));
  try {
    for (const name of folder.unused) {
      const path = join(settings.dataDir, name);
      log({ level: 'error', event: 'data_unused', path, used: folder.storePath });
    }
    const file = new SourceFile(new NodeDisk(), folder.storePath);
    const { sources: made, isDamaged } = await file.open();
    if (isDamaged) log({ level: 'error', event: 'source_file_repaired' });
    const sources = joinSources(settings.sources, made);
    const stored = { ...settings, dataDir: folder.storePath, sources };
    const parts = { ...options, settings: stored, keptSources: { file, made } };
    return await startIn(folder, await options.openBackend(stored), parts);
  } catch (error) {
    await folder.release();
    throw error;
  }
}

type StartParts = Omit<ServiceOptions, 'openBackend'> & {
  /** Sources made over HTTP. */
  readonly keptSources: { readonly file: SourceFile; readonly made: readonly Source[] };
};

async function startIn(folder: DataFolder, backend: Backend, parts: StartParts): Promise<Service> {
  const { settings, clock, log, isStrict = false, refusedTokenWaitMs, keptSources } = parts;
  const readiness = new Readiness();
  let server: Listeners | undefined;
  let metrics: Metrics | undefined;
  let opened: OpenedTokens | undefined;
  try {
    const { engine, intake } = backend;
    const profile = getProfile(settings.profile);
    const instanceKey = await openInstanceKey(settings.dataDir, log);
    const caller = new EndpointCaller({
      ...{ engine, instanceKey, clock, log },
      hasWaiting: () => engine.queriesWaiting > 0,
      cacheBytesMax: settings.cacheBytesMax,
    });
    const definitions = await openDefinitions(settings, { engine, caller, log, isStrict });
    const { catalogue } = definitions;
    backend.followDefinitions?.(catalogue);
    const nowMs = clock.monotonicMs;
    const health = new HealthReasons({ definitions, backend, readiness, nowMs });
    readiness.watch(() => health.find());
    const quotas = await openQuotas(settings, {
      ...{ clock, log },
      ofToken: (id) => tokens.findQuota(id),
      onRefused: (owner, kind) => metrics?.countQuotaRefusal(owner, kind),
    });
    opened = await openServiceTokens(settings, clock, log);
    const { tokens, made } = opened;
    const sources = new Sources({ ...keptSources, intake, store: backend.sources, definitions });
    const memory = divideMemory(settings);
    const followers = openFollowers(backend, clock, instanceKey, memory.shares.followed);
    // Called only after the server listens.
    const requests = () => ({ ...app.memory(), followed: followers.heldBytes });
    metrics = createMetrics({ backend, caller, followers, readiness, definitions, requests });
    const history = beginHistory({ backend, clock });
    const watched = { backend, caller, followers, readiness, clock, requests, history };
    const app = createApp({
      memory,
      ...{ profile, catalogue, definitions, caller, intake, sources, followers, tokens, quotas },
      ...{ engine, callerQueries: new CallerQueries(engine) },
      defaultSource: must(intake.findSource(settings.defaultSource)),
      vercelDrainSecret: settings.vercelDrainSecret,
      ...{ history, serviceState: createStateReader(watched) },
      posts: new PostHistory(clock.wallMs),
      ...{ refusedTokenWaitMs, readiness, clock, log, metrics },
    });
    server = await Listeners.open(app, settings, profile);
    await backend.recover(clock.nowUs(), readiness);
    await withFolderErrors(() => folder.checkHeld());
    readiness.becomeReady();
    const { url, otlpGrpc } = server;
    const endpoints = catalogue.list().length;
    log({ level: 'info', event: 'started', otlp_grpc: otlpGrpc, url, endpoints });
    const stop = stopOnce({
      ...{ server, backend, caller, followers, definitions, readiness, clock, log, metrics },
      ...{ folder, quotas, sources, history },
      takenMemory: () => measureMemory(requests(), caller),
    });
    const { replaced } = folder;
    const opening = { url, otlpGrpc, tokensMade: made };
    return { ...opening, catalogue, definitions, backend, replaced, stop };
  } catch (error) {
    metrics?.close();
    await server?.drain({ drainMs: 0 });
    await backend.close(clock.nowUs());
    await revokeUnseen(opened, log);
    throw asStartError(error, settings.dataDir);
  }
}

function measureMemory(requests: RequestMemory, caller: EndpointCaller): TakenMemory {
  const requestBytes = sumShares(requests) + caller.stats().cache.byteSize;
  return { resident: process.memoryUsage.rss(), requests: requestBytes };
}

async function openInstanceKey(storePath: string, log: Log): Promise<InstanceKey> {
  const { key, problem } = await InstanceKey.open(new NodeDisk(), storePath);
  if (problem !== undefined) log({ level: 'error', event: 'instance_key_made', reason: problem });
  return key;
}

async function openServiceTokens(
  settings: Settings,
  { wallMs }: Clock,
  log: Log,
): Promise<OpenedTokens> {
  const opened = await openTokens({ ...settings, wallMs });
  if (opened.isRepaired) log({ level: 'error', event: 'token_file_repaired' });
  for (const name of opened.replaced) {
    const reason = `the setting ${formatVariable(name)} replaces the token that an earlier start made`;
    log({ level: 'info', event: 'token_revoked', name, reason });
  }
  return opened;
}

function openQuotas(
  settings: Settings,
  parts: {
    readonly clock: Clock;
    readonly log: Log;
    readonly ofToken: QuotaOptions['ofToken'];
    readonly onRefused: QuotaOptions['onRefused'];
  },
): Promise<Quotas> {
  const { clock, log, ofToken, onRefused } = parts;
  return Quotas.open({
    ofProject: {
      events: settings.projectEventsPerDay,
      bytes: settings.projectBytesPerDay,
      stored_bytes: settings.projectStoredBytes,
    },
    retentionDays: settings.retentionDays,
    wallMs: clock.wallMs,
    monotonicMs: clock.monotonicMs,
    file: new QuotaFile(new NodeDisk(), resolve(settings.dataDir)),
    ...{ log, ofToken, onRefused },
  });
}

function openFollowers(
  { engine, published: events }: Backend,
  clock: Clock,
  instanceKey: InstanceKey,
  heldBytesMax: number,
): Followers {
  const ids = new EventIds(instanceKey, () => events.sharedKey);
  const reader = new EventReader({ engine, events, ids, nowUs: () => clock.nowUs() });
  return new Followers({ reader, events, ids, heldBytesMax });
}

/**
 * Opens the definitions of weir, of `ENDPOINTS_DIR` and of the data folder. A change drops the kept
 * answers of the changed definitions.
 */
function openDefinitions(
  { profile, dataDir, endpointsDir }: Settings,
  parts: {
    readonly engine: Backend['engine'];
    readonly caller: EndpointCaller;
    readonly log: Log;
    readonly isStrict: boolean;
  },
): Promise<Definitions> {
  const { engine, caller, log, isStrict } = parts;
  const disk = SteadyDisk.of(new NodeDisk());
  return Definitions.open({
    ...{ engine, profile, log, isStrict },
    store: new DefinitionStore(disk, join(resolve(dataDir), 'endpoints')),
    kept: new KeptFiles(disk, join(resolve(dataDir), 'endpoints-kept')),
    folder: endpointsDir === undefined ? undefined : new DefinitionFolder(endpointsDir),
    onReplaced: ({ definition: { id } }) => caller.drop(id),
  });
}

/** Calls the components that work by the clock once a second, until the service stops. */
function stopOnce(parts: {
  readonly server: Listeners;
  readonly backend: Backend;
  readonly caller: EndpointCaller;
  readonly followers: Followers;
  readonly definitions: Definitions;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly folder: DataFolder;
  readonly quotas: Quotas;
  readonly sources: Sources;
  readonly history: ServiceHistory;
  readonly takenMemory: () => TakenMemory;
}): Stop {
  const {
    server,
    backend,
    caller,
    followers,
    definitions,
    readiness,
    clock,
    log,
    metrics,
    folder,
    quotas,
    sources,
    history,
    takenMemory,
  } = parts;
  const timer = setInterval(() => {
    backend.tick(clock.nowUs(), takenMemory());
    caller.tick();
    quotas.tick();
    history.tick();
  }, TICK_MS);
  const looking = setInterval(() => void definitions.reload(), ENDPOINTS_LOOK_MS);
  const stop: Stop = async ({ closeMsMax } = {}) => {
    clearInterval(timer);
    clearInterval(looking);
    readiness.beginDraining();
    followers.close();
    const giveUp = (): void => {
      readiness.giveUp();
      caller.giveUp();
    };
    await Promise.all([caller.close(), server.drain({ giveUp })]);
    await sources.close();
    await definitions.close();
    await quotas.close();
    metrics.close();
    // Acknowledged events are in the log. Other unfinished work is repeated at the next start.
    const isClosed = await withinTime(backend.close(clock.nowUs()), closeMsMax);
    if (isClosed) await folder.release();
    else log({ level: 'info', event: 'work_left', after_ms: closeMsMax });
    log({ level: 'info', event: 'stopped' });
  };
  let stopped: Promise<void> | undefined;
  return (options) => {
    stopped ??= stop(options);
    return stopped;
  };
}

/** Whether the work ended in time; without a limit it waits for the end. */
async function withinTime(work: Promise<void>, ms: number | undefined): Promise<boolean> {
  if (ms === undefined) return work.then(() => true);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Two services on one folder would overwrite each other's files. */
async function withFolderErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LockedError) throw new StartError(`DATA_DIR: ${cause.message}`, cause);
    // A system error names its cause and file. The owner of the lock is unknown, so the lock stays.
    if (cause instanceof Error && 'code' in cause) {
      const advice = findAdvice(cause);
      const reason = [systemSentence(cause), ...(advice === undefined ? [] : [advice])].join('. ');
      throw new StartError(`DATA_DIR cannot be used: ${reason}`, cause);
    }
    throw cause;
  }
}
