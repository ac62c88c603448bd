import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenSegment } from '../../engine/column/open-segment.ts';
import { sealSegment } from '../../engine/column/seal.ts';
import { readSegment } from '../../engine/column/segment-reader.ts';
import { isNested, type SqlValue } from '../../engine/column/value.ts';
import { takeVector, type Vector, valueAt } from '../../engine/column/vector.ts';
import { batchOf, type EventValue } from './batch-of.ts';

const DAY_US = 86_400_000_000;
let segmentCount = 2_000_000_000;

const record = fc.constantFrom<EventValue>(
  { a: 1, list: [{ b: 'x' }] },
  { a: 2, list: [{ b: 'y' }] },
  { a: 2.5, list: [{ b: 'y' }, { b: 'z' }] },
  { list: [] },
  { a: 'text', list: { b: 'w' } },
  { a: null },
);

function values(vector: Vector): SqlValue[] {
  return Array.from({ length: vector.count }, (_, index) => {
    const value = valueAt(vector, index);
    return isNested(value) ? '{}' : value;
  });
}

/** What a query reads below some root records, whatever the forms of the vectors. */
function read(roots: Vector): SqlValue[][] {
  const metadata = fieldOf(roots, 'metadata');
  const lists = fieldOf(metadata, 'list');
  const scalars = [values(metadata), values(fieldOf(metadata, 'a')), values(lists)];
  if (lists.kind !== 'nested') return scalars;
  const { elements, parents, count } = lists.source.unnest(lists);
  const parentOf = parents ?? Int32Array.from({ length: count }, (_, index) => index);
  return [...scalars, [...parentOf], values(fieldOf(elements, 'b'))];
}

function fieldOf(vector: Vector, name: string): Vector {
  return vector.kind === 'nested' ? vector.source.field(vector, name) : vector;
}

test('records of a range, taken by positions, are those of the same rows read one by one', () => {
  const records = fc.array(record, { minLength: 1, maxLength: 12 });
  const picks = fc.array(fc.integer({ min: -1, max: 20 }), { maxLength: 12 });
  fc.assert(
    fc.property(records, fc.nat(), fc.nat(), picks, (metadata, from, length, picked) => {
      const events = metadata.map((value, index) => ({ timestampUs: index, metadata: [value] }));
      const open = new OpenSegment({ id: ++segmentCount, arrivalBase: 0 });
      open.append(batchOf(events), 0, events.length);
      open.publish();
      const [buffer] = sealSegment(open.handle(), { partitionUs: DAY_US });
      const segment = readSegment({ kind: 'sealed', id: ++segmentCount, buffer: buffer! });
      const start = from % events.length;
      const count = 1 + (length % (events.length - start));
      const range = segment.range?.('root', { start, count, isTimeOrdered: true });
      assert.ok(range?.kind === 'nested');
      const positions = Int32Array.from(picked, (pick) => (pick < 0 ? -1 : pick % count));
      const rows = Int32Array.from({ length: count }, (_, index) => start + index);
      const plain = segment.roots(rows, count);
      assert.deepEqual(read(range), read(plain));
      const taken = takeVector(range, positions, positions.length);
      assert.deepEqual(read(taken), read(plainlyTaken(plain, positions)));
    }),
  );
});

/** By rows and nodes alone. */
function plainlyTaken(vector: Vector, positions: Int32Array): Vector {
  assert.ok(vector.kind === 'nested');
  const { rows, nodes, source, count } = vector;
  return takeVector({ kind: 'nested', rows, nodes, source, count }, positions, positions.length);
}
