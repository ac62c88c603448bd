import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { flagOf, SETTINGS, valueText } from '../../../src/setting-table.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';

type Given = {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
};

/** Starts the service in a folder of its own, on a free port, and ends it when it listens. */
async function startAndEnd({ flags = [], environment = {} }: Given): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-'));
  const end = new AbortController();
  try {
    return await runWeir(['start', '--data-dir', join(folder, 'data'), ...flags], {
      environment: { PORT: '0', WORKERS: '1', ...environment },
      ended: end.signal,
      seen: (out) => {
        if (out.includes('listens on')) end.abort();
      },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('settings are given as flags, which win over the environment', async () => {
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

test('a wrong flag is a usage error with its name, what is allowed and what was got', async () => {
  const words = ['start', '--port', '65536', '--memo-limit', 'x', '--host='];
  const { status, out, err } = await runWeir(words, { environment: { WORKERS: '0' } });
  deepEqual([status, out], [2, '']);
  deepEqual(err.split('\n').slice(0, 4), [
    '--port must be a whole number from 0 to 65535; got "65536"',
    '--host must be an IP address or a host name; got ""',
    '--memo-limit must be a number of bytes such as 512MB or 1GiB, or 0; got "x"',
    'WORKERS must be a whole number from 1 to 256; got "0"',
  ]);
  const kept = await runWeir(['start', '--cache-limit', '1GiB'], {
    environment: { MEMORY_LIMIT: '1GiB' },
  });
  equal(kept.status, 2);
  match(kept.err, /^--cache-limit and MEMO_LIMIT may be \d+ bytes together with a MEMORY_LIMIT of/);
});

test('a variable with a slip in its name is a warning with the near name, and stops nothing', async () => {
  const { status, out, err } = await startAndEnd({ environment: { MEMORY_LIMT: '1GiB' } });
  equal(status, 0, err);
  match(out, /^ {2}warning +the variable MEMORY_LIMT is not read; did you mean MEMORY_LIMIT\?$/m);
});

test('where the start fails, it names variables with slips, too', async () => {
  const environment = { DTA_DIR: '/x', WORKERS: '0' };
  const { status, err } = await runWeir(['start'], { environment });
  equal(status, 1);
  match(
    err,
    /^weir cannot go on:\n\n {2}WORKERS .*\n {2}the variable DTA_DIR is not read; did you mean DATA_DIR\?\n$/,
  );
});

test('the help has every setting with its variable, value and default, and every flag but those of secrets', async () => {
  const { out } = await runWeir(['start', '--help']);
  const text = out.replaceAll(/\s+/g, ' ');
  for (const [, setting] of SETTINGS) {
    const { variable, kind, defaultText, isSecret } = setting;
    const flag = `--${flagOf(setting)} ${kind.placeholder}, ${variable} `;
    equal(text.includes(flag), isSecret !== true, flag);
    ok(text.includes(` ${variable}`), variable);
    ok(text.includes(` Value: ${valueText(setting)}. Default: ${defaultText}.`), variable);
    equal(text.includes(` ${variable}_FILE`), setting.hasFile === true);
  }
});
