import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { findStorePath } from '../../../ingest/data-folder.ts';
import { LockFile } from '../../../ingest/lock-file.ts';
import { byteText } from '../../../src/byte-text.ts';
import { at, DataFolder, eventsAt } from '../../ingest/data-folder.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';

const EDGE = 'cloudflare.logs.prod';
const SEGMENT = `segments/${EDGE}/2026-01-15.0000000001.segment`;

function run(name: 'inspect' | 'verify', ...words: readonly string[]): Promise<Ended> {
  return runWeir([name, ...words]);
}

let temporary: string;

before(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'weir-command-'));
});

after(() => rm(temporary, { recursive: true }));

/** A folder with two posts of two events. The first post is also in a segment file. */
async function withFolder(use: (folder: DataFolder) => Promise<void>): Promise<void> {
  const folder = await DataFolder.make();
  try {
    await folder.post(EDGE, eventsAt(at(1), at(2)));
    await folder.post(EDGE, eventsAt(at(3), at(4)));
    await folder.store(EDGE, 1);
    await use(folder);
  } finally {
    await folder.remove();
  }
}

for (const name of ['inspect', 'verify'] as const) {
  test(`weir ${name} accepts --help in any position and ends with 0`, async () => {
    const { status, out, err } = await run(name, '--help');
    assert.deepEqual([status, err], [0, '']);
    assert.ok(out.includes(`weir ${name} DATA_DIR`));
    for (const words of [['-h'], ['somewhere', '--help']]) {
      assert.deepEqual(await run(name, ...words), { status: 0, out, err: '' });
    }
  });

  test(`weir ${name} ends with 2 for a usage error and explains it`, async () => {
    for (const [words, sentence] of [
      [[], `${name} must be followed by one data folder; got nothing`],
      [[''], `${name} must be followed by one data folder; got nothing`],
      [['a', 'b'], `${name} must be followed by one data folder; got "a", "b"`],
      [['a', '--frob'], `${name} has no flag "--frob"; it has --`],
    ] as const) {
      const { status, out, err } = await run(name, ...words);
      assert.deepEqual([status, out], [2, '']);
      assert.ok(err.startsWith(sentence), err);
      assert.ok(err.endsWith(`Try "weir ${name} --help" for more information.\n`), err);
    }
  });

  test(`weir ${name} ends with 1 for a missing folder and for one that is not weir’s`, async () => {
    const other = join(temporary, name);
    await mkdir(join(other, 'log'), { recursive: true });
    await writeFile(join(other, 'log', 'syslog'), '');
    await writeFile(join(other, 'file'), '');
    const inside = join(temporary, `${name}-log`);
    await mkdir(inside);
    await writeFile(join(inside, '00000001.log'), '');
    const ours = 'it has no store, log, segments, lock or tokens.json of its kind';
    for (const [path, sentence] of [
      [join(other, 'nowhere'), `there is no folder ${other}/nowhere`],
      [join(other, 'file'), `${other}/file is not a folder`],
      [other, `${other} is not a data folder of weir: ${ours}`],
      [
        inside,
        `${inside} is not a data folder of weir: ${ours}; the data folder is the one above its log`,
      ],
    ] as const) {
      assert.deepEqual(await run(name, path), { status: 1, out: '', err: `${sentence}\n` });
    }
  });

  test(`weir ${name} ends with 0 for an empty folder`, async () => {
    const empty = join(temporary, `${name}-empty`);
    await mkdir(empty);
    const { status, err } = await run(name, empty);
    assert.deepEqual([status, err], [0, '']);
  });

  test(`weir ${name} changes nothing and takes no lock`, async () => {
    await withFolder(async (folder) => {
      const lock = await LockFile.take(join(folder.path, 'lock'), at(1), {
        ...{ beatMs: 3_600_000, watchMs: 1, lookMs: 1 },
      });
      const held = await folder.contents();
      assert.equal((await run(name, folder.path)).status, 0);
      assert.equal((await run(name, folder.path, '--json')).status, 0);
      assert.deepEqual(await folder.contents(), held);
      await lock.release();
    });
  });
}

test('an inspection shows events, times, sources, and which part of the log is in no segment file', async () => {
  await withFolder(async ({ path }) => {
    const { status, out } = await run('inspect', path);
    assert.equal(status, 0);
    const lines = out.split('\n');
    assert.equal(lines[0], `folder      ${path}`);
    assert.equal(lines[1], 'lock        no process uses the folder');
    assert.equal(lines[2], 'events      4: 2 in segment files, 2 in the log only');
    assert.equal(lines[3], 'time        2026-01-15 00:00:01 to 2026-01-15 00:00:04 UTC');
    assert.match(lines[5]!, /^damage {6}none found yet; weir verify reads every byte$/);
    assert.match(out, /^ {2}cloudflare\.logs\.prod +1 +2 +1 .*2026-01-15 00:00:01 .* 1 to 1$/m);
    assert.match(out, /^ {2}1 file of \S+ KiB, records 1 to 2$/m);
    assert.match(out, /^ {2}cloudflare\.logs\.prod +2 +4 +\S+ KiB +\S+ +1 +2 /m);
    assert.ok(!out.includes(SEGMENT));
    assert.ok((await run('inspect', path, '--segments')).out.includes(`\n  ${SEGMENT} `));
  });
});

test('an inspection as JSON has the same numbers, and each segment file on request', async () => {
  await withFolder(async ({ path }) => {
    const brief = JSON.parse((await run('inspect', path, '--json')).out);
    assert.deepEqual([brief.folder, brief.lock, brief.eventCount], [path, null, 4]);
    assert.deepEqual(brief.span, { timestampUsMin: at(1), timestampUsMax: at(4) });
    assert.equal(brief.sources[0].segments.eventCount, 2);
    assert.equal(brief.log.uncoveredEventCount, 2);
    assert.equal(brief.files, undefined);
    const whole = JSON.parse((await run('inspect', path, '--json', '--segments')).out);
    assert.deepEqual(
      whole.files.map((file: { readonly path: string }) => file.path),
      [SEGMENT],
    );
  });
});

test('an inspection shows which process has the folder, or that its owner has died', async () => {
  await withFolder(async (folder) => {
    const path = join(folder.path, 'lock');
    const lock = await LockFile.take(path, at(1));
    const held = await run('inspect', folder.path);
    assert.ok(
      held.out.includes(
        `lock        in use by process ${process.pid} on "${hostname()}", since "2026-01-15T00:00:01.000Z"\n`,
      ),
      held.out,
    );
    const text = await readFile(path, 'utf8');
    await lock.release();
    // A pid above the system's maximum.
    await writeFile(path, text.replace(`"pid":${process.pid}`, '"pid":4194999'));
    const dead = await run('inspect', folder.path);
    assert.match(dead.out, /^lock {8}left behind by process 4194999 on .*, which has ended$/m);
  });
});

test('damage is shown with its consequences: an inspection ends with 0, a verification with 1', async () => {
  await withFolder(async (folder) => {
    await folder.turn(join(folder.path, SEGMENT), 20);
    await folder.turn(folder.logFile(1), 70);
    const inspected = await run('inspect', folder.path);
    assert.equal(inspected.status, 0);
    const envelope = `${SEGMENT}: the envelope at its front cannot be read, but the other can: nothing is lost`;
    const record =
      /log\/00000001\.log: \S+ bytes at byte 64 cannot be read: record 1 is lost, unless segment files have it\n/;
    assert.ok(inspected.out.includes(`\ndamaged\n  ${envelope}\n`), inspected.out);
    assert.match(inspected.out, record);
    assert.match(
      inspected.out,
      /^damage {6}2 damaged, 0 files not read; 1 records of the log lost$/m,
    );
    const verified = await run('verify', folder.path);
    assert.equal(verified.status, 1);
    assert.ok(verified.out.includes(`damaged: ${envelope}\n`), verified.out);
    assert.match(verified.out, record);
    assert.match(verified.out, /\n2 damaged, 0 not checked\n$/);
    const { damages, damageCount } = JSON.parse((await run('verify', folder.path, '--json')).out);
    assert.deepEqual([damages.length, damageCount], [2, 2]);
  });
});

test('a verification of intact data says so with its numbers', async () => {
  await withFolder(async ({ path }) => {
    const { status, out } = await run('verify', path);
    assert.equal(status, 0);
    assert.match(
      out,
      /^segment files {2}1 of \S+ KiB with 2 events, 0 damaged\nlog files {6}1 of \S+ KiB with 4 events in 2 whole records, 0 places damaged\nother files {4}0, 0 damaged\nall is whole\n$/,
    );
  });
});

test('a folder of another version ends a verification with 1 and is not called damaged', async () => {
  await withFolder(async (folder) => {
    const bytes = await readFile(folder.logFile(1));
    bytes.writeUInt32LE(2, 8);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 60)), 60);
    await writeFile(folder.logFile(1), bytes);
    const { status, out } = await run('verify', folder.path);
    assert.equal(status, 1);
    assert.match(out, /^not checked: log\/00000001\.log: .* must be of version 1; got version 2$/m);
    assert.match(out, /\n0 damaged, 1 not checked\n$/);
  });
});

test('an incomplete record at the end of the log is shown and ends a verification with 0', async () => {
  await withFolder(async (folder) => {
    const bytes = await readFile(folder.logFile(1));
    await writeFile(folder.logFile(1), bytes.subarray(0, bytes.length - 3));
    const { status, out } = await run('verify', folder.path);
    assert.equal(status, 0);
    assert.match(out, / at the end of the log are being written, or were cut off by a crash: /);
  });
});

/** Moves the only segment file, which is intact, to quarantine. */
async function setAside({ path }: DataFolder): Promise<string> {
  const aside = join(path, 'quarantine', `${EDGE}.${basename(SEGMENT)}`);
  await mkdir(dirname(aside), { recursive: true });
  await rename(join(path, SEGMENT), aside);
  return aside;
}

test('a verification lists intact files in quarantine and restores them only on request', async () => {
  await withFolder(async (folder) => {
    const aside = await setAside(folder);
    const name = relative(folder.path, aside);
    const held = await folder.contents();
    const looked = await run('verify', folder.path);
    assert.equal(looked.status, 0);
    const whole = `in quarantine: "${name}" is intact: the next start, or --restore, restores it\n`;
    assert.ok(looked.out.startsWith(whole), looked.out);
    assert.match(looked.out, /^segment files {2}0 of /m);
    const { quarantine } = JSON.parse((await run('verify', folder.path, '--json')).out);
    assert.deepEqual(quarantine, [{ path: name, fate: 'whole' }]);
    assert.deepEqual(await folder.contents(), held);
    const restored = await run('verify', '--restore', folder.path);
    assert.equal(restored.status, 0);
    const back = `in quarantine: "${SEGMENT}" is intact, and was restored\n`;
    assert.ok(restored.out.startsWith(back), restored.out);
    assert.match(restored.out, /^segment files {2}1 of \S+ KiB with 2 events, 0 damaged$/m);
    assert.ok(!(await run('verify', folder.path)).out.includes('in quarantine'));
    assert.ok(!(await folder.contents()).some((line) => line.startsWith('lock')));
  });
});

test('a file stays in quarantine if it is damaged, its rows exist, or its name is taken', async () => {
  await withFolder(async (folder) => {
    const whole = await readFile(join(folder.path, SEGMENT));
    const aside = await setAside(folder);
    const name = relative(folder.path, aside);
    await folder.turn(aside, 20);
    // The store has a new path after each start.
    const inStore = async (path: string) => join(await findStorePath(folder.path), path);
    const damaged = await run('verify', '--restore', folder.path);
    assert.ok(
      damaged.out.startsWith(`in quarantine: "${name}" stays: it is damaged\n`),
      damaged.out,
    );
    await writeFile(await inStore(name), whole);
    await writeFile(await inStore(SEGMENT), 'not a segment');
    const taken = await run('verify', '--restore', folder.path);
    assert.ok(taken.out.startsWith(`in quarantine: "${name}" stays: a file is in its place\n`));
    assert.equal(await readFile(await inStore(SEGMENT), 'utf8'), 'not a segment');
    await writeFile(await inStore(SEGMENT), whole);
    const twice = await run('verify', '--restore', folder.path);
    assert.match(twice.out, /^in quarantine: .* stays: another segment file has rows of the same/);
    assert.deepEqual(await readFile(await inStore(name)), whole);
  });
});

test('nothing is restored in a folder in use', async () => {
  await withFolder(async (folder) => {
    const aside = await setAside(folder);
    const lock = await LockFile.take(join(folder.path, 'lock'), at(1));
    const { status, err } = await run('verify', '--restore', folder.path);
    assert.equal(status, 1);
    assert.match(err, /the folder is in use by another weir: .*Stop the service that runs there/);
    await lock.release();
    assert.ok((await readFile(aside)).length > 0);
  });
});

test('sizes are formatted in the unit that makes them short', () => {
  const texts = [0, 1, 1023, 1024, 1024 * 1023.9, 1024 * 1023.96, 2 ** 30, 2 ** 50].map(byteText);
  assert.deepEqual(texts, [
    ...['0 bytes', '1 byte', '1023 bytes', '1.0 KiB', '1023.9 KiB', '1.0 MiB', '1.0 GiB'],
    '1024.0 TiB',
  ]);
});
