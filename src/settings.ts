import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { BUILT_IN_SOURCES, type Source, sourcesFrom } from '../ingest/source.ts';
import type { Quota } from './access/quotas.ts';
import { parseIsoTimestampUs } from './definition/iso-timestamp.ts';
import { echo, oneOf } from './echo.ts';
import { machineMemoryBytes } from './machine-memory.ts';
import {
  defaultCacheBytes,
  defaultMemoBytes,
  divideMemory,
  MEMORY_BYTES_MIN,
} from './memory-shares.ts';
import { PROFILE_NAMES, type ProfileName } from './profile.ts';

/** Environment variables as `process.env` gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Settings = {
  /** 0 lets the system choose. */
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly profile: ProfileName;
  readonly endpointsDir: string | undefined;
  readonly publicAccessToken: string | undefined;
  readonly privateAccessToken: string | undefined;
  /** Bytes for the whole process. */
  readonly memoryBytesMax: number;
  /** Bytes of kept answers; with 0 every call runs. */
  readonly cacheBytesMax: number;
  /** Bytes of remembered states of sealed segments; with 0 every row is looked at. */
  readonly memoBytesMax: number;
  readonly retentionDays: number;
  /** How much may be posted of each project, where its token has no quota of its own. */
  readonly projectQuota: Quota;
  /** Sources beside the nine; the default one is among them where it is none of those. */
  readonly sources: readonly Source[];
  /** Name of the source of senders who name none. */
  readonly defaultSource: string;
  /** Microseconds since the epoch at which the clock stands still. */
  readonly frozenNowUs: number | undefined;
  readonly workerCount: number | undefined;
};

/** Everything that is wrong with the environment, one sentence a line. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

const WORKERS_MAX = 256;
const RETENTION_DAYS_MAX = 3650;

const UNIT_BYTES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['B', 1],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
  ['KIB', 2 ** 10],
  ['MIB', 2 ** 20],
  ['GIB', 2 ** 30],
  ['TIB', 2 ** 40],
]);

/** Further names a setting may be given under; each has a `…_FILE` form too. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['PUBLIC_ACCESS_TOKEN', 'LOGFLARE_PUBLIC_ACCESS_TOKEN'],
  ['PRIVATE_ACCESS_TOKEN', 'LOGFLARE_PRIVATE_ACCESS_TOKEN'],
]);

const SCHEMA = z.object({
  PORT: integer(0, 65_535).default(4000),
  HOST: z.string().default('127.0.0.1'),
  DATA_DIR: z.string().default('./data'),
  PROFILE: parsed(oneOf(PROFILE_NAMES), (text) =>
    PROFILE_NAMES.find((name) => name === text),
  ).default('default'),
  ENDPOINTS_DIR: z.string().optional(),
  PUBLIC_ACCESS_TOKEN: token().optional(),
  PRIVATE_ACCESS_TOKEN: token().optional(),
  MEMORY_LIMIT: parsed(
    'a number of bytes such as 2147483648, 512MB or 2GiB, at least 256MiB',
    parseMemory,
  ).optional(),
  CACHE_LIMIT: parsed('a number of bytes such as 512MB or 1GiB, or 0', parseBytes).optional(),
  MEMO_LIMIT: parsed('a number of bytes such as 64MB or 1GiB, or 0', parseBytes).optional(),
  PROJECT_EVENTS_PER_DAY: parsed('a whole number from 1 on', parseCount).optional(),
  PROJECT_BYTES_PER_DAY: parsed(
    'a number of bytes such as 512MB or 1GiB, at least 1',
    parseQuotaBytes,
  ).optional(),
  PROJECT_STORED_BYTES: parsed(
    'a number of bytes such as 512MB or 1GiB, at least 1',
    parseQuotaBytes,
  ).optional(),
  RETENTION_DAYS: integer(1, RETENTION_DAYS_MAX).default(90),
  SOURCES: z.string().transform(parseSources).default([]),
  DEFAULT_SOURCE: z.string().default('logs'),
  FROZEN_NOW: parsed('an ISO 8601 time such as 2026-01-15T12:00:00Z', parseNowUs).optional(),
  WORKERS: integer(1, WORKERS_MAX).optional(),
});

/**
 * The settings an environment gives. An empty variable counts as absent. `machineBytes`: the memory
 * there is, half of which is taken where nothing is said.
 *
 * @throws SettingsError with every problem at once.
 */
export function parseSettings(
  environment: Environment,
  machineBytes: number = machineMemoryBytes(),
): Settings {
  const problems: string[] = [];
  const given: Record<string, string> = {};
  for (const name of Object.keys(SCHEMA.shape)) {
    const text = ALIASES.has(name)
      ? findSecret(environment, name, problems)
      : environment[name]?.trim();
    if (text !== undefined && text !== '') given[name] = text;
  }
  if (given['PROFILE'] === 'supabase') addContainerSettings(environment, given, problems);
  const result = SCHEMA.safeParse(given);
  if (!result.success) {
    problems.push(
      ...result.error.issues.map((issue) => `${String(issue.path[0])}${issue.message}`),
    );
  }
  if (given['PUBLIC_ACCESS_TOKEN'] !== undefined) {
    if (given['PUBLIC_ACCESS_TOKEN'] === given['PRIVATE_ACCESS_TOKEN']) {
      problems.push('PUBLIC_ACCESS_TOKEN must differ from PRIVATE_ACCESS_TOKEN; got the same');
    }
  }
  const { sources, problem } = withDefaultSource(result.data);
  if (problem !== undefined) problems.push(problem);
  if (problems.length > 0 || !result.success) throw new SettingsError(problems);
  const values = result.data;
  const memoryBytesMax = values.MEMORY_LIMIT ?? defaultMemoryBytes(machineBytes);
  const kept = {
    cacheBytesMax: values.CACHE_LIMIT ?? defaultCacheBytes(memoryBytesMax),
    memoBytesMax: values.MEMO_LIMIT ?? defaultMemoBytes(memoryBytesMax),
  };
  checkKept(memoryBytesMax, kept, values.WORKERS);
  return {
    port: values.PORT,
    host: values.HOST,
    dataDir: values.DATA_DIR,
    profile: values.PROFILE,
    endpointsDir: values.ENDPOINTS_DIR,
    publicAccessToken: values.PUBLIC_ACCESS_TOKEN,
    privateAccessToken: values.PRIVATE_ACCESS_TOKEN,
    memoryBytesMax,
    ...kept,
    retentionDays: values.RETENTION_DAYS,
    projectQuota: {
      events: values.PROJECT_EVENTS_PER_DAY,
      bytes: values.PROJECT_BYTES_PER_DAY,
      stored_bytes: values.PROJECT_STORED_BYTES,
    },
    sources,
    defaultSource: values.DEFAULT_SOURCE,
    frozenNowUs: values.FROZEN_NOW,
    workerCount: values.WORKERS,
  };
}

/** @throws SettingsError where what is kept would leave too little memory for all else. */
function checkKept(
  memoryBytesMax: number,
  kept: Pick<Settings, 'cacheBytesMax' | 'memoBytesMax'>,
  workerCount: number | undefined,
): void {
  const { spareBytes } = divideMemory({ memoryBytesMax, workerCount, ...kept });
  if (spareBytes >= 0) return;
  const keptBytes = kept.cacheBytesMax + kept.memoBytesMax;
  throw new SettingsError([
    `CACHE_LIMIT and MEMO_LIMIT may be ${keptBytes + spareBytes} bytes together with a MEMORY_LIMIT of ${memoryBytesMax} bytes; got ${keptBytes}`,
  ]);
}

/** All sources that are added, with the default one where it is none that there is. */
function withDefaultSource(
  values: { readonly SOURCES: readonly Source[]; readonly DEFAULT_SOURCE: string } | undefined,
): { readonly sources: readonly Source[]; readonly problem?: string | undefined } {
  if (values === undefined) return { sources: [] };
  const { SOURCES: sources, DEFAULT_SOURCE: name } = values;
  const isThere = [...BUILT_IN_SOURCES, ...sources].some((source) => source.name === name);
  if (isThere) return { sources };
  const added = sourcesFrom(name);
  const [problem] = added.errors;
  return {
    sources: [...sources, ...added.sources],
    problem: problem && `DEFAULT_SOURCE: ${problem}`,
  };
}

/**
 * What the analytics container reads under other names. `LOGFLARE_API_KEY` was its one token before
 * there were two, and is the public one since: it stands for the one that is missing, the private first.
 */
function addContainerSettings(
  environment: Environment,
  given: Record<string, string>,
  problems: string[],
): void {
  const port = environment['PHX_HTTP_PORT']?.trim() ?? '';
  if (given['PORT'] === undefined && port !== '') given['PORT'] = port;
  const key = findSecret(environment, 'LOGFLARE_API_KEY', problems) ?? '';
  const tokens = ['PRIVATE_ACCESS_TOKEN', 'PUBLIC_ACCESS_TOKEN'];
  const missing = tokens.find((name) => given[name] === undefined);
  if (key === '' || missing === undefined) return;
  // Where it is the other token by a second name, it opens nothing more.
  if (tokens.every((name) => given[name] !== key)) given[missing] = key;
}

/** The other half is for the system's cache of files, and for what else runs there. */
function defaultMemoryBytes(machineBytes: number): number {
  return Math.max(Math.floor(machineBytes / 2), MEMORY_BYTES_MIN);
}

/** A secret under its name, its alias, or in a file that `…_FILE` names; all must agree. */
function findSecret(
  environment: Environment,
  name: string,
  problems: string[],
): string | undefined {
  const found = new Map<string, string>();
  for (const variable of [name, ALIASES.get(name)]) {
    if (variable === undefined) continue;
    const text = environment[variable]?.trim();
    if (text !== undefined && text !== '') found.set(variable, text);
    const path = environment[`${variable}_FILE`]?.trim();
    if (path === undefined || path === '') continue;
    try {
      found.set(`${variable}_FILE`, readFileSync(path, 'utf8').trim());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`${variable}_FILE must name a file that can be read; got ${reason}`);
    }
  }
  const [first, ...others] = new Set(found.values());
  if (others.length > 0) {
    problems.push(
      `${name} is given more than once, with different values: ${[...found.keys()].join(', ')}`,
    );
  }
  const fromFile = [...found.keys()].find((variable) => found.get(variable) === '');
  if (fromFile !== undefined) problems.push(`${fromFile} names an empty file`);
  return first;
}

/** A text that `parse` reads; `undefined` from it is an error that says what is `allowed`. */
function parsed<T>(
  allowed: string,
  parse: (text: string) => T | undefined,
): z.ZodPipe<z.ZodString, z.ZodTransform<T, string>> {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: ` must be ${allowed}; got ${echo(text)}` });
    return z.NEVER;
  });
}

function integer(min: number, max: number): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return parsed(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

/** What travels in a header: visible ASCII. A wrong token is not repeated. */
function token(): z.ZodString {
  return z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/, ' must be 1 to 1024 visible ASCII characters without spaces');
}

function parseMemory(text: string): number | undefined {
  const bytes = parseBytes(text);
  return bytes !== undefined && bytes >= MEMORY_BYTES_MIN ? bytes : undefined;
}

function parseCount(text: string): number | undefined {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return count >= 1 ? count : undefined;
}

function parseQuotaBytes(text: string): number | undefined {
  const bytes = parseBytes(text);
  return bytes !== undefined && bytes >= 1 ? bytes : undefined;
}

/** `undefined` for what is not a number of bytes. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d{1,15}(?:\.\d{1,3})?)\s*([a-z]*)$/i.exec(text);
  const unitBytes = UNIT_BYTES.get((match?.[2] ?? '').toUpperCase());
  if (match === null || unitBytes === undefined) return undefined;
  const bytes = Math.floor(Number(match[1]) * unitBytes);
  return bytes <= Number.MAX_SAFE_INTEGER ? bytes : undefined;
}

function parseSources(text: string, context: z.RefinementCtx): readonly Source[] {
  const { sources, errors } = sourcesFrom(text);
  for (const error of errors) context.addIssue({ code: 'custom', message: `: ${error}` });
  return sources;
}

function parseNowUs(text: string): number | undefined {
  const us = parseIsoTimestampUs(text);
  return typeof us === 'number' && us >= 0 ? us : undefined;
}
