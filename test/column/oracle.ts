import assert from 'node:assert/strict';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { isNested, type SqlValue } from '../../engine/column/value.ts';
import { type NestedVector, type Vector, valueAt } from '../../engine/column/vector.ts';
import { type EventValue, entriesOf, HugeNumber, isRecord, jsonOf } from './batch-of.ts';

/** The root record of an event as the segments keep it: `metadata` is a list. */
export function rootOf(event: { readonly [key: string]: EventValue | undefined }): EventValue {
  const declared = new Set(['id', 'timestampUs', 'event_message', 'project', 'projectKey']);
  const fields: [string, EventValue][] = [];
  for (const [key, value] of Object.entries(event)) {
    if (declared.has(key) || value === undefined) continue;
    fields.push([key, key === 'metadata' && isRecord(value) ? [value] : value]);
  }
  return new Map(fields);
}

/** The field of a record, by the plainest reading of `Nested.field`. */
function fieldOf(value: EventValue, name: string): EventValue {
  if (Array.isArray(value)) {
    return value.length === 1 && isRecord(value[0]) ? fieldOf(value[0], name) : null;
  }
  if (!isRecord(value)) return null;
  const entries = entriesOf(value);
  const exact = entries.find(([key]) => key === name);
  if (exact !== undefined) return exact[1];
  const lower = name.toLowerCase();
  return entries.find(([key]) => key.toLowerCase() === lower)?.[1] ?? null;
}

function elementsOf(value: EventValue): readonly EventValue[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? [value] : [];
}

/** Checks each value of a vector and, where it holds records and lists, all that is below them. */
export function expectVector(
  vector: Vector,
  expected: readonly EventValue[],
  names: readonly string[],
  levels: number,
): void {
  assert.equal(vector.count, expected.length);
  for (let i = 0; i < expected.length; i++) expectValue(valueAt(vector, i), expected[i]!);
  if (vector.kind !== 'nested' || levels === 0) return;
  const { source } = vector;
  for (const form of [vector, plainForm(vector)]) {
    for (const name of names) {
      const fields = expected.map((value) => fieldOf(value, name));
      expectVector(source.field(form, name), fields, names, form === vector ? levels - 1 : 0);
    }
    expectUnnested(form, expected, names, form === vector ? levels - 1 : 0);
  }
}

/** The same records without what their source remembers of how they were come by. */
function plainForm({ source, rows, nodes, count }: NestedVector): NestedVector {
  return { kind: 'nested', source, rows, nodes, count };
}

function expectUnnested(
  vector: NestedVector,
  expected: readonly EventValue[],
  names: readonly string[],
  levels: number,
): void {
  const unnested = vector.source.unnest(vector);
  const lists = expected.map(elementsOf);
  const parents = lists.flatMap((elements, parent) => elements.map(() => parent));
  assert.equal(unnested.count, parents.length);
  assert.deepEqual([...(unnested.parents ?? parents.keys())].slice(0, parents.length), parents);
  expectVector(unnested.elements, lists.flat(), names, levels);
}

function expectValue(actual: SqlValue, expected: EventValue): void {
  if (isNested(actual)) {
    assert.equal(actual.isList, Array.isArray(expected));
    const out = new JsonBuffer();
    actual.writeJson(out);
    assert.equal(Buffer.from(out.take()).toString('utf8'), jsonOf(expected, true));
    return;
  }
  assert.ok(Object.is(actual, scalarOf(expected)), `${String(actual)} is ${String(expected)}`);
}

function scalarOf(value: EventValue): SqlValue | undefined {
  if (value instanceof HugeNumber) return null;
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  return value === null || typeof value !== 'object' ? value : undefined;
}
