import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ENTRY_ALIGNMENT } from '../../engine/column/extract/values-extract.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { type ExtractFrom, SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
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
  const from = new From(buffer);
  const taken = whole.extractOf(projectKey, from);
  if (taken === undefined) return undefined;
  const reader = taken.segment;
  const result = { whole, run, reader, start: run.start % ENTRY_ALIGNMENT };
  expectSame(result);
  return { ...result, readBytes: from.readBytes };
}

class From implements ExtractFrom {
  readonly imageSize: number;
  readonly rowsMax = Number.POSITIVE_INFINITY;
  readBytes = 0;
  readonly #buffer: SharedArrayBuffer;

  constructor(buffer: SharedArrayBuffer) {
    this.imageSize = buffer.byteLength;
    this.#buffer = buffer;
  }

  readonly expect = () => {};

  readonly read: ExtractFrom['read'] = ([offset], from, to) => {
    this.readBytes += to - from;
    return new Uint8Array(this.#buffer, offset + from, to - from);
  };
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

const URL_PATH = ['metadata', 'request', 'url'];

/** Events of some projects, each with the project in its URL, or with a text in its place. */
function requests(count: number, placeOf: (n: number) => string | undefined): TestEvent[] {
  return Array.from({ length: count }, (_, n) => {
    const project = `reference${n % 7}zz`;
    const place = placeOf(n);
    const url =
      place === 'elsewhere'
        ? { request: { URL: `https://x.example.com/needle/${n}` } }
        : {
            request: { url: `https://${project}.example.com/rest/${place ?? 'todos'}?id=eq.${n}` },
          };
    return { timestampUs: n, project, metadata: url };
  });
}

test('rows that may hold a text are taken out, each once, with few others', () => {
  const place = fc.constantFrom('needle', 'needle/x', `${'n'.repeat(300)}needle`, 'elsewhere');
  const places = fc.array(fc.tuple(fc.nat(3_999), place), { maxLength: 6 });
  let takenCount = 0;
  fc.assert(
    fc.property(places, fc.constantFrom('needle', 'reference3zz', 'nowhere'), (odd, text) => {
      const placeOf = new Map(odd);
      const buffer = sealed(requests(4_000, (n) => placeOf.get(n)));
      const whole = SealedSegmentReader.open(buffer);
      const extracts = whole.extractsWith([{ path: URL_PATH, text }], new From(buffer));
      if (extracts === undefined) return;
      takenCount++;
      const arrivals = extracts.flatMap(({ segment }) => {
        const [run, ...others] = segment.runs(undefined);
        ok(run !== undefined && others.length === 0);
        const here = rowsFrom(run.start, run.count);
        const taken = textsOf(segment.arrivals(here, run.count));
        const start = textsOf(whole.arrivals(rowsFrom(0, 4_000), 4_000)).indexOf(taken[0]!);
        expectSame({
          ...{ whole, run: { ...run, start }, reader: segment, start: run.start },
        });
        return taken;
      });
      equal(new Set(arrivals).size, arrivals.length);
      const wanted = textsOf(whole.roots(rowsFrom(0, 4_000), 4_000)).flatMap((root, row) =>
        JSON.stringify(root).includes(text) ? [row] : [],
      );
      const all = textsOf(whole.arrivals(rowsFrom(0, 4_000), 4_000));
      for (const row of wanted) ok(arrivals.includes(all[row]!), `row ${row}`);
      ok(arrivals.length <= wanted.length + 600 * (odd.length + 1), `${arrivals.length} rows`);
    }),
    { numRuns: runsOf(30) },
  );
  ok(takenCount > 0);
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
