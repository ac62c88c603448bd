import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { must } from '../../engine/assert.ts';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';

const run = promisify(execFile);

/** Of Debian's package systemd-journal-remote. */
const [UPLOAD, REMOTE] = ['systemd-journal-upload', 'systemd-journal-remote'].map((name) =>
  must(
    [`/lib/systemd/${name}`, `/usr/lib/systemd/${name}`].find(existsSync) ?? '',
    'a path, or none',
  ),
) as [string, string];

const skip = (UPLOAD === '' || REMOTE === '') && 'install systemd-journal-remote';

const TIME_US = 1_768_478_100_000_000;
const MACHINE = '0123456789abcdef0123456789abcdef';
const BOOT = 'fedcba9876543210fedcba9876543210';

let folder: string;
let service: ServiceUnderTest;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-journal-'));
  service = await ServiceUnderTest.start({ DEFAULT_SOURCE: 'app.logs', SOURCES: 'app.logs' });
});
after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** An entry in the export format. */
function entry(index: number, fields: readonly (string | Uint8Array)[]): Buffer {
  const head = [
    `__CURSOR=s=${BOOT};i=${index};b=${BOOT};m=${index};t=${TIME_US + index};x=${index}`,
    `__REALTIME_TIMESTAMP=${TIME_US + index}`,
    `__MONOTONIC_TIMESTAMP=${index}`,
    `_BOOT_ID=${BOOT}`,
    `_MACHINE_ID=${MACHINE}`,
  ];
  const lines = [...head, ...fields].flatMap((field) => [Buffer.from(field), Buffer.from('\n')]);
  return Buffer.concat([...lines, Buffer.from('\n')]);
}

/** A journal with these entries, as systemd-journal-remote writes it. */
async function makeJournal(name: string, entries: readonly Buffer[]): Promise<string> {
  const path = join(folder, `${name}.journal`);
  const remote = spawn(REMOTE, ['-o', path, '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  const said: string[] = [];
  remote.stderr.on('data', (bytes: Buffer) => said.push(bytes.toString()));
  remote.stdin.end(Buffer.concat(entries));
  const [status] = await once(remote, 'close');
  assert.equal(status, 0, said.join(''));
  return path;
}

/** Uploads a journal to its end, with the token as password. */
function upload(path: string, state: string): Promise<{ readonly stderr: string }> {
  const url = new URL(service.url);
  url.username = 'weir';
  url.password = TOKEN;
  const options = [`--url=${url.href.replace(/\/$/, '')}`, `--file=${path}`, '--follow=no'];
  return run(UPLOAD, [...options, `--save-state=${state}`]);
}

async function rowsOf(): Promise<readonly unknown[]> {
  const sql =
    'SELECT event_message, timestamp, m._SYSTEMD_UNIT AS unit, m.PRIORITY AS priority FROM `app.logs`, UNNEST(metadata) AS m ORDER BY timestamp';
  const answer = await service.ask('POST', '/api/query', JSON.stringify({ sql, max_rows: 10_000 }));
  assert.equal(answer.status, 200, answer.text);
  return (JSON.parse(answer.text) as { readonly result: readonly unknown[] }).result;
}

test('systemd-journal-upload uploads a journal with texts and bytes, and keeps its place', {
  skip,
}, async () => {
  const size = Buffer.alloc(8);
  const bytes = Buffer.from('first\nsecond \xff', 'latin1');
  size.writeBigUInt64LE(BigInt(bytes.length));
  const message = Buffer.concat([Buffer.from('MESSAGE\n'), size, bytes]);
  const common = ['PRIORITY=3', '_SYSTEMD_UNIT=shop.service'];
  const entries = [
    entry(1, ['MESSAGE=order made', ...common]),
    entry(2, [message, ...common]),
    ...Array.from({ length: 2_000 }, (_, index) =>
      entry(index + 3, [`MESSAGE=order ${index} ${'x'.repeat(index % 100)}`, ...common]),
    ),
  ];
  const path = await makeJournal('mixed', entries);
  const state = join(folder, 'state');
  await upload(path, state);
  const rows = await rowsOf();
  assert.equal(rows.length, entries.length);
  assert.deepEqual(rows.slice(0, 3), [
    { event_message: 'order made', timestamp: TIME_US + 1, unit: 'shop.service', priority: '3' },
    {
      event_message: 'first\nsecond \ufffd',
      timestamp: TIME_US + 2,
      unit: 'shop.service',
      priority: '3',
    },
    { event_message: 'order 0 ', timestamp: TIME_US + 3, unit: 'shop.service', priority: '3' },
  ]);
  assert.match(await readFile(state, 'utf8'), /LAST_CURSOR=/);
  // It begins with the last entry that it sent.
  await upload(path, state);
  const later = await rowsOf();
  assert.ok(later.length <= entries.length + 1, `${later.length}`);
  assert.equal(new Set(later.map((row) => JSON.stringify(row))).size, entries.length);
});
