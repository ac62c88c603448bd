import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { SEGMENT_COLUMNS_MAX } from '../../engine/column/leaf-plan.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { OpenSegmentReader } from '../../engine/column/open-segment-reader.ts';
import { rangesOfRows } from '../../engine/column/positions.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter, type SealedFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { forgetDropped, readSegment } from '../../engine/column/segment-reader.ts';
import { type DictionaryVector, type Vector, valueAt } from '../../engine/column/vector.ts';
import { batchOf, type EventValue, type TestEvent } from './batch-of.ts';
import { edgeEvents } from './edge-events.ts';
import { expectVector, rootOf } from './oracle.ts';

const DAY_US = 86_400_000_000;

function openOf(events: readonly TestEvent[]): OpenSegment {
  const segment = new OpenSegment({ id: 1, arrivalBase: 0 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return segment;
}

function sealedOf(events: readonly TestEvent[]): SharedArrayBuffer {
  const buffers = sealSegment(openOf(events).handle(), { partitionUs: 1000 * DAY_US });
  assert.equal(buffers.length, 1);
  return buffers[0]!;
}

function allRows(reader: { readonly rowCount: number }): Int32Array {
  return Int32Array.from({ length: reader.rowCount }, (_, row) => row);
}

function valuesOf(vector: Vector): unknown[] {
  return Array.from({ length: vector.count }, (_, index) => valueAt(vector, index));
}

/** The leaf column under `metadata.v` of events that hold these values there, and what is read. */
function columnOf(values: readonly EventValue[]): {
  leaf: SealedFooter['leaves'][0];
  vector: Vector;
} {
  const events = values.map((v, n) => ({ timestampUs: n, metadata: { v } }));
  const buffer = sealedOf(events);
  const reader = SealedSegmentReader.open(buffer);
  const roots = reader.roots(allRows(reader), reader.rowCount);
  const metadata = roots.source.field(roots, 'metadata');
  assert.ok(metadata.kind === 'nested');
  const vector = metadata.source.field(metadata, 'v');
  expectVector(vector, values, [], 0);
  expectVector(roots, events.map(rootOf), [], 0);
  return { leaf: readFooter(buffer).leaves[0]!, vector };
}

function repeated(count: number, value: (n: number) => EventValue): EventValue[] {
  return Array.from({ length: count }, (_, n) => value(n));
}

test('each partition of time with rows becomes one segment, cut at multiples of its width', () => {
  const times = [DAY_US, 0, DAY_US - 1, 3 * DAY_US, -1];
  const events = times.map((timestampUs) => ({ timestampUs }));
  const buffers = sealSegment(openOf(events).handle(), { partitionUs: DAY_US });
  const spans = buffers.map((buffer) => {
    const { timestampUsMin, timestampUsMax, arrivalMin, arrivalMax } = readFooter(buffer);
    return [timestampUsMin, timestampUsMax, arrivalMin, arrivalMax];
  });
  assert.deepEqual(spans, [
    [-1, -1, 4, 4],
    [0, DAY_US - 1, 1, 2],
    [DAY_US, DAY_US, 0, 0],
    [3 * DAY_US, 3 * DAY_US, 3, 3],
  ]);
  assert.deepEqual(sealSegment(openOf([]).handle(), { partitionUs: DAY_US }), []);
});

test('rows are sorted by project key, time and arrival, mixed ones last', () => {
  const keys = ['b', MIXED_PROJECTS, 'a', null, 'b', 'é', 'b'] as const;
  const times = [5, 1, 1, 9, 4, 1, 4];
  const events = keys.map((projectKey, n) => ({ timestampUs: times[n]!, projectKey }));
  const buffer = sealedOf(events);
  const reader = SealedSegmentReader.open(buffer);
  assert.deepEqual(valuesOf(reader.arrivals(allRows(reader), 7)), [3, 2, 4, 6, 0, 5, 1]);
  const span = (key: string | undefined): number[][] =>
    reader.runs(key).map((run) => [run.start, run.count, Number(run.hasProjectKey)]);
  assert.deepEqual(span('a'), [
    [1, 1, 1],
    [6, 1, 0],
  ]);
  assert.deepEqual(span('b'), [
    [2, 3, 1],
    [6, 1, 0],
  ]);
  assert.deepEqual(span('é'), [
    [5, 1, 1],
    [6, 1, 0],
  ]);
  assert.deepEqual(span('c'), [[6, 1, 0]]);
  assert.deepEqual(span(undefined), [[0, 7, 1]]);
  assert.equal(reader.runs(undefined)[0]!.isTimeOrdered, false);
  assert.equal(reader.runs('b')[0]!.isTimeOrdered, true);
  // Groups: [0, 1), [1, 2), [2, 5), [5, 6), [6, 7).
  const ordered = [reader.areTimeOrdered(2, 3), reader.areTimeOrdered(3, 2)];
  assert.deepEqual([...ordered, reader.areTimeOrdered(6, 1)], [true, true, true]);
  assert.deepEqual([reader.areTimeOrdered(1, 2), reader.areTimeOrdered(2, 4)], [false, false]);
});

test('the rows inside a window are those that a look at each time finds', () => {
  const events = fc.array(
    fc.record({
      timestampUs: fc.integer({ min: 0, max: 30 }),
      projectKey: fc.constantFrom<TestEvent['projectKey']>('a', 'b', null, MIXED_PROJECTS),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const bound = fc.oneof(fc.integer({ min: -2, max: 33 }), fc.constantFrom(-Infinity, Infinity));
  const someOf = fc.uniqueArray(fc.nat(59), { maxLength: 20 });
  fc.assert(
    fc.property(events, bound, bound, someOf, (given, startUs, endUs, some) => {
      const reader = SealedSegmentReader.open(sealedOf(given));
      const times = valuesOf(reader.timestamps(allRows(reader), given.length)) as number[];
      const inside = times.flatMap((time, row) => (time >= startUs && time < endUs ? [row] : []));
      const rangesOf = (rows: readonly number[]) => rangesOfRows(Int32Array.from(rows)).slice();
      assert.deepEqual(reader.rowsInside({ startUs, endUs }), rangesOf(inside));

      const among = some.filter((row) => row < given.length).sort((left, right) => left - right);
      assert.deepEqual(
        reader.rowsInside({ startUs, endUs }, rangesOf(among)),
        rangesOf(inside.filter((row) => among.includes(row))),
        'among some',
      );
    }),
  );
});

test('numbers are kept in the narrowest form that is exact', () => {
  const encodings: [string, (n: number) => EventValue][] = [
    ['constant 0', () => 7.25],
    ['unsigned 1', (n) => 1e15 + n],
    ['unsigned 1', (n) => -1e9 - n * 1_000_000],
    ['unsigned 2', (n) => n * 300],
    ['unsigned 2', (n) => n * 70_000],
    ['unsigned 4', (n) => n * 70_001],
    ['float64 8', (n) => n * 2 ** 33 + (n % 2)],
    ['float32 4', (n) => n + 0.5],
    ['float64 8', (n) => n + 0.1],
    ['float32 4', (n) => (n === 0 ? -0 : n)],
    ['unsigned 1', (n) => (n % 5 === 0 ? null : n)],
  ];
  for (const [encoding, value] of encodings) {
    const { leaf, vector } = columnOf(repeated(40, value));
    assert.equal(`${leaf.numbers!.encoding} ${leaf.numbers!.width}`, encoding);
    assert.equal(vector.kind, encoding === 'constant 0' ? 'constant' : 'number');
  }
});

test('strings are kept in the form that takes fewest bytes', () => {
  const hex = (n: number, length: number): string =>
    (n * 7919 + 1).toString(16).padStart(length, 'a');
  const uuid = (n: number): string => `${hex(n, 8)}-aaaa-4bbb-8ccc-${hex(n, 12)}`;
  const packings: [string, (n: number) => EventValue][] = [
    ['plain', (n) => `/path/${n}/${'x'.repeat(n % 7)}`],
    ['hex', (n) => hex(n, 32)],
    ['hex', (n) => hex(n, 31)],
    ['plain', (n) => hex(n, 32).toUpperCase()],
    ['uuid', uuid],
    ['plain', (n) => uuid(n).toUpperCase()],
    ['form', (n) => String(n * 37)],
    ['plain', (n) => `0${n * 37}`],
    ['form', (n) => `10.0.${n}.255`],
    ['plain', (n) => `10.0.${n}.256`],
    ['form', (n) => new Date(1.7e12 + n * 61_000).toUTCString()],
  ];
  for (const [kind, value] of packings) {
    const { leaf, vector } = columnOf(repeated(40, value));
    assert.equal(
      `${kind} ${leaf.strings!.codes}`,
      `${leaf.strings!.packing.kind} null`,
      value(1)?.toString(),
    );
    const { dictionary } = vector as DictionaryVector;
    assert.equal(dictionary.strings !== undefined, kind === 'plain');
    assert.equal(dictionary.isDistinct, true);
  }
});

test('strings that come again share an entry', () => {
  const { leaf, vector } = columnOf(repeated(40, (n) => `some longer text ${n % 3}`));
  assert.equal(leaf.strings!.entryCount, 3);
  assert.deepEqual((vector as DictionaryVector).codes.slice(0, 4), Int32Array.of(0, 1, 2, 0));
  assert.equal(columnOf(repeated(40, () => 'always')).leaf.strings!.codes, 'constant');
});

test('a query that ends its URL is kept in it, and equal columns once', () => {
  const events = Array.from({ length: 64 }, (_, n) => {
    const search = `?select=${'z'.repeat(n % 5)}&id=eq.${n * 7919}`;
    const url = `https://host${n % 3}.example/${n}${search}`;
    return { timestampUs: n, metadata: { url, search, again: url } };
  });
  const buffer = sealedOf(events);
  const packings = readFooter(buffer).leaves.map((leaf) => leaf.strings!.packing);
  assert.deepEqual(packings.map(({ kind }) => kind).sort(), ['plain', 'plain', 'suffix']);
  const plain = packings.filter(({ kind }) => kind === 'plain');
  assert.deepEqual(plain[0], plain[1]);
  const reader = SealedSegmentReader.open(buffer);
  expectVector(
    reader.roots(allRows(reader), 64),
    events.map(rootOf),
    ['metadata', 'search', 'again'],
    2,
  );
});

test('long messages are compressed and read back one by one', () => {
  const message = (n: number): string =>
    `GET | 200 | a rather long and ordinary message number ${n}`;
  const events = Array.from({ length: 1000 }, (_, n) => ({
    timestampUs: n,
    event_message: message(n),
  }));
  const buffer = sealedOf(events);
  assert.equal(readFooter(buffer).messages.strings.packing.kind, 'deflated');
  const reader = SealedSegmentReader.open(buffer);
  const rows = Int32Array.of(999, 0, 63, 64, 65, 500, 999);
  assert.deepEqual(valuesOf(reader.messages(rows, 7)), [...rows].map(message));
});

test('a large dictionary of long names that are much alike is compressed, a small one is not', () => {
  const nameOf = (version: number): string => `abcdefghijklmnopqrst_53bba5d8-421e-a790_${version}`;
  const kindOf = (eventCount: number, versionCount: number): string => {
    const { leaf, vector } = columnOf(
      Array.from({ length: eventCount }, (_, n) => nameOf(n % versionCount)),
    );
    assert.equal(leaf.strings!.entryCount, versionCount);
    for (const row of [0, 31, 32, 59, eventCount - 1]) {
      assert.equal(valueAt(vector, row), nameOf(row % versionCount));
    }
    return leaf.strings!.packing.kind;
  };
  assert.equal(kindOf(1_500, 100), 'deflated');
  assert.equal(kindOf(1_600, 100), 'plain');
  assert.equal(kindOf(60, 15), 'plain');
});

test('what no column has room for is read like the rest, and costs the others nothing', () => {
  const plainEvents = Array.from({ length: 2000 }, (_, n) => ({
    timestampUs: n,
    metadata: { n, s: `s${n % 9}` },
  }));
  const keys = Array.from({ length: 10_000 }, (_, n): [string, EventValue] => [
    `key${n}`,
    n % 2 === 0 ? n : `v${n}`,
  ]);
  const hostile = { timestampUs: 2000, projectKey: 'x', metadata: new Map([...keys, ['n', 5]]) };
  const buffer = sealedOf([...plainEvents, hostile]);
  const footer = readFooter(buffer);
  assert.equal(footer.leaves.length, 2);
  assert.equal(footer.residual.slots[1], 10_000 * 8);
  const reader = SealedSegmentReader.open(buffer);
  const roots = reader.roots(Int32Array.of(1, 2000), 2);
  const names = ['metadata', 'n', 's', 'key0', 'key9999', 'KEY17'];
  expectVector(roots, [plainEvents[1]!, hostile].map(rootOf), names, 2);
});

test('the most frequent leaves get columns when there are too many', () => {
  const leafCount = SEGMENT_COLUMNS_MAX + 10;
  const events = Array.from({ length: 20 }, (_, row) => ({
    timestampUs: row,
    metadata: new Map(
      Array.from({ length: leafCount }, (_, n): [string, EventValue] => [`k${n}`, row * n]).filter(
        (_, n) => n >= 10 || row > 0,
      ),
    ),
  }));
  const buffer = sealedOf(events);
  const footer = readFooter(buffer);
  assert.equal(footer.leaves.length, SEGMENT_COLUMNS_MAX);
  assert.ok(footer.leaves.every((leaf) => leaf.positions.kind === 'every-row'));
  const reader = SealedSegmentReader.open(buffer);
  expectVector(reader.roots(allRows(reader), 20), events.map(rootOf), ['metadata', 'k0', 'k11'], 2);
});

test('columns that few, many or all rows have, once or several times, are read alike', () => {
  const events = Array.from({ length: 600 }, (_, n) => ({
    timestampUs: n,
    metadata: {
      ...(n % 30 === 7 ? { few: n } : {}),
      ...(n % 3 === 0 ? { many: `m${n}` } : {}),
      ...(n % 20 === 0 ? { rareList: [{ x: n }, { x: n + 0.5 }] } : {}),
      list: Array.from({ length: n % 4 }, (_, i) => ({ v: n * 10 + i, s: `t${i}` })),
    },
  }));
  const buffer = sealedOf(events);
  const kinds = readFooter(buffer).leaves.map((leaf) => leaf.positions.kind);
  assert.deepEqual(kinds.sort(), ['bitmap', 'offsets', 'offsets', 'sparse', 'sparse']);
  const reader = SealedSegmentReader.open(buffer);
  const names = ['metadata', 'few', 'many', 'rareList', 'list', 'v', 's', 'x'];
  expectVector(reader.roots(allRows(reader), 600), events.map(rootOf), names, 3);
  const odd = allRows(reader)
    .filter((row) => row % 7 === 3)
    .reverse();
  expectVector(
    reader.roots(odd, odd.length),
    [...odd].map((row) => rootOf(events[row]!)),
    names,
    3,
  );
});

test('a reader is opened once for each id, and again when its segment was dropped', () => {
  const buffer = sealedOf([{ timestampUs: 1 }]);
  const [kept, dropped] = [12_345, 12_346].map((id) => ({ kind: 'sealed' as const, id, buffer }));
  const readers = [readSegment(kept!), readSegment(dropped!)];
  forgetDropped({ count: 1, ids: [dropped!.id] });
  assert.equal(readSegment(kept!), readers[0]);
  assert.notEqual(readSegment(dropped!), readers[1]);
});

test('a thread that did not hear of every dropped segment forgets all of them', () => {
  const buffer = sealedOf([{ timestampUs: 1 }]);
  const handle = { kind: 'sealed' as const, id: 12_347, buffer };
  const reader = readSegment(handle);
  forgetDropped({ count: 1000, ids: [1, 2, 3] });
  assert.notEqual(readSegment(handle), reader);
});

test('a buffer that is no sealed segment is refused', () => {
  for (const size of [0, 15, 16, 1000]) {
    assert.throws(
      () => SealedSegmentReader.open(new SharedArrayBuffer(size)),
      /a sealed segment begins/,
    );
  }
});

test('a hundred thousand rows are sealed and say the same as before', () => {
  const segment = new OpenSegment({ id: 2, arrivalBase: 0 });
  const events = Array.from({ length: 10_000 }, (_, n) => ({
    timestampUs: n * 1000,
    id: `row-${n}`,
    project: `p${n % 50}`,
    event_message: `message ${n % 100}`,
    metadata: { n, status: 200 + (n % 5), text: `text ${n % 700}`, flag: n % 2 === 0 },
  }));
  const batch = batchOf(events);
  for (let round = 0; round < 10; round++) segment.append(batch, 0, batch.rowCount);
  segment.publish();
  const [buffer] = sealSegment(segment.handle(), { partitionUs: DAY_US });
  const sealed = SealedSegmentReader.open(buffer!);
  const open = new OpenSegmentReader(segment.handle('p7'));
  assert.equal(sealed.rowCount, 100_000);
  const [sealedRun] = sealed.runs('p7');
  const [openRun] = open.runs('p7');
  assert.equal(sealedRun!.count, openRun!.count);
  const rows = allRows(sealed).subarray(sealedRun!.start, sealedRun!.start + sealedRun!.count);
  const sums = [sealed.roots(rows, rows.length), open.roots(openRun!.rows!, openRun!.count)].map(
    (roots) => {
      const metadata = roots.source.field(roots, 'metadata');
      assert.ok(metadata.kind === 'nested');
      const n = metadata.source.field(metadata, 'n');
      assert.ok(n.kind === 'number');
      return n.values.reduce((sum, value) => sum + value, 0);
    },
  );
  assert.equal(sums[0], sums[1]);
});

test('full edge events take at most a fifth of their JSON, and come back to the letter', () => {
  const count = 1500;
  const events = edgeEvents(count, 42);
  const posted = events.reduce((size, event) => size + JSON.stringify(event).length, 0);
  const buffer = sealedOf(events);
  assert.ok(buffer.byteLength <= posted / 5, `${buffer.byteLength} of ${posted} bytes`);
  const reader = SealedSegmentReader.open(buffer);
  const arrivals = valuesOf(reader.arrivals(allRows(reader), count)) as number[];
  const roots = reader.roots(allRows(reader), count);
  expectVector(
    roots,
    arrivals.map((arrival) => rootOf(events[arrival]!)),
    [],
    0,
  );
  const out = new JsonBuffer();
  roots.source.nested(0, roots.nodes[0]!).writeJson(out);
  assert.ok(JSON.parse(Buffer.from(out.take()).toString()).metadata[0].request[0].cf[0].city);
});
