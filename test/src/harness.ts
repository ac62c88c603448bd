import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createConnection } from 'node:net';
import { must } from '../../engine/assert.ts';
import type { PreparedQuery, QueryAnswer } from '../../engine/engine.ts';
import { QueryError } from '../../engine/query-error.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import { isUuid, type Source, SourceDirectory, sourcesFrom } from '../../ingest/source.ts';
import { translateBody } from '../../ingest/wire/wire-format.ts';
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
import { EventReader } from '../../src/follow/event-reader.ts';
import { Followers } from '../../src/follow/followers.ts';
import { createApp } from '../../src/http/app.ts';
import { BodyReader } from '../../src/http/body.ts';
import { type CallerLimits, HttpServer } from '../../src/http/http-server.ts';
import type { Route } from '../../src/http/route.ts';
import type { LogEntry } from '../../src/log.ts';
import type { Metrics } from '../../src/metrics/metrics.ts';
import { type ProfileName, profileOf } from '../../src/profile.ts';
import { Readiness } from '../../src/readiness.ts';
import { asServiceErrors } from '../../src/store/intake-errors.ts';
import type { LogIntake } from '../../src/store/log-intake.ts';
import type { PublishedEvents } from '../../src/store/published-events.ts';
import { ModelDisk } from '../support/model-disk.ts';

export const PRIVATE = 'private-token';
export const PUBLIC = 'public-token';
export const NOW_US = 1_768_478_400_000_000;

/** A prepared query of nothing, naming the parameters its text does. */
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
    release: () => {},
    digest: () => createHash('sha256').update(JSON.stringify(rows)).digest('base64url'),
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

/** Of sources that nothing is ever posted to. */
export const NO_EVENTS: PublishedEvents = {
  lastId: () => 0,
  prepare: fakePrepare,
  whenPublished: () => {},
};

export type Run = QueryEngine['run'];

/** An engine whose runs all have to be waited for. */
export function runningBy(run: Run): Pick<QueryEngine, 'run' | 'begin'> {
  return { run, begin: (query, options) => (signal) => run(query, { ...options, signal }) };
}

/** Answers with one row: the parameters as they came, and the clock. */
export const echoRun: Run = async (_query, { parameters, nowUs, rowsMax }) =>
  fakeAnswer([{ ...Object.fromEntries(parameters), nowUs, rowsMax }]);

/** Of senders who name none, as where nothing is set. */
export const DEFAULT_SOURCE = 'logs';

export type Stored = { readonly source: string; readonly events: readonly unknown[] };

/** Keeps what it is given; an event that is no object is refused. */
export function fakeIntake(stored: Stored[]): LogIntake {
  const directory = new SourceDirectory(sourcesFrom(DEFAULT_SOURCE).sources);
  return {
    findSource: (text) => (isUuid(text) ? directory.findById(text) : directory.findByName(text)),
    listSources: () => directory.sources,
    sizes: () => new Map(),
    durableMs: () => 0,
    check: () => {},
    async decode(body, form) {
      const text = Buffer.concat(body).toString();
      let value: unknown;
      try {
        value =
          form === 'json'
            ? JSON.parse(text)
            : text
                .split('\n')
                .filter(Boolean)
                .map((line) => JSON.parse(line));
      } catch (cause) {
        throw new ServiceError('invalid_body', 'the body must be JSON', { cause });
      }
      const events = Array.isArray(value) ? value : [value];
      const isSingle = !Array.isArray(value) && typeof value === 'object' && value !== null;
      return {
        address: isSingle ? (value as object) : {},
        async store(source: Source) {
          stored.push({ source: source.name, events: events.filter(isObject) });
          const refused = events.flatMap((event, index) => (isObject(event) ? [] : [index]));
          const reasons = refused.map(() => 'must be an object');
          return { events: refused, reasons, repaired: [] };
        },
      };
    },
    translate: (format, body) => {
      const whole = {
        ...body,
        newId: () => STATS_ID,
        memory: new MemoryPool(0).lend(),
      };
      return asServiceErrors(() => translateBody(format, whole));
    },
  };
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

/** A definition as it is called, over the fake engine. */
export function fakeEndpoint(fileText: string): Endpoint {
  const saved = readSaved({ origin: 'folder', file: 'test.sql', fileText }, 'default');
  return must(new DefinitionSet([saved], { engine: { prepare: fakePrepare } }).endpoints[0]);
}

/** The built-in definitions over the fake engine, and others over a disk of the model's. */
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

export type TestApp = {
  readonly port: number;
  readonly caller: EndpointCaller;
  readonly stored: Stored[];
  readonly entries: LogEntry[];
  readonly readiness: Readiness;
  readonly server: HttpServer;
  readonly catalogue: Catalogue;
  readonly routes: readonly Route[];
};

/** Runs `work` against an app that listens on a port of its own, over a fake engine and store. */
export async function withApp(
  options: {
    /** The one definition; `STATS` unless given. */
    readonly definition?: string;
    readonly run?: Run | undefined;
    /** The monotonic clock; it stands still at 0 unless given. */
    readonly monotonicMs?: () => number;
    readonly intake?: LogIntake;
    readonly callsMax?: number;
    readonly queryMsMax?: number;
    readonly heldBytesMax?: number;
    /** How long a post waits that there is no room for; a moment unless given. */
    readonly refusalWaitMs?: number;
    readonly isStarting?: boolean;
    readonly profile?: ProfileName;
    readonly metrics?: Metrics;
    /** Left out, definitions can be read and not changed. */
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
  const profile = profileOf(options.profile ?? 'default');
  const reader = new EventReader({ engine, events: NO_EVENTS, nowUs: clock.nowUs });
  const app = createApp({
    followers: new Followers({ reader, events: NO_EVENTS }),
    profile,
    catalogue,
    caller,
    callerQueries: new CallerQueries({ prepare: fakePrepare }),
    intake: options.intake ?? fakeIntake(stored),
    defaultSource: must(sourcesFrom(DEFAULT_SOURCE).sources[0]),
    tokens,
    readiness,
    clock,
    log: (entry) => entries.push(entry),
    bodies: new BodyReader({
      nowMs: clock.monotonicMs,
      heldBytesMax: options.heldBytesMax,
      refusalWaitMs: options.refusalWaitMs ?? 1,
    }),
    metrics: options.metrics,
    definitions: options.definitions,
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
  /** `PRIVATE` in X-API-KEY unless given; `undefined` removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer | undefined;
};

/** One request on a connection of its own, exactly as written. */
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

/** What comes back for bytes that need not be HTTP. */
export async function askRaw(app: { readonly port: number }, bytes: string): Promise<string> {
  const socket = createConnection({ port: app.port, host: '127.0.0.1' });
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

/** A run that fails as a query does. */
export function failingRun(...failure: ConstructorParameters<typeof QueryError>): Run {
  return () => Promise.reject(new QueryError(...failure));
}
