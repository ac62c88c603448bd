import { must } from '../engine/assert.ts';
import type { Source } from '../ingest/source.ts';
import { defaultCacheBytes, defaultMemoBytes, MEMORY_BYTES_MIN } from './memory-shares.ts';
import { PROFILE_NAMES } from './profile.ts';
import {
  bytesKind,
  choiceKind,
  countKind,
  integerKind,
  type SettingKind,
  sourcesKind,
  textKind,
  timeKind,
  tokenKind,
} from './setting-kind.ts';

const WORKERS_MAX = 256;
const RETENTION_DAYS_MAX = 3650;

/** Groups of settings, in the order in which help and documents have them. */
export const SUBJECTS = [
  'Network',
  'Storage',
  'Memory and threads',
  'Sources and queries',
  'Quotas of projects',
  'Tokens',
  'Tests',
] as const;

type Value = string | number | readonly Source[];

/** One setting, and all that is said of it anywhere. */
export type Setting<T extends Value | undefined = Value | undefined> = {
  /** The environment variable. Users have it in their configuration: it never changes. */
  readonly variable: string;
  readonly subject: (typeof SUBJECTS)[number];
  /** One sentence without its final stop, for help and documents. */
  readonly summary: string;
  /** Further sentences in Markdown, for `docs/configuration.md`. */
  readonly details?: string;
  readonly kind: SettingKind<Exclude<T, undefined>>;
  /** What a number counts, where `kind` does not say it. */
  readonly unit?: string;
  /** What holds where nothing is given, in words. */
  readonly defaultText: string;
  readonly defaultValue: (known: KnownBefore) => T;
  /** Its value is never shown, and it is never a flag: other users of a machine see flags. */
  readonly isSecret?: true;
  /** Whether `…_FILE` may name a file that holds the value. */
  readonly hasFile?: true;
  /** Another variable that means the same. */
  readonly alias?: string;
  /** A variable of the analytics container, read in the profile supabase where nothing else gives the setting. */
  readonly containerName?: string;
};

/** What is known when a default is taken: settings above it in the table. */
type KnownBefore = {
  readonly machineBytes: number;
  readonly memoryBytesMax?: number;
};

const QUOTA_DETAILS =
  'All tokens that are bound to the project alone share it; a token with [its own quota](tokens-and-tenants.md#quotas) is not held to it.';

/** Every setting, by its name in `Settings`. */
export const SETTING_TABLE = {
  /** 0 lets the system choose. */
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
  dataDir: setting({
    variable: 'DATA_DIR',
    subject: 'Storage',
    summary: 'folder for all that is stored',
    details: 'One process at a time uses it ([what it holds](operations.md#the-data-folder)).',
    kind: textKind('DIR', 'a path'),
    defaultText: './data',
  }),
  retentionDays: setting({
    variable: 'RETENTION_DAYS',
    subject: 'Storage',
    summary: 'days that logs are kept',
    kind: integerKind(1, RETENTION_DAYS_MAX),
    unit: 'days',
    defaultText: '90',
  }),
  /** Bytes for the whole process. */
  memoryBytesMax: derived<number>({
    variable: 'MEMORY_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory of the process',
    details:
      'The process takes up to 150 MB beside it, and below 2 GiB, while posts of more than 2 MiB are decoded, what decoding takes: some 120 MB for 12 MB of usual logs. Logs that do not fit stay in their files and are read again when a query needs them. The limits of queries, answers and bodies [follow from it](../ARCHITECTURE.md#memory). Outside of the image [set the memory allocator, too](operations.md#memory-outside-of-the-image).',
    kind: bytesKind(MEMORY_BYTES_MIN, 'at least 256MiB'),
    defaultText: 'half of the memory of the machine, or of its container',
    defaultValue: ({ machineBytes }) => Math.max(Math.floor(machineBytes / 2), MEMORY_BYTES_MIN),
  }),
  /** Bytes of kept answers; with 0 every call runs. */
  cacheBytesMax: derived<number>({
    variable: 'CACHE_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory for kept answers; with 0 every call runs its query',
    kind: bytesKind(0, 'or 0'),
    defaultText: '64MiB, at most a thirty-second of MEMORY_LIMIT',
    defaultValue: (known) => defaultCacheBytes(getMemoryBytes(known)),
  }),
  /** Bytes of remembered states of sealed segments; with 0 every row is looked at. */
  memoBytesMax: derived<number>({
    variable: 'MEMO_LIMIT',
    subject: 'Memory and threads',
    summary: 'memory for partial results of sealed segments; with 0 every query reads every row',
    details: 'With `0` nothing that earlier calls found out is used.',
    kind: bytesKind(0, 'or 0'),
    defaultText: '64MiB, at most a thirty-second of MEMORY_LIMIT',
    defaultValue: (known) => defaultMemoBytes(getMemoryBytes(known)),
  }),
  workerCount: optional({
    variable: 'WORKERS',
    subject: 'Memory and threads',
    summary: 'threads that run queries, and seal and merge segments',
    details:
      'There are fewer where `MEMORY_LIMIT` has no room for them. Up to three times as many more hold paused queries.',
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
  /** Sources beside the nine; the default one is among them where it is none of those. */
  sources: derived<readonly Source[]>({
    variable: 'SOURCES',
    subject: 'Sources and queries',
    summary: 'sources beside the nine built in',
    details:
      'The path behind the colon is where an event names its project; without it that is the field `project`. More can be [made while weir runs](ingest.md#add-your-own).',
    kind: sourcesKind(),
    defaultText: 'none',
    defaultValue: () => [],
  }),
  /** Name of the source of senders who name none. */
  defaultSource: setting({
    variable: 'DEFAULT_SOURCE',
    subject: 'Sources and queries',
    summary: 'source of senders that name none: OpenTelemetry, Elasticsearch, Loki',
    details: 'It is added where there is no such source.',
    kind: textKind('NAME', 'the name of a source'),
    defaultText: 'logs',
  }),
  projectEventsPerDay: optional({
    variable: 'PROJECT_EVENTS_PER_DAY',
    subject: 'Quotas of projects',
    summary: 'events that may be posted of each project on a UTC day',
    details: QUOTA_DETAILS,
    kind: countKind(),
    unit: 'events',
    defaultText: 'no limit',
  }),
  projectBytesPerDay: optional({
    variable: 'PROJECT_BYTES_PER_DAY',
    subject: 'Quotas of projects',
    summary: 'bytes before compression that may be posted of each project on a UTC day',
    details: QUOTA_DETAILS,
    kind: bytesKind(1, 'at least 1'),
    defaultText: 'no limit',
  }),
  projectStoredBytes: optional({
    variable: 'PROJECT_STORED_BYTES',
    subject: 'Quotas of projects',
    summary: 'bytes before compression that may be posted of each project within the retention',
    details: QUOTA_DETAILS,
    kind: bytesKind(1, 'at least 1'),
    defaultText: 'no limit',
  }),
  publicAccessToken: optional({
    variable: 'PUBLIC_ACCESS_TOKEN',
    subject: 'Tokens',
    summary: 'token that may post logs',
    kind: tokenKind(),
    defaultText: 'made and printed at the first start',
    isSecret: true,
    hasFile: true,
    alias: 'LOGFLARE_PUBLIC_ACCESS_TOKEN',
  }),
  privateAccessToken: optional({
    variable: 'PRIVATE_ACCESS_TOKEN',
    subject: 'Tokens',
    summary: 'token that may do everything',
    kind: tokenKind(),
    defaultText: 'made and printed at the first start',
    isSecret: true,
    hasFile: true,
    alias: 'LOGFLARE_PRIVATE_ACCESS_TOKEN',
  }),
  /** Microseconds since the epoch at which the clock stands still. */
  frozenNowUs: optional({
    variable: 'FROZEN_NOW',
    subject: 'Tests',
    summary: 'time at which the clock of queries and events stands still',
    kind: timeKind(),
    defaultText: 'none: the clock of the machine',
  }),
} as const;

export type SettingTable = typeof SETTING_TABLE;
export type SettingKey = keyof SettingTable;

/** All settings, with their keys. */
export const SETTINGS = Object.entries(SETTING_TABLE) as readonly (readonly [
  SettingKey,
  Setting,
])[];

/**
 * In the profile supabase it stands for the token that is missing, the private first: it was the container's one token
 * before there were two, and is the public one since.
 */
export const CONTAINER_KEY = 'LOGFLARE_API_KEY';

/** The flag of `weir start` that gives a setting: `memory-limit`. */
export function formatFlag({ variable }: Pick<Setting, 'variable'>): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/** The variables in which a setting is looked for, in their order, those that name files left out. */
export function listVariables({ variable, alias }: Setting): readonly string[] {
  return alias === undefined ? [variable] : [variable, alias];
}

/** Which values a setting takes, in words. */
export function valueText({ kind, unit }: Setting): string {
  return unit === undefined ? kind.allowed : `${kind.allowed} (${unit})`;
}

/** The variables that may name a file with the value. */
export function listFileVariables(setting: Setting): readonly string[] {
  return setting.hasFile === true ? listVariables(setting).map((name) => `${name}_FILE`) : [];
}

/** Every variable of the environment that is read, in any profile. */
export const VARIABLES_READ: readonly string[] = [
  ...SETTINGS.flatMap(([, each]) => [
    ...listVariables(each),
    ...listFileVariables(each),
    ...(each.containerName === undefined ? [] : [each.containerName]),
  ]),
  ...[CONTAINER_KEY, `${CONTAINER_KEY}_FILE`],
];

/** A setting whose default is a text as a user would give it. */
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

/** A setting whose default is no text, or follows from others. */
function derived<T extends Value>(entry: Setting<T>): Setting<T> {
  return entry;
}

function getMemoryBytes({ memoryBytesMax }: KnownBefore): number {
  return must(memoryBytesMax, 'MEMORY_LIMIT stands above what depends on it');
}
