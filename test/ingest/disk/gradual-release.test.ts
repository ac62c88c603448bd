import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import {
  GradualRelease,
  RELEASE_BYTES_MAX,
  RELEASE_STEP_BYTES,
  type ReleasedFile,
} from '../../../ingest/disk/gradual-release.ts';

/** A file that notes its sizes until it is closed. */
class NotedFile implements ReleasedFile {
  readonly sizes: number[];
  isClosed = false;
  readonly #fails: boolean;

  constructor(size: number, fails = false) {
    this.sizes = [size];
    this.#fails = fails;
  }

  stat(): Promise<{ size: number }> {
    return Promise.resolve({ size: this.sizes[0]! });
  }

  truncate(size: number): Promise<void> {
    equal(this.isClosed, false);
    if (this.#fails) return Promise.reject(new Error('EIO'));
    this.sizes.push(size);
    return Promise.resolve();
  }

  close(): Promise<void> {
    equal(this.isClosed, false);
    this.isClosed = true;
    return Promise.resolve();
  }
}

test('the blocks of a file are freed step by step, the last ones when it is closed', async () => {
  const file = new NotedFile(3 * RELEASE_STEP_BYTES + 5);
  await kept(new GradualRelease().release(file));
  const step = RELEASE_STEP_BYTES;
  deepEqual(file.sizes, [3 * step + 5, 2 * step + 5, step + 5, 5]);
  ok(file.isClosed);
});

test('a file of one step, or one that cannot be cut, is closed at once', async () => {
  const release = new GradualRelease();
  const small = new NotedFile(RELEASE_STEP_BYTES);
  const bad = new NotedFile(5 * RELEASE_STEP_BYTES, true);
  await kept(Promise.all([release.release(small), release.release(bad)]));
  deepEqual([small.sizes.length, small.isClosed], [1, true]);
  deepEqual([bad.sizes.length, bad.isClosed], [1, true]);
});

test('files wait for each other, and are closed at once when too many bytes wait', async () => {
  const release = new GradualRelease();
  const first = new NotedFile(4 * RELEASE_STEP_BYTES);
  const second = new NotedFile(2 * RELEASE_STEP_BYTES);
  const large = new NotedFile(RELEASE_BYTES_MAX);
  const ends = [release.release(first), release.release(second), release.release(large)];
  await kept(ends[2]!);
  deepEqual([large.sizes.length, large.isClosed], [1, true]);
  equal(second.sizes.length, 1);
  await kept(Promise.all(ends));
  deepEqual([first.sizes.length, second.sizes.length], [4, 2]);
  ok(first.isClosed && second.isClosed);
});

/** The pauses do not keep a process alive; this does. */
async function kept<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 1_000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}
