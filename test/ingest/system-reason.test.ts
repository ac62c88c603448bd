import { equal, match } from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { DiskError } from '../../ingest/disk/disk.ts';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';

function errorWith(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it`), { code });
}

test('an error of the system is described in words, or by its code if unknown', async () => {
  const found = await readdir('/nowhere/at/all').catch((error: unknown) => error);
  equal(systemReason(found), 'there is no such file or folder');
  equal(systemCode(found), 'ENOENT');
  equal(systemReason(new DiskError('read', '/a', errorWith('EIO'))), 'the disk reports an error');
  equal(systemReason(errorWith('EOWNERDEAD')), 'the system reports EOWNERDEAD');
  // Node's own have sentences.
  equal(systemReason(errorWith('ERR_SOMETHING')), 'ERR_SOMETHING: as the system says it');
  equal(systemReason(new Error('not of the system')), 'not of the system');
  equal(systemReason('a text'), 'a text');
});

test('an error of a disk has the path, what was to be done, and the reason in words', () => {
  const error = new DiskError('written', '/data/log', errorWith('ENOSPC'));
  equal(error.message, '/data/log cannot be written: the disk is full');
  equal(error.code, 'ENOSPC');
  match(new DiskError('read', '/a', errorWith('EOWNERDEAD')).message, /reports EOWNERDEAD$/);
});
