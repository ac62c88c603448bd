import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import { must } from '../../engine/assert.ts';
import type { QueryAnswer } from '../../engine/engine.ts';
import type { Pieces } from '../../engine/plan/pieces.ts';
import type { PreparedQuery } from '../../engine/plan/prepared-query.ts';
import { QueryError } from '../../engine/query-error.ts';
import { ADDRESS_KEYS } from '../../ingest/known-key.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import type { BodyForm } from '../../ingest/post-body.ts';
import type { PostContents, PostedBody } from '../../ingest/post-decoding.ts';
import { isUuid, SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { translateBody } from '../../ingest/wire/wire-format.ts';
import type { Quotas } from '../../src/access/quotas.ts';
import { openTokens } from '../../src/access/tokens.ts';
import { CallerQueries } from '../../src/call/caller-queries.ts';
import { EndpointCaller } from '../../src/call/endpoint-call.ts';
import type { QueryEngine } from '../../src/call/query-engine.ts';
import { Catalogue } from '../../src/definition/catalogue.ts';
import { DefinitionSet } from '../../src/definition/definition-set.ts';
import { DefinitionStore } from '../../src/definition/definition-store.ts';
import { Definitions } from '../../src/definition/definitions.ts';
import type { Endpoint } from '../../src/definition/endpoint.ts';
import { KeptFiles } from '../../src/definition/kept-files.ts';
import { readSaved } from '../../src/definition/saved-definition.ts';
import { Random } from '../../src/demo/traffic/random.ts';
import { ServiceError } from '../../src/errors.ts';
import { EventIds } from '../../src/follow/event-ids.ts';
import { EventReader } from '../../src/follow/event-reader.ts';
import { Followers } from '../../src/follow/followers.ts';
import type { GrpcListener } from '../../src/grpc/grpc-listener.ts';
import { createApp } from '../../src/http/app.ts';
import { BodyReader } from '../../src/http/body.ts';
import { type CallerLimits, HttpServer } from '../../src/http/http-server.ts';
import type { Route } from '../../src/http/route.ts';
import { InstanceKey } from '../../src/instance-key.ts';
import type { LogEntry } from '../../src/log.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import { getProfile, type ProfileName } from '../../src/profile.ts';
import { Readiness } from '../../src/readiness.ts';
import { asServiceErrors } from '../../src/store/intake-errors.ts';
import type { LogIntake } from '../../src/store/log-intake.ts';
import type { PublishedEvents } from '../../src/store/published-events.ts';
import { Sources } from '../../src/store/sources.ts';
import { PostHistory } from '../../src/watch/post-history.ts';
import { ServiceHistory } from '../../src/watch/service-history.ts';
import { ModelDisk } from '../support/model-disk.ts';

export const PRIVATE = 'private-token';
export const PUBLIC = 'public-token';
export const NOW_US = 1_768_478_400_000_000;

/** A prepared query without effect, with the parameters that its text names. */
export function fakePrepare(text: string): PreparedQuery {
  const parameters = new Set(Array.from(text.matchAll(/@(\w+)/g), (match) => match[1]!));
  const bound = {
    plan: { op: 'one-row' as const },
    output: [],
    parameters: [...parameters],
    views: [],
  };
  return { text, bound, commonTables: [] };
}

export function fakeAnswer(rows: readonly unknown[]): QueryAnswer {
  return {
    json: Buffer.from(JSON.stringify(rows)),
    rowCount: rows.length,
    isTruncated: false,
    release: () => {},
    lostDays: [],
    stats: {
      planMs: 0,
      queueMs: 0,
      runMs: 0,
      rowsScanned: 0,
      rowsFromMemo: 0,
      rowsSkipped: 0,
      segmentsScanned: 0,
      segmentsSkipped: 0,
    },
  };
}

/** Published events of sources without posts. */
export const NO_EVENTS: PublishedEvents = {
  watch: async () => () => {},
  knows: () => false,
  pageEnd: async () => 0,
  lastNumber: () => 0,
  prepare: fakePrepare,
  whenPublished: () => {},
};

export function* fakePrepareInPieces(text: string): Pieces<PreparedQuery> {
  yield;
  return fakePrepare(text);
}

/** Of sources without events. */
export const NOTHING_EXPLORED: Pick<QueryEngine, 'countFields' | 'takeSnapshot'> = {
  countFields: async () => ({ eventCount: 0, fields: [], isCut: false }),
  takeSnapshot: () => {
    throw new Error('nothing is explored here');
  },
};

export type Run = QueryEngine['run'];

/** An engine whose runs are always asynchronous. */
export function runningBy(run: Run): Pick<QueryEngine, 'run' | 'begin' | 'planInPieces'> {
  return {
    run,
    begin: (query, options) => (signal) => run(query, { ...options, signal }),
    planInPieces: function* () {
      yield;
      return { value: { plan: { op: 'one-row' }, scans: [] }, ms: 0 };
    },
  };
}

/** Answers with one row: the parameters as the engine got them, and the clock. */
export const echoRun: Run = async (_query, { parameters, nowUs, rowsMax }) =>
  fakeAnswer([{ ...Object.fromEntries(parameters), nowUs, rowsMax }]);

/** The default source without settings. */
export const DEFAULT_SOURCE = 'logs';

export type Stored = { readonly source: string; readonly events: readonly unknown[] };

/** Stores what it gets. An event that is not an object is refused. */
export function fakeIntake(stored: Stored[]): LogIntake {
  const directory = new SourceDirectory(sourcesFrom(DEFAULT_SOURCE).sources);
  return {
    findSource: (text) => (isUuid(text) ? directory.findById(text) : directory.findByName(text)),
    listSources: () => directory.sources,
    sizes: () => new Map(),
    durableMs: () => 0,
    check: () => {},
    decode: (posted) =>
      asServiceErrors(async () => {
        const { contents, eventsOf } = await readPost(posted);
        return {
          contents,
          async store(source, { addresses = [...contents.addresses.keys()], onStored }) {
            const events = await eventsOf(addresses);
            const taken = events.filter(({ event }) => isObject(event));
            stored.push({ source: source.name, events: taken.map(({ event }) => event) });
            onStored?.({ events: taken.length, bytes: sizeOf(posted) });
            const refused = events.filter(({ event }) => !isObject(event));
            return {
              events: refused.map(({ ordinal }) => ordinal),
              reasons: refused.map(() => 'must be an object'),
              repaired: [],
              storedEvents: taken.length,
            };
          },
          end: () => {},
        };
      }),
  };
}

type Posted = {
  readonly contents: PostContents;
  readonly eventsOf: (
    addresses: readonly number[],
  ) => Promise<readonly { readonly ordinal: number; readonly event: unknown }[]>;
};

/** The events of a body, parsed by JavaScript. */
async function readPost(posted: PostedBody): Promise<Posted> {
  if (!('mediaType' in posted)) {
    const value = parseBody(Buffer.concat(posted.pieces).toString(), posted.format);
    const events = Array.isArray(value) ? value : [value];
    const single = Array.isArray(value) || !isObject(value) ? {} : (value as object);
    const named = new Map(Object.entries(single));
    const bodyAddress = ADDRESS_KEYS.map((key) => named.get(key)).find((text) => text);
    return {
      contents: { bodyAddress, addresses: [undefined], notes: undefined },
      eventsOf: async () => events.map((event, ordinal) => ({ event, ordinal })),
    };
  }
  const memory = new MemoryPool(0).lend();
  const whole = { ...posted, newId: () => STATS_ID, memory };
  const { events, notes } = await translateBody(posted.format, whole);
  const { bodyAddress, addresses } = events;
  return {
    contents: { bodyAddress, addresses, notes },
    async eventsOf(indexes) {
      const ordinals = events.listOrdinals(indexes);
      const text = Buffer.concat(await events.body(ordinals)).toString();
      const parsed = JSON.parse(text) as readonly unknown[];
      return parsed.map((event, index) => ({ event, ordinal: must(ordinals[index]) }));
    },
  };
}

function parseBody(text: string, form: BodyForm): unknown {
  try {
    if (form === 'json' || (form === 'any' && isDocument(text))) return JSON.parse(text);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line): unknown => JSON.parse(line));
  } catch (cause) {
    throw new ServiceError('invalid_body', 'the body must be JSON', { cause });
  }
}

function isDocument(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return !text.trim().includes('\n');
  }
}

function sizeOf({ pieces }: PostedBody): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

export const STATS_ID = '11111111-2222-4333-8444-555555555555';

/** `stats`, with a parameter of each type. */
export const STATS = `-- id: ${STATS_ID}
-- name: app.stats
-- description: Numbers of an app
-- alias: app.numbers
-- max_rows: 7
-- param: project string required from=ref
-- param: interval string enum(1hr, 1day)
-- param: since timestamp
-- param: count int64 default=5
-- param: deep bool
-- param: share float64
SELECT @project, @interval, @since, @count, @deep, @share
`;

/** Parses a definition for calls of the fake engine. */
export function fakeEndpoint(fileText: string): Endpoint {
  const saved = readSaved({ origin: 'folder', file: 'test.sql', fileText }, 'default');
  return must(new DefinitionSet([saved], { engine: { prepare: fakePrepare } }).endpoints[0]);
}

/** The built-in definitions on the fake engine, and others on a disk in memory. */
export function fakeDefinitions(): Promise<Definitions> {
  const disk = new ModelDisk(new Random(1));
  return Definitions.open({
    engine: { prepare: fakePrepare },
    profile: 'default',
    store: new DefinitionStore(disk, '/data/endpoints'),
    folder: undefined,
    kept: new KeptFiles(disk, '/data/endpoints-kept'),
    isStrict: false,
    log: () => {},
    onReplaced: () => {},
  });
}

/** The sources of an intake. Sources that are added accept no posts. */
function fakeSources(intake: LogIntake, definitions: Definitions): Sources {
  return new Sources({
    ...{ intake, definitions, made: [] },
    file: { write: async () => {} },
    store: { holdsEventsOf: () => false, add: () => {} },
  });
}

export type TestApp = {
  readonly port: number;
  readonly caller: EndpointCaller;
  readonly stored: Stored[];
  readonly entries: LogEntry[];
  readonly readiness: Readiness;
  readonly server: HttpServer;
  readonly catalogue: Catalogue;
  readonly routes: readonly Route[];
  readonly grpc: GrpcListener;
  readonly bodies: BodyReader;
};

function unread(): never {
  throw new Error('nobody asks how the service is');
}

/** Calls `work` with an app that listens on its own port, with a fake engine and store. */
export async function withApp(
  options: {
    /** The only definition; `STATS` by default. */
    readonly definition?: string;
    readonly run?: Run | undefined;
    /** The monotonic clock; constantly 0 by default. */
    readonly monotonicMs?: () => number;
    readonly intake?: LogIntake;
    readonly callsMax?: number;
    readonly queryMsMax?: number;
    readonly heldBytesMax?: number;
    /** How long a post waits for room; a moment by default. */
    readonly refusalWaitMs?: number;
    /** Delay of refusals after many wrong tokens; a moment by default. */
    readonly refusedTokenWaitMs?: number;
    readonly quotas?: Quotas;
    readonly isStarting?: boolean;
    readonly profile?: ProfileName;
    readonly metrics?: Metrics;
    /** Without it, definitions are read-only and no sources can be made. */
    readonly definitions?: Definitions;
    /** How slow callers may be. */
    readonly callers?: Partial<CallerLimits>;
  },
  work: (app: TestApp) => Promise<void>,
): Promise<void> {
  const catalogue = new Catalogue([fakeEndpoint(options.definition ?? STATS)]);
  const { tokens } = await openTokens({
    dataDir: '/nowhere',
    publicAccessToken: PUBLIC,
    privateAccessToken: PRIVATE,
    wallMs: () => Date.now(),
  });
  const readiness = new Readiness();
  if (options.isStarting !== true) readiness.becomeReady();
  const stored: Stored[] = [];
  const entries: LogEntry[] = [];
  const clock = {
    nowUs: () => NOW_US,
    monotonicMs: options.monotonicMs ?? (() => 0),
    wallMs: () => Date.now(),
  };
  const engine = runningBy(options.run ?? echoRun);
  const caller = new EndpointCaller({
    engine,
    clock,
    callsMax: options.callsMax,
    queryMsMax: options.queryMsMax,
  });
  const intake = options.intake ?? fakeIntake(stored);
  const profile = getProfile(options.profile ?? 'default');
  const ids = new EventIds(InstanceKey.random());
  const reader = new EventReader({ engine, events: NO_EVENTS, ids, nowUs: clock.nowUs });
  const bodies = new BodyReader({
    nowMs: clock.monotonicMs,
    heldBytesMax: options.heldBytesMax,
    refusalWaitMs: options.refusalWaitMs ?? 1,
  });
  const app = createApp({
    followers: new Followers({ reader, events: NO_EVENTS, ids }),
    profile,
    catalogue,
    caller,
    engine: NOTHING_EXPLORED,
    callerQueries: new CallerQueries({ prepareInPieces: fakePrepareInPieces }),
    intake,
    defaultSource: must(sourcesFrom(DEFAULT_SOURCE).sources[0]),
    tokens,
    readiness,
    clock,
    log: (entry) => entries.push(entry),
    bodies,
    posts: new PostHistory(clock.wallMs),
    history: new ServiceHistory({ ...clock, read: unread }),
    serviceState: unread,
    quotas: options.quotas,
    refusedTokenWaitMs: options.refusedTokenWaitMs ?? 1,
    metrics: options.metrics,
    definitions: options.definitions,
    sources: options.definitions && fakeSources(intake, options.definitions),
  });
  const address = { host: '127.0.0.1', port: 0 };
  const server = await HttpServer.listen(app, address, profile, options.callers);
  try {
    await work({
      port: server.port,
      caller,
      stored,
      entries,
      readiness,
      server,
      catalogue,
      routes: app.routes,
      grpc: app.grpc,
      bodies,
    });
  } finally {
    await server.drain({ drainMs: 0 });
  }
}

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; `undefined` when it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any form
  readonly json: any;
};

export type Ask = {
  readonly method?: string;
  readonly path: string;
  /** `PRIVATE` in X-API-KEY by default; `undefined` removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer | undefined;
};

/** Sends one request on its own connection, exactly as written. */
export async function ask(app: { readonly port: number }, what: Ask): Promise<Answer> {
  const headers = { 'X-API-KEY': PRIVATE, ...what.headers };
  const request = httpRequest({
    port: app.port,
    host: '127.0.0.1',
    method: what.method ?? 'GET',
    path: what.path,
    agent: false,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
  });
  request.end(what.body);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

/** Posts a body of JSON to a path. */
export function post(
  app: { readonly port: number },
  path: string,
  body: unknown,
  headers: Ask['headers'] = {},
): Promise<Answer> {
  return ask(app, {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
}

/** Sends bytes that need not be HTTP, and returns the answer. */
export async function askRaw(app: { readonly port: number }, bytes: string): Promise<string> {
  const socket = createConnection({ port: app.port, host: '127.0.0.1' });
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

/** A run that fails with a query's error. */
export function failingRun(...failure: ConstructorParameters<typeof QueryError>): Run {
  return () => Promise.reject(new QueryError(...failure));
}
