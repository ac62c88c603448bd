import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unneededSettings } from '../../src/container-settings.ts';
import { machineMemoryBytes } from '../../src/machine-memory.ts';
import { type Environment, parseSettings, SettingsError } from '../../src/settings.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    parseSettings(environment);
  } catch (error) {
    assert(error instanceof SettingsError);
    return error.problems;
  }
  return [];
}

function withFile(text: string, work: (path: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'weir-'));
  const path = join(folder, 'secret');
  writeFileSync(path, text);
  try {
    work(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('an empty environment gives the documented defaults', () => {
  const { sources, ...others } = parseSettings(
    { PORT: '', SOURCES: '  ' },
    { machineBytes: 8 * 2 ** 30 },
  );
  assert.deepEqual(
    sources.map(({ name }) => name),
    ['logs'],
  );
  assert.deepEqual(others, {
    port: 4000,
    host: '127.0.0.1',
    otlpGrpcPort: undefined,
    dataDir: './data',
    profile: 'default',
    endpointsDir: undefined,
    publicAccessToken: undefined,
    privateAccessToken: undefined,
    vercelDrainSecret: undefined,
    memoryBytesMax: 4 * 2 ** 30,
    cacheBytesMax: 64 * 2 ** 20,
    memoBytesMax: 64 * 2 ** 20,
    retentionDays: 90,
    store: 'embedded',
    clickhouseUrl: undefined,
    clickhouseUser: 'default',
    clickhousePassword: undefined,
    clickhouseDatabase: 'default',
    clickhouseCluster: undefined,
    projectEventsPerDay: undefined,
    projectBytesPerDay: undefined,
    projectStoredBytes: undefined,
    defaultSource: 'logs',
    frozenNowUs: undefined,
    workerCount: undefined,
  });
});

test('quotas of projects are counts and bytes, at least one', () => {
  const given = {
    PROJECT_EVENTS_PER_DAY: '1000000',
    PROJECT_BYTES_PER_DAY: '10GB',
    PROJECT_STORED_BYTES: '1TB',
  };
  const settings = parseSettings(given);
  assert.equal(settings.projectEventsPerDay, 1_000_000);
  assert.equal(settings.projectBytesPerDay, 1e10);
  assert.equal(settings.projectStoredBytes, 1e12);
  for (const text of ['0', '-1', '1.5e3', 'many']) {
    const wrong = {
      PROJECT_EVENTS_PER_DAY: text,
      PROJECT_BYTES_PER_DAY: text,
      PROJECT_STORED_BYTES: text,
    };
    assert.deepEqual(problemsOf(wrong), [
      `PROJECT_EVENTS_PER_DAY must be a whole number from 1; got "${text}"`,
      `PROJECT_BYTES_PER_DAY must be a number of bytes such as 512MB or 1GiB, at least 1; got "${text}"`,
      `PROJECT_STORED_BYTES must be a number of bytes such as 512MB or 1GiB, at least 1; got "${text}"`,
    ]);
  }
});

test('all invalid settings are reported together, with the given and the allowed values', () => {
  const problems = problemsOf({
    PORT: '65536',
    PROFILE: 'prod',
    MEMORY_LIMIT: '2 apples',
    RETENTION_DAYS: '0',
    FROZEN_NOW: 'yesterday',
    WORKERS: '1.5',
    SOURCES: 'postgres.logs',
    PRIVATE_ACCESS_TOKEN: 'has a space',
  });
  assert.equal(problems.length, 8);
  assert.match(problems.find((problem) => problem.startsWith('PORT'))!, /0 to 65535; got "65536"/);
  assert.match(problems.find((problem) => problem.startsWith('PROFILE'))!, /default or supabase/);
  assert.match(problems.find((problem) => problem.startsWith('SOURCES'))!, /is taken/);
  const tokenProblem = problems.find((problem) => problem.startsWith('PRIVATE_ACCESS_TOKEN'))!;
  assert.doesNotMatch(tokenProblem, /has a space/);
});

for (const [text, bytes] of [
  ['268435456', 268_435_456],
  ['512MB', 512e6],
  ['2GiB', 2 * 2 ** 30],
  ['1.5 gb', 1.5e9],
] as const) {
  test(`MEMORY_LIMIT accepts ${text}`, () => {
    assert.equal(parseSettings({ MEMORY_LIMIT: text }).memoryBytesMax, bytes);
  });
}

test('MEMORY_LIMIT defaults to half of the memory, but at least its minimum', () => {
  assert.equal(parseSettings({}, { machineBytes: 2 ** 30 }).memoryBytesMax, 2 ** 29);
  assert.equal(parseSettings({}, { machineBytes: 100 * 2 ** 20 }).memoryBytesMax, 256 * 2 ** 20);
  assert.equal(
    parseSettings({ MEMORY_LIMIT: '1GiB' }, { machineBytes: 2 ** 40 }).memoryBytesMax,
    2 ** 30,
  );
});

test('the available memory is the container’s limit if there is one, and at most the machine’s', () => {
  assert.equal(machineMemoryBytes(8e9, 2e9), 2e9);
  assert.equal(machineMemoryBytes(8e9, 2 ** 64), 8e9);
  assert.equal(machineMemoryBytes(8e9, 0), 8e9);
});

test('MEMO_LIMIT accepts bytes from 0 on', () => {
  assert.equal(parseSettings({ MEMORY_LIMIT: '4GiB' }).memoBytesMax, 2 ** 26);
  assert.equal(parseSettings({ MEMORY_LIMIT: '256MiB' }).memoBytesMax, 2 ** 23);
  assert.equal(parseSettings({ MEMO_LIMIT: '0' }).memoBytesMax, 0);
  assert.equal(parseSettings({ MEMORY_LIMIT: '8GiB', MEMO_LIMIT: '1GiB' }).memoBytesMax, 2 ** 30);
  assert.match(problemsOf({ MEMO_LIMIT: '-1' }).join(), /MEMO_LIMIT must be .*or 0; got "-1"/);
});

test('kept data may not take the memory of everything else', () => {
  const [problem, ...others] = problemsOf({ MEMORY_LIMIT: '1GiB', CACHE_LIMIT: '1GiB' });
  assert.match(
    problem!,
    /^CACHE_LIMIT and MEMO_LIMIT may be \d+ bytes together with a MEMORY_LIMIT of 1073741824 bytes; got 1107296256$/,
  );
  assert.deepEqual(others, []);
  // The maximum in the message is accepted.
  const bytes = Number(/may be (\d+)/.exec(problem!)![1]);
  const kept = { MEMORY_LIMIT: '1GiB', MEMO_LIMIT: '0' };
  assert.equal(parseSettings({ ...kept, CACHE_LIMIT: `${bytes}` }).cacheBytesMax, bytes);
  assert.equal(problemsOf({ ...kept, CACHE_LIMIT: `${bytes + 1}` }).length, 1);
});

test('CACHE_LIMIT accepts bytes from 0 on', () => {
  assert.equal(parseSettings({ CACHE_LIMIT: '0' }).cacheBytesMax, 0);
  assert.equal(parseSettings({ CACHE_LIMIT: '1MiB' }).cacheBytesMax, 2 ** 20);
  assert.match(
    problemsOf({ CACHE_LIMIT: 'none' }).join(),
    /CACHE_LIMIT must be .*or 0; got "none"/,
  );
});

for (const text of ['268435455', '255MiB', '-1GB', '1XB', 'GB', '1e9']) {
  test(`MEMORY_LIMIT refuses ${text}`, () => {
    assert.equal(problemsOf({ MEMORY_LIMIT: text }).length, 1);
  });
}

test('the limits of PORT, RETENTION_DAYS and WORKERS are inclusive', () => {
  assert.equal(parseSettings({ PORT: '0' }).port, 0);
  assert.equal(parseSettings({ PORT: '65535' }).port, 65_535);
  assert.equal(parseSettings({ RETENTION_DAYS: '1' }).retentionDays, 1);
  assert.equal(parseSettings({ WORKERS: '1' }).workerCount, 1);
  assert.equal(problemsOf({ WORKERS: '0' }).length, 1);
});

test('FROZEN_NOW is parsed to the microsecond', () => {
  const { frozenNowUs } = parseSettings({ FROZEN_NOW: '2026-01-15T12:00:00.000001Z' });
  assert.equal(frozenNowUs, 1_768_478_400_000_001);
});

test('SOURCES adds sources, each with its rule', () => {
  const { sources } = parseSettings({ SOURCES: 'my.app, other:metadata.tenant' });
  assert.deepEqual(
    sources.map(({ name, projectPath }) => [name, projectPath]),
    [
      ['my.app', ['project']],
      ['other', ['metadata', 'tenant']],
      ['logs', ['project']],
    ],
  );
});

test('the default source is an existing one, or is added', () => {
  const namesOf = (environment: Environment): readonly string[] =>
    parseSettings(environment).sources.map(({ name }) => name);
  assert.deepEqual(namesOf({ DEFAULT_SOURCE: 'postgres.logs' }), []);
  assert.deepEqual(namesOf({ DEFAULT_SOURCE: 'a', SOURCES: 'a:metadata.tenant' }), ['a']);
  assert.deepEqual(namesOf({ DEFAULT_SOURCE: 'otel.logs' }), ['otel.logs']);
  assert.match(problemsOf({ DEFAULT_SOURCE: 'no name' }).join(), /^DEFAULT_SOURCE: a source name/);
});

test('a token may be given by its name, by its alias, or in a file', () => {
  assert.equal(parseSettings({ PUBLIC_ACCESS_TOKEN: 'a' }).publicAccessToken, 'a');
  assert.equal(parseSettings({ LOGFLARE_PRIVATE_ACCESS_TOKEN: 'b' }).privateAccessToken, 'b');
  withFile('from-a-file\n', (path) => {
    const settings = parseSettings({
      PRIVATE_ACCESS_TOKEN_FILE: path,
      LOGFLARE_PRIVATE_ACCESS_TOKEN: 'from-a-file',
      PUBLIC_ACCESS_TOKEN: '',
    });
    assert.equal(settings.privateAccessToken, 'from-a-file');
  });
});

test('a token given twice with two values, or in a missing or empty file, is refused', () => {
  assert.match(
    problemsOf({ PUBLIC_ACCESS_TOKEN: 'a', LOGFLARE_PUBLIC_ACCESS_TOKEN: 'b' }).join(),
    /more than once, with different values: PUBLIC_ACCESS_TOKEN, LOGFLARE_PUBLIC_ACCESS_TOKEN/,
  );
  assert.match(
    problemsOf({ PRIVATE_ACCESS_TOKEN_FILE: '/nowhere/x' }).join(),
    /must name a readable file/,
  );
  withFile('\n', (path) => {
    assert.match(problemsOf({ PRIVATE_ACCESS_TOKEN_FILE: path }).join(), /an empty file/);
  });
});

test('one token cannot be both the public and the private one', () => {
  assert.match(
    problemsOf({ PUBLIC_ACCESS_TOKEN: 'a', PRIVATE_ACCESS_TOKEN: 'a' }).join(),
    /must differ/,
  );
});

test('in the profile supabase LOGFLARE_API_KEY replaces a missing token', () => {
  const tokensOf = (environment: Record<string, string>) => {
    const settings = parseSettings({ PROFILE: 'supabase', ...environment });
    return [settings.publicAccessToken, settings.privateAccessToken];
  };
  const pair = { LOGFLARE_PUBLIC_ACCESS_TOKEN: 'a', LOGFLARE_PRIVATE_ACCESS_TOKEN: 'b' };
  assert.deepEqual(tokensOf(pair), ['a', 'b']);
  assert.deepEqual(tokensOf({ ...pair, LOGFLARE_API_KEY: 'c' }), ['a', 'b']);
  assert.deepEqual(tokensOf({ LOGFLARE_API_KEY: 'c' }), [undefined, 'c']);
  assert.deepEqual(tokensOf({ LOGFLARE_API_KEY: 'c', PRIVATE_ACCESS_TOKEN: 'b' }), ['c', 'b']);
  assert.deepEqual(tokensOf({ LOGFLARE_API_KEY: 'c', PUBLIC_ACCESS_TOKEN: 'a' }), ['a', 'c']);
  // The stack gives its public token to readers under the old name.
  assert.deepEqual(tokensOf({ LOGFLARE_API_KEY: 'a', PUBLIC_ACCESS_TOKEN: 'a' }), ['a', undefined]);
  withFile('from-a-file', (path) => {
    assert.deepEqual(tokensOf({ LOGFLARE_API_KEY_FILE: path }), [undefined, 'from-a-file']);
  });
  assert.equal(parseSettings({ LOGFLARE_API_KEY: 'c' }).privateAccessToken, undefined);
});

test('in the profile supabase PHX_HTTP_PORT is the port unless PORT is set', () => {
  const portOf = (environment: Record<string, string>) => parseSettings(environment).port;
  assert.equal(portOf({ PROFILE: 'supabase' }), 4000);
  assert.equal(portOf({ PROFILE: 'supabase', PHX_HTTP_PORT: '4001' }), 4001);
  assert.equal(portOf({ PROFILE: 'supabase', PHX_HTTP_PORT: '4001', PORT: '4002' }), 4002);
  assert.equal(portOf({ PHX_HTTP_PORT: '4001' }), 4000);
});

test('settings of the analytics container that weir ignores are recognised', () => {
  const environment = {
    DB_PASSWORD: 'secret',
    DB_HOSTNAME: 'db',
    LOGFLARE_SINGLE_TENANT: 'true',
    LOGFLARE_FEATURE_FLAG_OVERRIDE: 'multibackend=true',
    LOGFLARE_PUBLIC_ACCESS_TOKEN: 'a',
    LOGFLARE_PRIVATE_ACCESS_TOKEN_FILE: '/run/secrets/private',
    LOGFLARE_API_KEY: 'a',
    PHX_HTTP_PORT: '4000',
    POSTGRES_BACKEND_URL: 'postgresql://…',
    POSTGRES_PASSWORD: 'of another program',
    PATH: '/usr/bin',
  };
  assert.deepEqual(unneededSettings(environment), [
    'DB_HOSTNAME',
    'DB_PASSWORD',
    'LOGFLARE_FEATURE_FLAG_OVERRIDE',
    'LOGFLARE_SINGLE_TENANT',
    'POSTGRES_BACKEND_URL',
  ]);
});
