import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SPILL_FREE_BYTES_MIN, SpillFile } from '../../engine/column/spill-file.ts';
import { RunStoppedError } from '../../engine/query-error.ts';
import { DISK_FREE_BYTES_ENOUGH } from '../../ingest/limits.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-spill-file-'));
after(() => rmSync(root, { recursive: true }));

function expectStop(work: () => unknown, code: RunStoppedError['code'], message: RegExp): void {
  assert.throws(work, (error: unknown) => {
    assert.ok(error instanceof RunStoppedError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

test('a spill file gives back what was appended, has no name, and creates nothing before its first byte', () => {
  const folder = join(root, 'a');
  const file = new SpillFile(folder);
  file.close();
  assert.deepEqual(readdirSync(root), []);
  const large = new Uint8Array(3 * 1024 * 1024).map((_, at) => at % 251);
  assert.equal(file.append(Uint8Array.of(1, 2, 3)), 0);
  assert.equal(file.append(large), 3);
  assert.equal(file.size, 3 + large.length);
  assert.deepEqual(readdirSync(folder), []);
  const found = new Uint8Array(large.length);
  file.read(found, 3);
  assert.deepEqual(found, large);
  file.close();
  assert.equal(file.size, 0);
});

test('a file that ends too early is an error', () => {
  const file = new SpillFile(join(root, 'short'));
  file.append(Uint8Array.of(1, 2, 3));
  expectStop(() => file.read(new Uint8Array(3), 1), 'storage_failed', /too short/);
  file.close();
  expectStop(() => file.read(new Uint8Array(1), 0), 'storage_failed', /too short/);
});

test('a file has at most so many bytes', () => {
  const file = new SpillFile(join(root, 'bound'), { bytesMax: 10 });
  file.append(new Uint8Array(10));
  expectStop(() => file.append(new Uint8Array(5)), 'query_limit', /may write 10 bytes .* write 15/);
  assert.equal(file.size, 10);
  file.close();
});

test('a spill file leaves the disk more room than the log needs', () => {
  assert.ok(SPILL_FREE_BYTES_MIN > DISK_FREE_BYTES_ENOUGH);
  const file = new SpillFile(join(root, 'full'), { freeBytesMin: Number.MAX_SAFE_INTEGER });
  expectStop(
    () => file.append(new Uint8Array(1)),
    'storage_failed',
    /must stay free there, \d+ are/,
  );
  file.close();
  assert.deepEqual(readdirSync(join(root, 'full')), []);
});

test('a folder that cannot be made, or is none, is an error without a path', () => {
  const gone = new SpillFile(join(root, 'store-1', 'spill'));
  expectStop(
    () => gone.append(new Uint8Array(1)),
    'storage_failed',
    /cannot be written \(ENOENT\)$/,
  );
  writeFileSync(join(root, 'file'), '');
  const none = new SpillFile(join(root, 'file'));
  expectStop(() => none.append(new Uint8Array(1)), 'storage_failed', /written \(ENOTDIR\)$/);
});
