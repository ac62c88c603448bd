import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import type { RowRun } from '../../engine/column/segment.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { keyedHash, quickHash, StringTable } from '../../engine/column/string-table.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { OPEN_ROWS_MAX, RECORD_DEPTH_MAX } from '../../engine/limits.ts';
import { batchOf, type EventValue, type TestEvent } from './batch-of.ts';
import { expectVector, rootOf } from './oracle.ts';

function appended(segment: OpenSegment, events: readonly TestEvent[]): void {
  segment.append(batchOf(events), 0, events.length);
}

function freshSegment(): OpenSegment {
  return new OpenSegment({ id: 1, arrivalBase: 0 });
}

function rowsOf(run: RowRun): number[] {
  return [...(run.rows ?? Array.from({ length: run.count }, (_, i) => run.start + i))];
}

function expectRoots(
  reader: OpenSegmentReader,
  events: readonly TestEvent[],
  names: string[],
): void {
  const rows = Int32Array.from(events.keys());
  expectVector(reader.roots(rows, events.length), events.map(rootOf), names, 3);
}

test('rows are seen once they are published, and only by handles taken then', () => {
  const segment = freshSegment();
  const events = [1, 2, 3].map((timestampUs) => ({ timestampUs, metadata: { n: timestampUs } }));
  appended(segment, events.slice(0, 2));
  assert.equal(segment.handle().rowCount, 0);
  assert.deepEqual(new OpenSegmentReader(segment.handle()).runs(undefined), []);
  segment.publish();
  const before = segment.handle();
  appended(segment, events.slice(2));
  assert.equal(segment.rowCount, 3);
  assert.equal(segment.handle().rowCount, 2);
  segment.publish();
  assert.equal(segment.handle().rowCount, 3);
  assert.equal(before.rowCount, 2);
  assert.equal(before.timestampUsMax, 2);
});

test('a handle reads the same after the arrays have grown many times', () => {
  const segment = freshSegment();
  const first = [{ timestampUs: 1, metadata: { name: 'first', deep: { n: 1 } } }];
  appended(segment, first);
  segment.publish();
  const handle = segment.handle();
  for (let round = 0; round < 20; round++) {
    appended(
      segment,
      Array.from({ length: 500 }, (_, row) => ({
        timestampUs: row,
        metadata: {
          name: `name ${round} ${row}`,
          [`key${round}_${row}`]: `${'x'.repeat(100)}${round} ${row}`,
        },
      })),
    );
    segment.publish();
  }
  expectRoots(new OpenSegmentReader(handle), first, ['metadata', 'name', 'deep', 'n']);
  assert.notEqual(segment.handle().arrays.stringBytes, handle.arrays.stringBytes);
});

test('a batch appended in slices is the batch', () => {
  const events = Array.from({ length: 7 }, (_, n) => ({
    timestampUs: n,
    metadata: { n, s: `s${n % 3}` },
  }));
  const batch = batchOf(events);
  const segment = freshSegment();
  for (const [from, to] of [
    [0, 0],
    [0, 3],
    [3, 4],
    [4, 7],
    [7, 7],
  ] as const) {
    segment.append(batch, from, to);
  }
  segment.publish();
  expectRoots(new OpenSegmentReader(segment.handle()), events, ['metadata', 'n', 's']);
  assert.equal(segment.handle().skeletonCount, 1);
});

test('the runs of a project are its published rows, mixed ones apart', () => {
  const segment = freshSegment();
  const keys = ['p', 'q', MIXED_PROJECTS, 'p', null, 'q', 'p'] as const;
  appended(
    segment,
    keys.map((projectKey, n) => ({ timestampUs: n === 3 ? 0 : n, projectKey })),
  );
  segment.publish();
  appended(segment, [
    { timestampUs: 9, projectKey: 'p' },
    { timestampUs: 9, projectKey: 'new' },
  ]);
  const runs = new OpenSegmentReader(segment.handle('p')).runs('p');
  assert.deepEqual(runs.map(rowsOf), [[0, 3, 6], [2]]);
  assert.deepEqual(
    runs.map((run) => run.hasProjectKey),
    [true, false],
  );
  assert.equal(runs[0]!.isTimeOrdered, true);
  assert.deepEqual(new OpenSegmentReader(segment.handle('new')).runs('new').map(rowsOf), [[2]]);
  assert.deepEqual(new OpenSegmentReader(segment.handle('none')).runs('none').map(rowsOf), [[2]]);
  const [all] = new OpenSegmentReader(segment.handle()).runs(undefined);
  assert.deepEqual(rowsOf(all!), [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(all!.isTimeOrdered, false);
});

test('a handle that begins at a row has the rows from there on, of every project and of all', () => {
  const segment = freshSegment();
  const keys = ['p', 'q', MIXED_PROJECTS, 'p', null, 'q', 'p'] as const;
  appended(
    segment,
    keys.map((projectKey, n) => ({ timestampUs: n, projectKey })),
  );
  segment.publish();
  const rowsFrom = (rowStart: number, projectKey?: string): readonly (readonly number[])[] =>
    new OpenSegmentReader({ ...segment.handle(projectKey), rowStart }).runs(projectKey).map(rowsOf);
  assert.deepEqual(rowsFrom(0, 'p'), [[0, 3, 6], [2]]);
  assert.deepEqual(rowsFrom(2, 'p'), [[3, 6], [2]]);
  assert.deepEqual(rowsFrom(3, 'p'), [[3, 6]]);
  assert.deepEqual(rowsFrom(6, 'p'), [[6]]);
  assert.deepEqual(rowsFrom(7, 'p'), []);
  assert.deepEqual(rowsFrom(4), [[4, 5, 6]]);
  assert.deepEqual(rowsFrom(7), []);
  const reader = new OpenSegmentReader({ ...segment.handle('p'), rowStart: 3 });
  assert.deepEqual(reader.runsOf(['p', 'q']).map(rowsOf), [[3, 5, 6]]);
  const scope = { projectKey: 'p', startUs: Number.NEGATIVE_INFINITY, endUs: 9 };
  assert.equal(reader.countRows(scope, 100), 2);
  assert.equal(reader.countRows({ ...scope, projectKey: undefined }, 100), 4);
});

test('without chains a project is looked for in all rows', () => {
  const segment = freshSegment();
  appended(segment, [{ timestampUs: 1, projectKey: 'p' }]);
  segment.publish();
  const [run] = new OpenSegmentReader(segment.handle()).runs('p');
  assert.equal(run!.count, 1);
  assert.equal(run!.hasProjectKey, false);
});

test('a segment is full at its number of rows and still takes more', () => {
  const segment = freshSegment();
  const batch = batchOf(Array.from({ length: 1024 }, () => ({ timestampUs: 1 })));
  while (segment.rowCount < OPEN_ROWS_MAX - 1024) segment.append(batch, 0, 1024);
  segment.append(batch, 0, 1023);
  assert.equal(segment.isFull, false);
  segment.append(batch, 0, 1);
  assert.equal(segment.isFull, true);
  segment.append(batch, 0, 1);
  assert.equal(segment.rowCount, OPEN_ROWS_MAX + 1);
});

test('ten thousand keys in one event and maps deeper than the limit are read and written', () => {
  const wide: [string, EventValue][] = Array.from({ length: 10_000 }, (_, n) => [`key${n}`, n]);
  const deep = (depth: number): EventValue => {
    let value: EventValue = 'bottom';
    for (let level = 0; level < depth; level++) value = { a: value };
    return value;
  };
  const events: TestEvent[] = [
    { timestampUs: 1, metadata: new Map(wide) },
    ...[RECORD_DEPTH_MAX - 2, RECORD_DEPTH_MAX - 1, RECORD_DEPTH_MAX, 60].map((depth) => ({
      timestampUs: 2,
      extra: deep(depth),
      list: [deep(depth), { b: 1 }],
    })),
  ];
  const segment = freshSegment();
  appended(segment, events);
  segment.publish();
  const names = ['metadata', 'key0', 'KEY9999', 'extra', 'list', 'a'];
  expectRoots(new OpenSegmentReader(segment.handle()), events, names);
});

test('readers of one open segment go on with what earlier ones remember', () => {
  const segment = new OpenSegment({ id: 4711, arrivalBase: 0 });
  const events: TestEvent[] = [{ timestampUs: 1, metadata: { a: 1 } }];
  appended(segment, events);
  segment.publish();
  expectRoots(readSegment(segment.handle()) as OpenSegmentReader, events, ['metadata', 'a']);
  const more: TestEvent[] = [{ timestampUs: 2, metadata: { b: 'x', A: 2 } }];
  appended(segment, more);
  segment.publish();
  const all = [...events, ...more];
  expectRoots(readSegment(segment.handle()) as OpenSegmentReader, all, ['metadata', 'a', 'b']);
  // Beyond the room that the first readers had for skeletons.
  for (let field = 0; field < 40; field++) {
    all.push({ timestampUs: 3, metadata: { [`c${field}`]: field, a: `${field}` } });
    appended(segment, all.slice(-1));
    segment.publish();
    expectRoots(readSegment(segment.handle()) as OpenSegmentReader, all, ['metadata', 'a', 'c7']);
  }
});

/** Strings of one quick hash whatever the key: two flipped bits undo each other. */
function collidingStrings(pairCount: number): Uint8Array[] {
  return Array.from({ length: 2 ** pairCount }, (_, bits) => {
    const words = new DataView(new ArrayBuffer(pairCount * 8));
    for (let pair = 0; pair < pairCount; pair++) {
      if (((bits >> pair) & 1) === 0) continue;
      words.setInt32(pair * 8, 2 ** 31, true);
      words.setInt32(pair * 8 + 4, 2 ** 31 + 2 ** 16, true);
    }
    return new Uint8Array(words.buffer);
  });
}

test('strings made to collide are told apart, in linear time', () => {
  const strings = collidingStrings(14);
  const key = { first: 123, second: 456 };
  const hashes = (hash: typeof quickHash): number =>
    new Set(strings.map((bytes) => hash(new DataView(bytes.buffer), 0, bytes.length, key))).size;
  assert.equal(hashes(quickHash), 1);
  assert.ok(hashes(keyedHash) > strings.length - 5);
  const table = new StringTable();
  const codes = strings.map((bytes) => table.intern(new DataView(bytes.buffer), 0, bytes.length));
  assert.deepEqual(codes, [...strings.keys()]);
  assert.equal(table.find(new DataView(strings[77]!.buffer), 0, strings[77]!.length), 77);
});

test('a string has one code however often it comes', () => {
  const table = new StringTable();
  const intern = (text: string): number => {
    const bytes = new Uint8Array(encodeWtf8(text));
    return table.intern(new DataView(bytes.buffer), 0, bytes.length);
  };
  const texts = Array.from({ length: 20_000 }, (_, n) => 'y'.repeat(n % 9) + n);
  assert.deepEqual(texts.map(intern), [...texts.keys()]);
  assert.deepEqual(texts.map(intern), [...texts.keys()]);
});
