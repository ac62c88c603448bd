import { must } from '../engine/columns.ts';
import type { Source } from '../ingest/source.ts';
import { defaultCacheBytes, defaultMemoBytes, MEMORY_BYTES_MIN } from './memory-shares.ts';
import { PROFILE_NAMES } from './profile.ts';
import {
  bytesKind,
  choiceKind,
  countKind,
  identifierKind,
  integerKind,
  passwordKind,
  type SettingKind,
  serverKind,
  sourcesKind,
  textKind,
  timeKind,
  tokenKind,
} from './setting-kind.ts';

const WORKERS_MAX = 256;
const RETENTION_DAYS_MAX = 3650;

/** Groups of settings, in the order of the help and the documents. */
export const SUBJECTS = [
  'Network',
  'Storage',
  'ClickHouse',
  'Memory and threads',
  'Sources and queries',
  'Quotas of projects',
  'Tokens',
  'Tests',
] as const;

/** Where events are kept: in segments of weir's own, or in ClickHouse. */
const STORE_NAMES = ['embedded', 'clickhouse'] as const;

type Value = string | number | readonly Source[];

/** One setting, with everything that help, documents and checks need. */
export type Setting<T extends Value | undefined = Value | undefined> = {
  /** The environment variable. It never changes, because users have it in their configuration. */
  readonly variable: string;
  readonly subject: (typeof SUBJECTS)[number];
  /** One sentence without a final stop, for help and documents. */
  readonly summary: string;
  /** Further sentences in Markdown, for `docs/configuration.md`. */
  readonly details?: string;
  readonly kind: SettingKind<Exclude<T, undefined>>;
  /** The unit of a number, if `kind` does not give it. */
  readonly unit?: string;
  /** The default in words. */
  readonly defaultText: string;
  readonly defaultValue: (known: KnownBefore) => T;
  /**
   * The value is never shown and is never a flag, because other users of the machine can see flags.
   */
  readonly isSecret?: true;
  /** Whether `…_FILE` may name a file that holds the value. */
  readonly hasFile?: true;
  /** Another variable that means the same. */
  readonly alias?: string;
  /**
   * The variable of the analytics container with this meaning. The profile supabase reads it if
   * nothing else gives the setting.
   */
  readonly containerName?: string;
};

/** What a default may depend on: the settings above it in the table. */
type KnownBefore = {
  readonly machineBytes: number;
  readonly memoryBytesMax?: number;
};

const QUOTA_DETAILS =
  'All tokens that are bound to only this project share it. It does not limit a token with [its own quota](tokens-and-tenants.md#quotas).';

/** Every setting, by its name in `Settings`. */
export const SETTING_TABLE = {
  /**
   * 0 lets the system choose a port.
   */
  port: setting({
    variable: 'PORT',
    subject: 'Network',
    summary: 'port to listen on',
    details: 'With `0` the system chooses a free port.',
    kind: integerKind(0, 65_535),
    defaultText: '4000',
    containerName: 'PHX_HTTP_PORT',
  }),
  host: setting({
    variable: 'HOST',
    subject: 'Network',
    summary: 'address to listen on',
    details: '`0.0.0.0` and `::` are all addresses of the machine.',
    kind: textKind('ADDRESS', 'an IP address or a host name'),
    defaultText: '127.0.0.1',
  }),
  /** 0 lets the system choose a port. */
  otlpGrpcPort: optional({
    variable: 'OTLP_GRPC_PORT',
    subject: 'Network',
    summary: 'port for OpenTelemetry over gRPC, on HOST; exporters use 4317',
    details:
      'It is [another way to the same receivers](ingest.md#over-grpc). With `0` the system chooses a free port.',
    kind: integerKind(0, 65_535),
    defaultText: 'none: only HTTP',
  }),
  dataDir: setting({
    variable: 'DATA_DIR',
    subject: 'Storage',
    summary: 'folder for all stored data',
    details: 'Only one process may use it ([what it holds](operations.md#the-data-folder)).',
    kind: textKind('DIR', 'a path'),
    defaultText: './data',
  }),
  retentionDays: setting({
    variable: 'RETENTION_DAYS',
    subject: 'Storage',
    summary: 'days that logs are kept',
    details:
      'With `STORE=clickhouse` it applies to the table as weir makes it: to change it later, change the TTL of the table.',
    kind: integerKind(1, RETENTION_DAYS_MAX),
    unit: 'days',
    defaultText: '90',
  }),
  store: setting({
    variable: 'STORE',
    subject: 'Storage',
    summary: 'where events are kept: in DATA_DIR, or in ClickHouse',
    details: 'With `clickhouse`, `DATA_DIR` holds events only until ClickHouse has them.',
    kind: choiceKind(STORE_NAMES),
    defaultText: 'embedded',
  }),
  clickhouseUrl: optional({
    variable: 'CLICKHOUSE_URL',
    subject: 'ClickHouse',
    summary: 'the HTTP interface of ClickHouse; required with STORE=clickhouse',
    kind: serverKind(),
    defaultText: 'none',
  }),
  clickhouseUser: setting({
    variable: 'CLICKHOUSE_USER',
    subject: 'ClickHouse',
    summary: 'user of ClickHouse, who may create and change tables, insert and select',
    kind: textKind('NAME', 'the name of a user'),
    defaultText: 'default',
  }),
  clickhousePassword: optional({
    variable: 'CLICKHOUSE_PASSWORD',
    subject: 'ClickHouse',
    summary: 'password of that user',
    kind: passwordKind(),
    defaultText: 'none',
    isSecret: true,
    hasFile: true,
  }),
  clickhouseDatabase: setting({
    variable: 'CLICKHOUSE_DATABASE',
    subject: 'ClickHouse',
    summary: 'database of the table of events, which must exist',
    details: 'weir makes the table `events` in it.',
    kind: identifierKind(),
    defaultText: 'default',
  }),
  clickhouseCluster: optional({
    variable: 'CLICKHOUSE_CLUSTER',
    subject: 'ClickHouse',
    summary: 'cluster on whose servers the tables are made',
    details:
      'The tables are then replicated, and with several shards each has a part of the projects. ClickHouse needs Keeper for it.',
    kind: identifierKind(),
    defaultText: 'none: one server',
  }),
  /** Bytes for the whole process. */
  memoryBytesMax: derived<number>({
    variable: 'MEMORY_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory of the process',
    details:
      'The process may use up to 150 MB more. With less than 2 GiB, decoding a post of more than 2 MiB takes memory beyond the limit, too: some 120 MB for 12 MB of usual logs. Logs that do not fit stay in their files and are read again when a query needs them. The limits of queries, answers and bodies [follow from it](../ARCHITECTURE.md#memory). Outside of the image [set the memory allocator, too](operations.md#memory-outside-of-the-image).',
    kind: bytesKind(MEMORY_BYTES_MIN, 'at least 256MiB'),
    defaultText: 'half of the memory of the machine, or of its container',
    defaultValue: ({ machineBytes }) => Math.max(Math.floor(machineBytes / 2), MEMORY_BYTES_MIN),
  }),
  /** Bytes of kept answers; with 0 every call runs its query. */
  cacheBytesMax: derived<number>({
    variable: 'CACHE_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory for kept answers; with 0 every call runs its query',
    kind: bytesKind(0, 'or 0'),
    defaultText: '64MiB, or 1/32 of MEMORY_LIMIT if that is less',
    defaultValue: (known) => defaultCacheBytes(getMemoryBytes(known)),
  }),
  /** Bytes of kept partial states of sealed segments; with 0 every run reads every row. */
  memoBytesMax: derived<number>({
    variable: 'MEMO_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory for cached partial results of stored logs; with 0 every query reads every row',
    kind: bytesKind(0, 'or 0'),
    defaultText: '64MiB, or 1/32 of MEMORY_LIMIT if that is less',
    defaultValue: (known) => defaultMemoBytes(getMemoryBytes(known)),
  }),
  workerCount: optional({
    variable: 'WORKERS',
    subject: 'Memory and threads',
    summary: 'threads that run queries, and write and merge segment files',
    details:
      'weir starts fewer if `MEMORY_LIMIT` has no room for them. Up to three times as many additional threads hold paused queries.',
    kind: integerKind(1, WORKERS_MAX),
    unit: 'threads',
    defaultText: 'as many as the machine has cores',
  }),
  profile: setting({
    variable: 'PROFILE',
    subject: 'Sources and queries',
    summary: 'how the service answers; supabase replaces the analytics container of that stack',
    details: 'See [Supabase](supabase.md).',
    kind: choiceKind(PROFILE_NAMES),
    defaultText: 'default',
  }),
  endpointsDir: optional({
    variable: 'ENDPOINTS_DIR',
    subject: 'Sources and queries',
    summary: 'folder of your own saved queries (*.sql)',
    kind: textKind('DIR', 'a path'),
    defaultText: 'none',
  }),
  /** Sources besides the nine built-in ones, including the default source if it is not built in. */
  sources: derived<readonly Source[]>({
    variable: 'SOURCES',
    subject: 'Sources and queries',
    summary: 'sources beside the nine built in',
    details:
      'The path after the colon is the field of an event with its project; the default is `project`. You can [add sources while weir runs](ingest.md#add-your-own).',
    kind: sourcesKind(),
    defaultText: 'none',
    defaultValue: () => [],
  }),
  /** The source of events whose sender names none. */
  defaultSource: setting({
    variable: 'DEFAULT_SOURCE',
    subject: 'Sources and queries',
    summary:
      'source of senders that name none: OpenTelemetry, Elasticsearch, GELF, the journal, Loki, Splunk, Datadog',
    details: 'It is added if no such source exists.',
    kind: textKind('NAME', 'the name of a source'),
    defaultText: 'logs',
  }),
  projectEventsPerDay: optional({
    variable: 'PROJECT_EVENTS_PER_DAY',
    subject: 'Quotas of projects',
    summary: 'events of each project that may be posted on a UTC day',
    details: QUOTA_DETAILS,
    kind: countKind(),
    unit: 'events',
    defaultText: 'no limit',
  }),
  projectBytesPerDay: optional({
    variable: 'PROJECT_BYTES_PER_DAY',
    subject: 'Quotas of projects',
    summary: 'bytes of each project, before compression, that may be posted on a UTC day',
    details: QUOTA_DETAILS,
    kind: bytesKind(1, 'at least 1'),
    defaultText: 'no limit',
  }),
  projectStoredBytes: optional({
    variable: 'PROJECT_STORED_BYTES',
    subject: 'Quotas of projects',
    summary: 'bytes of each project, before compression, that may be posted within the retention',
    details: QUOTA_DETAILS,
    kind: bytesKind(1, 'at least 1'),
    defaultText: 'no limit',
  }),
  publicAccessToken: optional({
    variable: 'PUBLIC_ACCESS_TOKEN',
    subject: 'Tokens',
    summary: 'token that may post logs',
    kind: tokenKind(),
    defaultText: 'created and printed at the first start',
    isSecret: true,
    hasFile: true,
    alias: 'LOGFLARE_PUBLIC_ACCESS_TOKEN',
  }),
  privateAccessToken: optional({
    variable: 'PRIVATE_ACCESS_TOKEN',
    subject: 'Tokens',
    summary: 'token that may do everything',
    kind: tokenKind(),
    defaultText: 'created and printed at the first start',
    isSecret: true,
    hasFile: true,
    alias: 'LOGFLARE_PRIVATE_ACCESS_TOKEN',
  }),
  vercelDrainSecret: optional({
    variable: 'VERCEL_DRAIN_SECRET',
    subject: 'Tokens',
    summary: 'secret with which drains of Vercel sign their posts',
    details:
      'With it, posts to [the receiver for Vercel](ingest.md#drains-of-platforms) must be signed.',
    kind: tokenKind(),
    defaultText: 'none: signatures are not checked',
    isSecret: true,
    hasFile: true,
  }),
  /** The fixed time of the clock, in microseconds since the epoch. */
  frozenNowUs: optional({
    variable: 'FROZEN_NOW',
    subject: 'Tests',
    summary: 'fixed time for the clock of queries and events',
    kind: timeKind(),
    defaultText: 'none: the clock of the machine',
  }),
} as const;

export type SettingTable = typeof SETTING_TABLE;
export type SettingKey = keyof SettingTable;

/** All settings with their keys. */
export const SETTINGS = Object.entries(SETTING_TABLE) as readonly (readonly [
  SettingKey,
  Setting,
])[];

/**
 * In the profile supabase, it replaces a missing token, the private one first: the analytics
 * container used it as its only token at first, and uses it as its public token now.
 */
export const CONTAINER_KEY = 'LOGFLARE_API_KEY';

/** The flag of `weir start` that gives a setting: `memory-limit`. */
export function formatFlag({ variable }: Pick<Setting, 'variable'>): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/** The variables that may give a setting, in order of precedence, without those that name files. */
export function listVariables({ variable, alias }: Setting): readonly string[] {
  return alias === undefined ? [variable] : [variable, alias];
}

/** The accepted values of a setting in words. */
export function valueText({ kind, unit }: Setting): string {
  return unit === undefined ? kind.allowed : `${kind.allowed} (${unit})`;
}

/** The variables that may name a file that holds the value. */
export function listFileVariables(setting: Setting): readonly string[] {
  return setting.hasFile === true ? listVariables(setting).map((name) => `${name}_FILE`) : [];
}

/** Every environment variable that is read in any profile. */
export const VARIABLES_READ: readonly string[] = [
  ...SETTINGS.flatMap(([, each]) => [
    ...listVariables(each),
    ...listFileVariables(each),
    ...(each.containerName === undefined ? [] : [each.containerName]),
  ]),
  ...[CONTAINER_KEY, `${CONTAINER_KEY}_FILE`],
];

/** A setting whose default is written as users would write it. */
function setting<T extends Value>(entry: Omit<Setting<T>, 'defaultValue'>): Setting<T> {
  const parsed = entry.kind.parse(entry.defaultText);
  const { value } = must('value' in parsed ? parsed : undefined, 'a default is allowed');
  return { ...entry, defaultValue: () => value };
}

/** A setting that may be absent. */
function optional<T extends Value>(
  entry: Omit<Setting<T | undefined>, 'defaultValue'>,
): Setting<T | undefined> {
  return { ...entry, defaultValue: () => undefined };
}

/** A setting whose default is not a text, or depends on other settings. */
function derived<T extends Value>(entry: Setting<T>): Setting<T> {
  return entry;
}

function getMemoryBytes({ memoryBytesMax }: KnownBefore): number {
  return must(memoryBytesMax, 'MEMORY_LIMIT comes before the settings that depend on it');
}
