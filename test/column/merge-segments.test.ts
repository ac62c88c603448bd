import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { divideRows } from '../../engine/column/divide-rows.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { mergePart, mergeSegments, repairSegment } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { packImage } from '../../engine/column/packed-image.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { isNested } from '../../engine/column/value.ts';
import { type Vector, valueAt } from '../../engine/column/vector.ts';
import { fuzzSeed } from '../fuzz/seed.ts';
import { budgetOf, runsOf } from '../support/budget.ts';
import { rowsOfBuffer } from '../support/merging.ts';
import { anyEvents } from './any-event.ts';
import { batchOf, type EventValue, type TestEvent } from './batch-of.ts';
import { edgeEvents } from './edge-events.ts';

/** Names of fields, those that random events have and one that none has. */
const NAMES = ['a', 'B', '__proto__', '7', '', 'Ä', '\ud800', 'absent', 'v', 'request', 'list'];
const PROJECTS = ['p', 'q', 'P', 'é', 'none'];

function sealedOf(events: readonly TestEvent[], arrivalBase: number): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase });
  const named = events.map((event, n) => ({ id: `id-${arrivalBase + n}`, ...event }));
  segment.append(batchOf(named), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!;
}

/** The events sealed in pieces that end at these places. */
function pieces(events: readonly TestEvent[], ends: readonly number[]): SharedArrayBuffer[] {
  const cuts = [...new Set([0, ...ends, events.length])].sort((left, right) => left - right);
  return cuts.slice(1).map((end, index) => sealedOf(events.slice(cuts[index]!, end), cuts[index]!));
}

function textsOf(vector: Vector): string[] {
  return Array.from({ length: vector.count }, (_, index) => {
    const value = valueAt(vector, index);
    if (!isNested(value)) return Object.is(value, -0) ? '-0' : `${typeof value} ${String(value)}`;
    const out = new JsonBuffer();
    value.writeJson(out);
    return Buffer.from(out.take()).toString('utf8');
  });
}

/** All that a query can read of a segment. */
function contentsOf(buffer: SharedArrayBuffer): unknown {
  const reader = SealedSegmentReader.open(buffer);
  const count = reader.rowCount;
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  const roots = reader.roots(rows, count);
  const metadata = roots.source.field(roots, 'metadata');
  const fields = NAMES.map((name) => {
    if (metadata.kind !== 'nested') return textsOf(metadata);
    return textsOf(metadata.source.field(metadata, name));
  });
  return {
    times: [reader.timestampUsMin, reader.timestampUsMax],
    runs: [undefined, ...PROJECTS].map((project) => reader.runs(project)),
    columns: [
      reader.timestamps(rows, count),
      reader.arrivals(rows, count),
      reader.ids(rows, count),
      reader.messages(rows, count),
      reader.projects(rows, count),
      roots,
    ].map(textsOf),
    fields,
  };
}

function expectMerged(merged: SharedArrayBuffer, all: readonly TestEvent[]): void {
  assert.deepEqual(contentsOf(merged), contentsOf(sealedOf(all, 0)));
}

const ID_FORMS: readonly ((n: number) => string)[] = [
  (n) => `id-${n}`,
  (n) => n.toString(16).padStart(32, 'a'),
  (n) => `0000000${n % 10}-aaaa-4bbb-8ccc-${n.toString(16).padStart(12, '0')}`,
  (n) => String(n * 7),
];

/** Events, one in seven of mixed projects, and the segments that they are sealed to. */
function cutEvents(
  shapes: readonly TestEvent[],
  cuts: readonly number[],
  idOf: (n: number) => string,
) {
  const events = shapes.map((event, n) => ({
    ...event,
    id: idOf(n),
    projectKey: n % 7 === 3 ? (MIXED_PROJECTS as typeof MIXED_PROJECTS) : event.project,
  }));
  const ends = cuts.map((cut) => cut % events.length);
  return { events, segments: pieces(events, ends) };
}

test('segments merged in any grouping are what sealing all rows at once gives', () => {
  fc.assert(
    fc.property(
      anyEvents,
      fc.array(fc.nat(100), { maxLength: 4 }),
      fc.nat(),
      fc.constantFrom(...ID_FORMS),
      (shapes, cuts, grouping, idOf) => {
        const { events, segments } = cutEvents(shapes, cuts, idOf);
        expectMerged(mergeSegments(segments), events);
        // In steps: some neighbours first, then all that came of it.
        const middle = grouping % segments.length;
        const halves = [segments.slice(middle), segments.slice(0, middle)];
        const steps = halves
          .filter((half) => half.length > 0)
          .map((buffers) => mergeSegments(buffers));
        expectMerged(mergeSegments(steps), events);
      },
    ),
    { numRuns: runsOf(60) },
  );
});

/** The segments in parts of at most so many rows, each merged by itself. */
function mergedParts(buffers: readonly SharedArrayBuffer[], rowsMax: number): SharedArrayBuffer[] {
  const segments = buffers.map(rowsOfBuffer);
  return divideRows(segments, rowsMax).map((part) => mergePart(segments, part));
}

function projectsOf(buffer: SharedArrayBuffer): string[] {
  const reader = SealedSegmentReader.open(buffer);
  const rows = Int32Array.from({ length: reader.rowCount }, (_, row) => row);
  return [...new Set(textsOf(reader.projects(rows, rows.length)))];
}

test('segments merged in parts hold every row once, in parts that few projects share', () => {
  fc.assert(
    fc.property(
      anyEvents,
      fc.array(fc.nat(100), { maxLength: 4 }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom(...ID_FORMS),
      (shapes, cuts, rowsMax, idOf) => {
        const { events, segments } = cutEvents(shapes, cuts, idOf);
        const parts = mergedParts(segments, rowsMax);
        for (const part of parts) assert(readFooter(part).rowCount <= rowsMax);
        expectMerged(mergeSegments(parts), events);
        const most = Math.ceil((2 * events.length) / rowsMax) + 1;
        assert(parts.length <= most, `${parts.length} parts of ${events.length} rows`);
      },
    ),
    { numRuns: runsOf(100) },
  );
});

test('a project is in one part, unless it has more rows than a part may have', () => {
  const events = edgeEvents(1_200, 5).map((event, n) => ({
    ...event,
    id: `id-${n}`,
    project: `project-${(n * n) % 40}`,
  }));
  const segments = pieces(events, [150, 450, 451, 900]);
  const parts = mergedParts(segments, 300);
  expectMerged(mergeSegments(parts), events);
  const projects = parts.map(projectsOf);
  assert.equal(new Set(projects.flat()).size, projects.flat().length);
  assert(parts.length <= 6, `${parts.length} parts`);
  for (const [index, part] of parts.entries()) {
    const own = events.filter(({ project }) => projects[index]!.includes(`string ${project}`));
    const { byteLength } = sealedOf(own, 0);
    assert(part.byteLength < 1.1 * byteLength, `${part.byteLength} bytes, ${byteLength} sealed`);
  }
});

/** One pair in so many is merged; of the next commit others. */
const PAIR_STEP = budgetOf('WEIR_COLUMN_PAIR_STEP', { fast: 4, all: 1 });

test('every way of keeping a column is merged with every other', (context) => {
  const seed = fuzzSeed();
  context.diagnostic(`seed ${seed}: WEIR_FUZZ_SEED=${seed} repeats it`);
  const hex = (n: number): string => (n * 7919 + 1).toString(16).padStart(16, 'f');
  const forms: ((n: number) => EventValue | undefined)[] = [
    () => undefined,
    () => null,
    () => 'always',
    (n) => `text ${n % 3}`,
    (n) => `text ${n} ${'x'.repeat(n % 9)}`,
    hex,
    (n) => `${hex(n)}ff`,
    (n) => `${hex(n).slice(0, 8)}-aaaa-4bbb-8ccc-${hex(n).slice(0, 12)}`,
    (n) => String(n * 37),
    (n) => `10.0.${n}.255`,
    (n) => n,
    () => 7.25,
    (n) => n + 0.1,
    (n) => (n % 9 === 0 ? n * 1e6 : undefined),
    (n) => (n === 3 ? 'rare' : undefined),
    (n) => [1, n],
    (n) => 2n ** 60n + BigInt(n),
    (n) => Array.from({ length: n % 3 }, (_, i) => ({ v: i === 0 ? n : `v${n}` })),
  ];
  const pairs = forms.flatMap((left, index) => forms.slice(index).map((right) => [left, right]));
  for (const [number, [left, right]] of pairs.entries()) {
    if ((number + seed) % PAIR_STEP === 0) {
      const events = Array.from({ length: 80 }, (_, n) => {
        const v = n < 40 ? left!(n) : right!(n);
        return { timestampUs: n % 50, metadata: v === undefined ? { n } : { v, n } };
      });
      expectMerged(mergeSegments(pieces(events, [40])), events);
    }
  }
});

test('rows of one time keep the order they arrived in, whatever segment they are in', () => {
  const events = Array.from({ length: 60 }, (_, n) => ({
    timestampUs: n % 3,
    project: 'pq'[n % 2]!,
  }));
  const segments = pieces(events, [7, 20, 21, 50]);
  expectMerged(mergeSegments(segments.toReversed()), events);
});

test('full edge events merge to the size they have when sealed at once', () => {
  const events = edgeEvents(2400, 11);
  const segments = pieces(events, [300, 600, 900, 1500]);
  const merged = mergeSegments(segments);
  const atOnce = sealedOf(events, 0);
  assert.deepEqual(contentsOf(merged), contentsOf(atOnce));
  const { byteLength } = atOnce;
  assert.ok(merged.byteLength <= byteLength * 1.03, `${merged.byteLength} of ${byteLength}`);
});

test('a column that lies in another is merged with segments that have only the other', () => {
  const events = Array.from({ length: 120 }, (_, n) => {
    const search = `?select=${'z'.repeat(n % 5)}&id=eq.${n * 7919}`;
    const url = `https://host.example/${n}${search}`;
    return { timestampUs: n, metadata: n >= 40 && n < 80 ? { url } : { url, search } };
  });
  const kinds = (buffer: SharedArrayBuffer): string[] =>
    readFooter(buffer).leaves.map(({ strings }) => strings!.packing.kind);
  const [first, second, third] = pieces(events, [40, 80]);
  assert.deepEqual(kinds(first!), ['plain', 'suffix']);
  expectMerged(mergeSegments([first!, second!]), events.slice(0, 80));
  expectMerged(mergeSegments([first!, second!, third!]), events);
  const both = [...events.slice(0, 40), ...events.slice(80)];
  const merged = mergeSegments(pieces(both, [40]));
  assert.deepEqual(kinds(merged), ['plain', 'suffix']);
  expectMerged(merged, both);
});

test('a leaf that was rare in each segment gets a column of its own when it is not any more', () => {
  const events = Array.from({ length: 300 }, (_, n) => ({
    timestampUs: n,
    metadata: n % 20 === 0 ? { often: n, seldom: `s${n}` } : { often: n },
  }));
  const segments = pieces(events, [100, 200]);
  assert.deepEqual(
    segments.map((segment) => readFooter(segment).leaves.length),
    [1, 1, 1],
  );
  const merged = mergeSegments(segments);
  expectMerged(merged, events);
  assert.equal(readFooter(merged).leaves.length, 1);
  const twice = [...events, ...events];
  const both = mergeSegments(pieces(twice, [100, 200, 300, 400, 500]));
  expectMerged(both, twice);
  assert.equal(readFooter(both).leaves.length, 2);
});

test('a repaired segment has NULL where the values of lost columns stood, and all else', () => {
  const events = Array.from({ length: 40 }, (_, n) => ({
    timestampUs: n,
    id: `id-${n}`,
    event_message: `m${n}`,
    project: 'p',
    metadata: {
      status: 200 + n,
      request: [{ path: `/a/${n}`, size: n }, { size: n + 0.5 }],
      ...(n === 5 ? { rare: 'once' } : {}),
    },
  }));
  const buffer = sealedOf(events, 0);
  const { leaves } = readFooter(buffer);
  const number = leaves.findIndex((leaf) => leaf.path.length === 2 && leaf.leafClass === 'number');
  const text = leaves.findIndex((leaf) => leaf.leafClass === 'text');
  const repaired = repairSegment(buffer, [number, text, 'residual', 'event_message']);
  const expected = events.map(
    ({ event_message, metadata: { request, status: _, ...rest }, ...event }) => {
      const { size } = request[0]!;
      const metadata = {
        status: null,
        request: [{ path: null, size }, request[1]!],
        ...('rare' in rest ? { rare: null } : {}),
      };
      return { ...event, metadata };
    },
  );
  assert.deepEqual(contentsOf(repaired), contentsOf(sealedOf(expected, 0)));
  assert.deepEqual(contentsOf(repairSegment(buffer, [])), contentsOf(buffer));
  const all = [...leaves.keys(), 'residual', 'id', 'event_message', 'project'] as const;
  assert.equal(SealedSegmentReader.open(repairSegment(buffer, all)).rowCount, 40);
});

test('sealing, merging and packing come to a checkpoint before each column or block', () => {
  const events = [1, 2, 3].map((n) => ({ timestampUs: n, metadata: { n, text: `text ${n}` } }));
  let count = 0;
  const checkpoint = (): void => {
    count += 1;
  };
  const counted = <T>(work: () => T): [T, number] => {
    const before = count;
    return [work(), count - before];
  };
  const open = new OpenSegment({ id: 1, arrivalBase: 0 });
  open.append(batchOf(events), 0, events.length);
  open.publish();
  const [[buffer], ofSeal] = counted(() =>
    sealSegment(open.handle(), { partitionUs: 1e9, checkpoint }),
  );
  const { leaves } = readFooter(buffer!);
  assert.ok(ofSeal > leaves.length, `${ofSeal} of ${leaves.length} columns`);
  const [merged, ofMerge] = counted(() => mergeSegments([buffer!], checkpoint));
  assert.ok(ofMerge > leaves.length, `${ofMerge} of ${leaves.length} columns`);
  const [image, ofPack] = counted(() => packImage(merged, checkpoint));
  // A block is planned first, and compressed once the order of all is known.
  assert.equal(ofPack, 2 * image.blocks.length);
});
