import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeSegments, repairSegment } from '../../engine/column/merge-segments.ts';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import type { RowRanges } from '../../engine/column/positions.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readFooter, sealedColumnsOf } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { runsOf } from '../support/budget.ts';
import { batchOf, type EventValue, type TestEvent } from './batch-of.ts';
import { asOldSegment } from './old-segment.ts';

const URL_PATH = ['metadata', 'request', 'url'];
const ROWS = 2400;

function sealedOf(events: readonly TestEvent[], arrivalBase = 0): SharedArrayBuffer {
  const segment = new OpenSegment({ id: 1, arrivalBase });
  segment.append(batchOf(events), 0, events.length);
  segment.publish();
  return sealSegment(segment.handle(), { partitionUs: 1e17 })[0]!;
}

/** A URL like all others, but for its number and the needle that some have. */
function urlOf(n: number, needle = ''): string {
  return `https://project.example.com/rest/v1/${needle}/todos?select=*&order=created.desc&id=eq.${n}`;
}

function wordOf(url: string): string {
  return url.replace(/[^a-z0-9]/g, '_');
}

/** ROWS events in order of time, each with its URL, but for those of `odd`: their whole metadata. */
function eventsWith(odd: ReadonlyMap<number, EventValue>): TestEvent[] {
  return Array.from({ length: ROWS }, (_, n) => ({
    timestampUs: n,
    metadata: odd.has(n) ? odd.get(n)! : { request: { url: urlOf(n) } },
  }));
}

function holds(ranges: RowRanges, row: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (row >= ranges[at]! && row < ranges[at + 1]!) return true;
  }
  return false;
}

function rowCountOf(ranges: RowRanges): number {
  let count = 0;
  for (let at = 0; at < ranges.length; at += 2) count += ranges[at + 1]! - ranges[at]!;
  return count;
}

/** The rows of a segment that may hold the needle; fails when there is no telling. */
function rowsWith(buffer: SharedArrayBuffer, text = 'needle', path = URL_PATH): RowRanges {
  const ranges = SealedSegmentReader.open(buffer).rowsWith({ path, text });
  assert.ok(ranges !== undefined, 'the column of URLs has a signature');
  return ranges;
}

test('tells the rows of the block that has a text from all others', () => {
  const events = eventsWith(new Map([[700, { request: { url: urlOf(700, 'needle') } }]]));
  const ranges = rowsWith(sealedOf(events), '/needle/');
  assert.equal(ranges.length, 2);
  assert.ok(holds(ranges, 700));
  assert.equal(rowCountOf(ranges), Math.ceil(ROWS / 8));
  assert.equal(rowCountOf(rowsWith(sealedOf(events), 'nowhere')), 0);
  assert.deepEqual([...rowsWith(sealedOf(events), 'example')], [0, ROWS]);
});

test('of a text that is one word the rows alone are told where strings are taken apart', () => {
  const events = eventsWith(new Map([[700, { request: { url: urlOf(700, 'needle') } }]]));
  assert.deepEqual([...rowsWith(sealedOf(events))], [700, 701]);
  const odd: EventValue[] = [{ request: { url: urlOf(9) } }, { request: { url: urlOf(9) } }];
  const lists = eventsWith(
    new Map<number, EventValue>([
      [3, odd],
      [4, { other: 1 }],
      [700, { request: { url: urlOf(700, 'needle') } }],
    ]),
  );
  assert.deepEqual([...rowsWith(sealedOf(lists))], [700, 701]);
});

test('footers say which columns have all strings at a path, where that can be said', () => {
  const known = sealedOf(eventsWith(new Map([[700, { request: { URL: 'a' } }]])));
  const columnsOf = (buffer: SharedArrayBuffer) =>
    readFooter(buffer).leaves.flatMap(({ textSources }) => textSources ?? []);
  // The other spelling is in no column of its own.
  assert.deepEqual(columnsOf(known), []);
  assert.deepEqual(columnsOf(sealedOf(eventsWith(new Map()))), [0]);
  const text = eventsWith(new Map([[700, { request: { other: 'a' } }]]));
  assert.equal(columnsOf(sealedOf(text)).length, 1);
});

test('there is no telling for a short text, another path, or an open segment', () => {
  const events = eventsWith(new Map());
  const reader = SealedSegmentReader.open(sealedOf(events));
  assert.equal(reader.rowsWith({ path: URL_PATH, text: 'zz' }), undefined);
  assert.equal(reader.rowsWith({ path: URL_PATH, text: '' }), undefined);
  for (const path of [['url'], ['metadata', 'url'], ['metadata', 'request'], [...URL_PATH, 'x']]) {
    assert.equal(reader.rowsWith({ path, text: 'needle' }), undefined);
  }
});

test('a few values have no signature, so there is no telling', () => {
  const reader = SealedSegmentReader.open(sealedOf(eventsWith(new Map()).slice(0, 100)));
  assert.equal(reader.rowsWith({ path: URL_PATH, text: 'needle' }), undefined);
});

/** What a row may hold at the path besides a record with a URL; the needle is in each. */
const HIDDEN: ReadonlyMap<string, EventValue> = new Map<string, EventValue>([
  ['an element of several', [{ request: { url: 'a' } }, { request: { url: urlOf(1, 'needle') } }]],
  ['a request of several', { request: [{ url: 'a' }, { url: 'b' }, { url: urlOf(1, 'needle') }] }],
  ['another case of the key', { request: { URL: urlOf(1, 'needle') } }],
  ['another case above', { Request: { url: urlOf(1, 'needle') } }],
  ['two spellings', { request: { url: urlOf(1), Url: urlOf(1, 'needle') } }],
  ['a list of texts', { request: { url: ['a', urlOf(1, 'needle')] } }],
  ['a list of lists', { request: { url: [['a'], [urlOf(1, 'needle')]] } }],
  ['a list of lists above', { request: [[{ url: urlOf(1, 'needle') }]] }],
  ['records among others in a list', { request: [1, { url: urlOf(1, 'needle') }] }],
]);

for (const [name, metadata] of HIDDEN) {
  test(`a row is among those told if its text lies in ${name}, sealed or merged`, () => {
    for (const row of [0, 1000, ROWS - 1]) {
      const events = eventsWith(new Map([[row, metadata]]));
      const halves = [sealedOf(events.slice(0, 900)), sealedOf(events.slice(900), 900)];
      for (const buffer of [sealedOf(events), mergeSegments(halves)]) {
        const ranges = rowsWith(buffer);
        assert.ok(holds(ranges, row));
        assert.ok(rowCountOf(ranges) <= ROWS / 4, 'and most others are not');
      }
    }
  });
}

test('records and nothing at the path hold no text', () => {
  const odd = [null, {}, [], { needle: 'needle' }, [{ needle: 1 }]];
  const events = eventsWith(
    new Map(odd.map((url, index) => [100 * index, { request: { url } }] as const)),
  );
  assert.equal(rowCountOf(rowsWith(sealedOf(events))), 0);
});

test('rows with a number or a boolean at the path are kept, as the index has no texts of these', () => {
  const rows = [300, 700, 1100, 1500, 1900];
  const values = [1, 1.5, true, false, 2n ** 70n];
  const events = eventsWith(
    new Map(values.map((url, index) => [rows[index]!, { request: { url } }] as const)),
  );
  for (const buffer of [sealedOf(events), asOldSegment(sealedOf(events))]) {
    assert.deepEqual(
      [...rowsWith(buffer)],
      rows.flatMap((row) => [row, row + 1]),
    );
  }
});

test('the rows of a column that only some rows have, or that have several values', () => {
  const odd = new Map<number, EventValue>();
  for (let n = 0; n < ROWS; n++) {
    if (n % 3 === 0) odd.set(n, { other: n });
    if (n % 3 === 1) odd.set(n, [{ request: [{ url: urlOf(n) }, { url: urlOf(-n) }] }]);
  }
  odd.set(1501, [{ request: [{ url: urlOf(1501) }, { url: urlOf(1501, 'needle') }] }]);
  const ranges = rowsWith(sealedOf(eventsWith(odd)));
  assert.ok(holds(ranges, 1501));
  assert.ok(rowCountOf(ranges) <= ROWS / 4);
});

for (const [kind, mark] of [
  ['suffix', ';'],
  ['excerpt', '?'],
] as const) {
  test(`a column that lies in another one is told by that one: ${kind}`, () => {
    const events = Array.from({ length: ROWS }, (_, n) => {
      const search = `${mark}select=*&order=created.desc&id=eq.${n}-${n === 700 ? 'needle' : 'x'}`;
      return { timestampUs: n, metadata: { url: `https://example.com/${n}${search}`, search } };
    });
    const buffer = sealedOf(events);
    const kinds = readFooter(buffer).leaves.map((leaf) => leaf.strings?.packing.kind);
    assert.ok(kinds.includes(kind), kinds.join());
    const ranges = rowsWith(buffer, 'needle', ['metadata', 'search']);
    assert.ok(holds(ranges, 700));
    assert.ok(rowCountOf(ranges) <= ROWS / 4);
  });
}

test('a dictionary of nearly distinct strings has a signature of its values', () => {
  const events = eventsWith(new Map()).map((event, n) => ({
    ...event,
    // One word each: there is nothing that they could be taken apart at.
    metadata: { request: { url: wordOf(urlOf(n % 1200, n % 1200 === 30 ? 'needle' : '')) } },
  }));
  const buffer = sealedOf(events);
  const [leaf] = readFooter(buffer).leaves;
  const { codes } = leaf!.strings!;
  assert.equal(typeof codes === 'object' && codes?.width, 2);
  const ranges = rowsWith(buffer);
  assert.ok(holds(ranges, 30) && holds(ranges, 1230));
  assert.equal(ranges.length, 4);
});

test('a segment without the damaged column has no signature of it, and those of others', () => {
  const events = eventsWith(new Map()).map((event, n) => ({
    ...event,
    metadata: { request: { url: urlOf(n), referer: urlOf(-n, 'lost') } },
  }));
  const buffer = sealedOf(events);
  const footer = readFooter(buffer);
  const column = footer.leaves.findIndex((leaf) => leaf.strings?.signature !== undefined);
  const { bits } = footer.leaves[column]!.strings!.signature!;
  const damaged = sealedColumnsOf(footer).filter(({ slices }) => slices.includes(bits));
  assert.deepEqual(
    damaged.map((each) => each.column),
    [column],
  );
  const repaired = SealedSegmentReader.open(repairSegment(buffer, [column]));
  const paths = [URL_PATH, ['metadata', 'request', 'referer']];
  const told = paths.map((path) => repaired.rowsWith({ path, text: 'needle' }) !== undefined);
  assert.deepEqual(told.sort(), [false, true]);
});

test('no row that has a text at the path is left out, whatever else is there', () => {
  const hidden = fc.constantFrom(...HIDDEN.values());
  const places = fc.array(fc.tuple(fc.nat(ROWS - 1), hidden), { maxLength: 12 });
  fc.assert(
    fc.property(places, fc.nat(ROWS), fc.nat(ROWS), (odd, cut, start) => {
      const events = eventsWith(new Map(odd));
      const parts = [events.slice(0, cut), events.slice(cut)].filter((part) => part.length > 0);
      const buffers = parts.map((part, index) => sealedOf(part, index === 0 ? 0 : cut));
      const merged = mergeSegments(buffers);
      const reader = SealedSegmentReader.open(merged);
      const ranges = reader.rowsWith({ path: URL_PATH, text: 'needle' });
      assert.ok(ranges !== undefined);
      assert.deepEqual(rowsWith(asOldSegment(merged)), ranges);
      for (const [row] of odd) assert.ok(holds(ranges, row));
      const among = { start, count: Math.floor((ROWS - start) / 2) };
      const some = reader.rowsWith({ path: URL_PATH, text: 'needle' }, among);
      assert.ok(some !== undefined);
      const isAmong = (row: number) => row >= start && row < start + among.count;
      for (const [row] of odd) assert.ok(!isAmong(row) || holds(some, row));
    }),
    { numRuns: runsOf(15) },
  );
});
