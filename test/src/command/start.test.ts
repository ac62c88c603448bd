import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatFlag, SETTINGS, valueText } from '../../../src/setting-table.ts';
import { packageVersion } from '../../../src/version.ts';
import { curlRequest } from '../../readme/curl-request.ts';
import { shellWords } from '../../readme/shell-words.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';

type Given = {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
};

/** Starts the service in its own folder, on a free port, and stops it once it listens. */
async function startAndEnd({
  flags = [],
  environment = {},
  isTerminal = true,
}: Given): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  const end = new AbortController();
  try {
    return await runWeir(['start', '--data-dir', join(folder, 'data'), ...flags], {
      environment: { PORT: '0', WORKERS: '1', ...environment },
      ended: end.signal,
      isTerminal,
      seen: (out) => {
        if (out.includes('listens on') || out.includes('listening')) end.abort();
      },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('settings are given as flags, which override the environment', async () => {
  const { status, out, err } = await startAndEnd({
    flags: ['--retention-days', '7', '--memory-limit=512MiB', '--sources', 'a.b'],
    environment: { RETENTION_DAYS: 'wrong', DATA_DIR: '/nowhere/at/all', SOURCES: 'c.d' },
  });
  equal(status, 0, err);
  match(out, /kept for 7 days\n/);
  match(out, /at most 512\.0 MiB \(MEMORY_LIMIT\)/);
  match(out, /^ +a\.b$/m);
  ok(!out.includes('c.d'));
});

test('a wrong flag is a usage error with its name, the allowed values and the given one', async () => {
  const words = ['start', '--port', '65536', '--memo-limit', 'x', '--host='];
  const environment = { WORKERS: '0' };
  const { status, out, err } = await runWeir(words, { environment, isTerminal: true });
  deepEqual([status, out], [2, '']);
  deepEqual(err.split('\n').slice(0, 4), [
    '--port must be a whole number from 0 to 65535; got "65536"',
    '--host must be an IP address or a host name; got ""',
    '--memo-limit must be a number of bytes such as 512MB or 1GiB, or 0; got "x"',
    'WORKERS must be a whole number from 1 to 256; got "0"',
  ]);
  const kept = await runWeir(['start', '--cache-limit', '1GiB'], {
    environment: { MEMORY_LIMIT: '1GiB' },
    isTerminal: true,
  });
  equal(kept.status, 2);
  match(kept.err, /^--cache-limit and MEMO_LIMIT may be \d+ bytes together with a MEMORY_LIMIT of/);
});

test('a misspelled variable is a warning with the nearest name and does not stop the start', async () => {
  const { status, out, err } = await startAndEnd({ environment: { MEMORY_LIMT: '1GiB' } });
  equal(status, 0, err);
  match(out, /^ {2}warning +the variable MEMORY_LIMT is not read; did you mean MEMORY_LIMIT\?$/m);
});

/** The objects of a log, one on each line. */
function entriesOf(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('at a terminal neither the message nor the log is JSON', async () => {
  const endpoints = await mkdtemp(join(tmpdir(), 'weir-'));
  try {
    await writeFile(join(endpoints, 'bad.sql'), '-- name: app.bad\nSELECT 1 AS x 2\n');
    const { status, out, err } = await startAndEnd({ environment: { ENDPOINTS_DIR: endpoints } });
    equal(status, 0, err);
    match(out, /^weir .* listens on http:/);
    match(err, /^\d\d:\d\d:\d\d error: definition_refused, file: bad\.sql, line: 2, column: 15, /m);
    match(err, /^\d\d:\d\d:\d\d started, url: http:.*, endpoints: 3$/m);
    const lines = `${out}${err}`.split('\n');
    deepEqual(
      lines.filter((line) => line.startsWith('{')),
      [],
    );
  } finally {
    await rm(endpoints, { recursive: true });
  }
});

test('without a terminal every line is a JSON object, including new tokens and their variables', async () => {
  const environment = { MEMORY_LIMT: '1GiB', FROZEN_NOW: '2026-01-15T12:00:00Z' };
  const { status, out, err } = await startAndEnd({ environment, isTerminal: false });
  equal(status, 0, err);
  const [listening, warning, ...made] = entriesOf(out);
  match(String(listening?.['url']), /^http:\/\/127\.0\.0\.1:\d+$/);
  deepEqual(
    ['event', 'version', 'frozen_now'].map((key) => listening?.[key]),
    ['listening', packageVersion(), '2026-01-15T12:00:00.000Z'],
  );
  match(String(listening?.['endpoints']), /\blogs\.all\b/);
  equal(warning?.['warning'], 'the variable MEMORY_LIMT is not read; did you mean MEMORY_LIMIT?');
  deepEqual(
    made.map(({ event, name, variable }) => [event, name, variable]),
    [
      ['token_made', 'private', 'PRIVATE_ACCESS_TOKEN'],
      ['token_made', 'public', 'PUBLIC_ACCESS_TOKEN'],
    ],
  );
  for (const { token } of made) {
    match(String(token), /^weir_[0-9A-Za-z]{49}$/);
    ok(!err.includes(String(token)));
  }
  ok(entriesOf(err).some(({ event }) => event === 'started'));
});

test('without a terminal a failed start is reported as a line of JSON', async () => {
  for (const [words, environment, status, error] of [
    [['start'], { WORKERS: '0' }, 1, 'WORKERS must be a whole number from 1 to 256; got "0"'],
    [['start', '--port', 'x'], {}, 2, '--port must be a whole number from 0 to 65535; got "x"'],
    [['start', '--prot', '1'], {}, 2, 'start has no flag "--prot"; did you mean --port?'],
  ] as const) {
    const ended = await runWeir(words, { environment });
    deepEqual([ended.status, ended.out], [status, '']);
    const [entry, ...others] = entriesOf(ended.err);
    deepEqual([entry?.['event'], entry?.['level'], others], ['start_failed', 'error', []]);
    equal(entry?.['error'], error);
  }
});

test('the lines shown at a terminal work when pasted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  const end = new AbortController();
  let answer: Promise<unknown> | undefined;
  try {
    const { status, err } = await runWeir(['start', '--data-dir', join(folder, 'data')], {
      environment: { PORT: '0', WORKERS: '1' },
      ended: end.signal,
      isTerminal: true,
      seen: (out) => {
        const curl = /^curl .*\n.*\n.*$/m.exec(out)?.[0];
        if (curl === undefined || answer !== undefined) return;
        const exported = Array.from(out.matchAll(/^export (\w+)=(\S+)$/gm), (found) => found);
        const variables = Object.fromEntries(exported.map(([, name, token]) => [name, token]));
        deepEqual(Object.keys(variables).sort(), ['PRIVATE_ACCESS_TOKEN', 'PUBLIC_ACCESS_TOKEN']);
        const words = shellWords(curl, { variables, now: new Date() });
        const { url, ...request } = curlRequest(words.slice(1));
        equal(url.hostname, '127.0.0.1');
        const { method, headers, body = null } = request;
        answer = fetch(url, { method, headers, body })
          .then(async (response) => [response.status, await response.json()])
          .finally(() => end.abort());
      },
    });
    equal(status, 0, err);
    deepEqual(await answer, [200, { message: 'Logged!' }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a failed start also reports misspelled variables', async () => {
  const environment = { DTA_DIR: '/x', WORKERS: '0' };
  const { status, err } = await runWeir(['start'], { environment, isTerminal: true });
  equal(status, 1);
  match(
    err,
    /^weir cannot go on:\n\n {2}WORKERS .*\n {2}the variable DTA_DIR is not read; did you mean DATA_DIR\?\n$/,
  );
});

test('the help has every setting with its variable, value and default, and every flag except those of secrets', async () => {
  const { out } = await runWeir(['start', '--help']);
  const text = out.replaceAll(/\s+/g, ' ');
  for (const [, setting] of SETTINGS) {
    const { variable, kind, defaultText, isSecret } = setting;
    const flag = `--${formatFlag(setting)} ${kind.placeholder}, ${variable} `;
    equal(text.includes(flag), isSecret !== true, flag);
    ok(text.includes(` ${variable}`), variable);
    ok(text.includes(` Value: ${valueText(setting)}. Default: ${defaultText}.`), variable);
    equal(text.includes(` ${variable}_FILE`), setting.hasFile === true);
  }
});
