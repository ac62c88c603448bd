import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENTRY_ALIGNMENT } from '../../engine/column/extract/positions-extract.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import type { RowRun, SegmentColumn } from '../../engine/column/segment.ts';
import type { Vector } from '../../engine/column/vector.ts';
import { budgetOf, runsOf } from '../support/budget.ts';
import { anyEvents } from './any-event.ts';
import { anyUrls } from './any-url.ts';
import { batchOf, type TestEvent } from './batch-of.ts';
import { edgeEvents } from './edge-events.ts';
import { textsOf } from './vector-texts.ts';

function sealed(events: readonly TestEvent[]): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase: 7 });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!;
}

type Extracted = {
  readonly whole: SealedSegmentReader;
  readonly run: RowRun;
  readonly reader: SealedSegmentReader;
  /** Where the run begins in the extract. */
  readonly start: number;
  readonly readBytes: number;
};

/** The rows of a project as they lie in the segment, and as they were taken out of it. */
function extracted(buffer: SharedArrayBuffer, projectKey: string): Extracted | undefined {
  const whole = SealedSegmentReader.open(buffer);
  const run = whole.runs(projectKey).find(({ hasProjectKey }) => hasProjectKey);
  if (run === undefined) return undefined;
  let readBytes = 0;
  const taken = whole.extractOf(projectKey, {
    imageSize: buffer.byteLength,
    rowsMax: Number.POSITIVE_INFINITY,
    read: ([offset], from, to) => {
      readBytes += to - from;
      return new Uint8Array(buffer, offset + from, to - from);
    },
  });
  if (taken === undefined) return undefined;
  const reader = taken.segment;
  const result = { whole, run, reader, start: run.start % ENTRY_ALIGNMENT };
  expectSame(result);
  return { ...result, readBytes };
}

const COLUMNS: readonly SegmentColumn[] = [
  'id',
  'timestamp',
  'event_message',
  'project',
  'root',
  'arrival',
];

function expectSame({ whole, run, reader, start }: Omit<Extracted, 'readBytes'>): void {
  const { count } = run;
  const there = rowsFrom(run.start, count);
  const here = rowsFrom(start, count);
  for (const [name, read] of Object.entries(READS)) {
    deepEqual(textsOf(read(reader, here)), textsOf(read(whole, there)), name);
  }
  const range = { count, isTimeOrdered: true };
  for (const column of COLUMNS) {
    const wanted = whole.range(column, { ...range, start: run.start });
    const got = reader.range(column, { ...range, start });
    if (wanted !== undefined && got !== undefined) deepEqual(textsOf(got), textsOf(wanted), column);
  }
}

const READS: Readonly<Record<string, (from: SealedSegmentReader, rows: Int32Array) => Vector>> = {
  timestamps: (from, rows) => from.timestamps(rows, rows.length),
  arrivals: (from, rows) => from.arrivals(rows, rows.length),
  ids: (from, rows) => from.ids(rows, rows.length),
  messages: (from, rows) => from.messages(rows, rows.length),
  projects: (from, rows) => from.projects(rows, rows.length),
  roots: (from, rows) => from.roots(rows, rows.length),
  // A field is read by another way than a record that is written.
  field: (from, rows) => fieldOf(from.roots(rows, rows.length), 'metadata'),
  'field of a field': (from, rows) =>
    fieldOf(fieldOf(from.roots(rows, rows.length), 'metadata'), 'url'),
};

function fieldOf(vector: Vector, name: string): Vector {
  return vector.kind === 'nested' ? vector.source.field(vector, name) : vector;
}

function rowsFrom(start: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => start + index);
}

test('rows of a project that are taken out of a segment are those that lie in it, whatever they are', () => {
  let count = 0;
  fc.assert(
    fc.property(anyEvents, anyEvents, (events, others) => {
      const ofOthers = [0, 1, 2, 3, 4].flatMap((n) =>
        others.map((event) => ({ ...event, project: `other ${n}` })),
      );
      const own = events.slice(0, others.length).map((event) => ({ ...event, project: 'own' }));
      count += Number(extracted(sealed([...ofOthers, ...own]), 'own') !== undefined);
    }),
    { numRuns: runsOf(300) },
  );
  ok(count > 0);
});

test('so are URLs that were taken apart, their paths and their queries', () => {
  fc.assert(
    fc.property(anyUrls(700), (urls) => {
      const events = urls.map((url, n) => {
        const rest = url.replace(/^[a-z]*:\/\/[^/?#]*/, '');
        const path = rest.replace(/[?#].*$/s, '');
        return { timestampUs: n, project: `p${n % 5}`, metadata: { url, path } };
      });
      ok(extracted(sealed(events), 'p1') !== undefined);
    }),
    { numRuns: runsOf(60) },
  );
});

/** Of a hundred projects. */
const EDGE_EVENTS = budgetOf('WEIR_EXTRACTED_EVENTS', { fast: 3_000, all: 6_000 });

test('of edge events little more is read than the rows of the project take', () => {
  const projects = Array.from({ length: 100 }, (_, n) => `project-${n}`);
  const events = edgeEvents(EDGE_EVENTS, 5).map((event, n) => ({
    ...event,
    project: projects[(n * n) % 100]!,
  }));
  const buffer = sealed(events);
  for (const projectKey of ['project-0', 'project-41', 'project-96']) {
    const { run, readBytes } = extracted(buffer, projectKey)!;
    const share = (run.count + ENTRY_ALIGNMENT) / events.length;
    ok(
      readBytes < buffer.byteLength * share * 2 + 200_000,
      `${readBytes} bytes of ${run.count} rows`,
    );
  }
  equal(extracted(buffer, 'nobody'), undefined);
});
