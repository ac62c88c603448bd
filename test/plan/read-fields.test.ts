import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Chunk, VectorChunk, type VectorFunction } from '../../engine/column/chunk.ts';
import { DYNAMIC } from '../../engine/column/type.ts';
import { constantVector } from '../../engine/column/vector.ts';
import { ReadFields } from '../../engine/plan/evaluate.ts';
import type { Expression } from '../../engine/plan/expression.ts';

type Field = Extract<Expression, { op: 'dynamic-field' }>;

function field(input: Expression, name: string): Field {
  return { op: 'dynamic-field', type: DYNAMIC, input, name };
}

const column = (id: number): Expression => ({ op: 'column', type: DYNAMIC, id });

test('a field is read once of a chunk, and anew of the next', () => {
  const fields = new ReadFields();
  const readOf: Chunk[] = [];
  const compile = (): VectorFunction => (chunk) => {
    readOf.push(chunk);
    return constantVector(null, chunk.count);
  };
  const one = fields.functionOf(field(field(column(1), 'a'), 'b'), compile);
  const same = fields.functionOf(field(field(column(1), 'a'), 'b'), compile);
  const [first, second] = [new VectorChunk([], 3), new VectorChunk([], 3)];
  assert.equal(one(first), same(first));
  assert.notEqual(same(second), one(first));
  assert.deepEqual(readOf, [first, second, first]);
});

test('fields of other columns, other names and computed values are read for themselves', () => {
  const fields = new ReadFields();
  const compile = (): VectorFunction => (chunk) => constantVector(null, chunk.count);
  const computed: Expression = { op: 'array', type: DYNAMIC, elements: [] } as never;
  const all = [
    field(column(1), 'a'),
    field(column(2), 'a'),
    field(column(1), 'b'),
    field(field(column(1), 'a'), 'a'),
    field(computed, 'a'),
    field(computed, 'a'),
    field(field(computed, 'a'), 'a'),
  ];
  const functions = all.map((one) => fields.functionOf(one, compile));
  assert.equal(new Set(functions).size, all.length);
});
