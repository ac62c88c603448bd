import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeSegments } from '../../engine/column/merge-segments.ts';
import { readFooter } from '../../engine/column/sealed-layout.ts';
import { SealedSegmentReader } from '../../engine/column/sealed-segment.ts';
import { takeVector, type Vector } from '../../engine/column/vector.ts';
import { runsOf } from '../support/budget.ts';
import type { EventValue, TestEvent } from './batch-of.ts';
import { asOldSegment } from './old-segment.ts';
import { sealedOf } from './stored-segment.ts';
import { textsOf } from './vector-texts.ts';

/** So many values have a column of their own. */
const ROWS = 80;

function usual(n: number): EventValue {
  return [{ request: [{ url: `u${n}`, status: n % 5, cf: { colo: 'fra' } }], seen: n / 2 }];
}

function eventsWith(odd: ReadonlyMap<number, EventValue>): TestEvent[] {
  return Array.from({ length: ROWS }, (_, n) => ({
    timestampUs: n,
    project: `p${n % 3}`,
    metadata: odd.has(n) ? odd.get(n)! : usual(n),
  }));
}

/** The depths of lists on the path of each column that all rows have in common. */
function commonOf(buffer: SharedArrayBuffer): (readonly number[])[] {
  return readFooter(buffer).leaves.flatMap(({ listDepths }) =>
    listDepths === undefined ? [] : [listDepths],
  );
}

test('footers say which columns have a value of each row, through records and lists of one', () => {
  const buffer = sealedOf(eventsWith(new Map()));
  deepEqual(commonOf(buffer).sort(), [[0], [0, 1], [0, 1], [0, 1]].sort());
  const lacking = eventsWith(new Map([[7, [{ request: [{ url: 'u', status: 'none' }] }]]]));
  deepEqual(commonOf(sealedOf(lacking)), [[0, 1]]);
  for (const odd of [null, [], {}, 'text', [usual(1), usual(2)]]) {
    deepEqual(commonOf(sealedOf(eventsWith(new Map([[7, odd]])))), []);
  }
});

type Step = (records: Vector) => Vector;

function field(name: string): Step {
  return (records) => (records.kind === 'nested' ? records.source.field(records, name) : records);
}

const element: Step = (lists) =>
  lists.kind === 'nested' ? lists.source.unnest(lists).elements : lists;

/** Ways from the roots to something. */
const WAYS: readonly (readonly Step[])[] = [
  [],
  [field('metadata')],
  [field('metadata'), element],
  [field('metadata'), field('seen')],
  [field('metadata'), element, field('request'), element, field('url')],
  [field('metadata'), field('request'), field('url')],
  [field('metadata'), element, field('request'), element, field('status')],
  [field('metadata'), field('request'), field('STATUS')],
  [field('metadata'), field('request'), field('cf'), element, field('colo')],
  [field('metadata'), field('request'), field('nobody')],
  [field('project_ref')],
];

/** What all ways lead to from rows that are listed, consecutive, and picked of others. */
function readAll(reader: SealedSegmentReader): unknown {
  const rows = Int32Array.from({ length: ROWS - 4 }, (_, index) => index + 2);
  const range = { start: 2, count: rows.length, isTimeOrdered: false };
  const picked = Int32Array.of(3, 3, 0, 17);
  const roots = [reader.roots(rows, rows.length), reader.range('root', range)!];
  return WAYS.map((steps) =>
    roots.map((root) => {
      const to = (from: Vector): Vector => steps.reduce((vector, step) => step(vector), from);
      const taken = steps.map((_, taken) => {
        const before = steps.slice(0, taken).reduce((vector, step) => step(vector), root);
        if (before.count !== rows.length) return [];
        const few = takeVector(before, picked, picked.length);
        return textsOf(steps.slice(taken).reduce((vector, step) => step(vector), few));
      });
      return [textsOf(to(root)), taken];
    }),
  );
}

test('fields are the same as by skeletons, whatever some rows have', () => {
  const odd = fc.constantFrom<EventValue>(
    ...[null, [], {}, 'text', [{ request: [] }], [{ request: { url: 'u', status: 1 } }]],
    ...[[{ request: [{ url: 1, status: 'x' }] }], [{ request: [{ URL: 'u', url: 'v' }] }]],
    ...[[{ request: [{ url: 'a' }, { url: 'b' }] }], [usual(1), usual(2)], { seen: 1.5 }],
    ...[[{ request: [{ url: 'u', status: 2, cf: [{ colo: 'ams' }] }], seen: null }]],
  );
  const places = fc.array(fc.tuple(fc.nat(ROWS - 1), odd), { maxLength: 3 });
  let commonCount = 0;
  fc.assert(
    fc.property(places, (oddOnes) => {
      const sealed = sealedOf(eventsWith(new Map(oddOnes)));
      for (const buffer of [sealed, mergeSegments([sealed])]) {
        commonCount += commonOf(buffer).length;
        const old = asOldSegment(buffer);
        equal(commonOf(old).length, 0);
        deepEqual(
          readAll(SealedSegmentReader.open(buffer)),
          readAll(SealedSegmentReader.open(old)),
        );
      }
    }),
    { numRuns: runsOf(100) },
  );
  ok(commonCount > 0);
});
