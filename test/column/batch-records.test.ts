import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchRecords } from '../../engine/column/batch.ts';
import { JsonBuffer } from '../../engine/column/json-buffer.ts';
import { RECORD_DEPTH_MAX } from '../../engine/limits.ts';
import { batchOf, type EventValue, HugeNumber, jsonOf, type TestEvent } from './batch-of.ts';

function written(events: readonly TestEvent[]): string[] {
  const records = new BatchRecords(batchOf(events));
  const out = new JsonBuffer();
  return events.map((_, row) => {
    out.clear();
    records.write(row, out);
    return Buffer.from(out.written()).toString();
  });
}

/** What answers show of an event beside its columns. */
function shown({
  id,
  timestampUs,
  event_message,
  project,
  projectKey,
  ...root
}: TestEvent): string {
  const { metadata, ...others } = root;
  const fields: Record<string, EventValue> = {};
  if (metadata !== undefined) fields['metadata'] = metadata;
  for (const [key, value] of Object.entries(others)) fields[key] = value!;
  return jsonOf(fields, true);
}

function expectShown(events: readonly TestEvent[]): void {
  assert.deepEqual(written(events), events.map(shown));
}

test('a row is written as answers show it: key order, kinds, maps as lists of one', () => {
  expectShown([
    { timestampUs: 1, metadata: { b: 1, a: 'x', n: null, t: true, f: false, e: [] } },
    { timestampUs: 2, metadata: { big: 12345678901234567890n, huge: new HugeNumber('1e999') } },
    { timestampUs: 3, metadata: [{ m: { k: -0 } }, { m: { k: 0.5 } }], list: [1, 'a', null] },
    { timestampUs: 4 },
    { timestampUs: 5, level: 'warn "quoted" \\ \n \u0001 ü 😀 \ud800' },
  ]);
});

test('rows of one skeleton have their own values, and rows of other skeletons come between', () => {
  expectShown(
    Array.from({ length: 50 }, (_, n) => ({
      timestampUs: n,
      metadata: n % 3 === 0 ? { a: n, b: `b ${n}` } : { b: `b ${n}`, a: n },
    })),
  );
});

test('a record below the deepest level of records is written from its text', () => {
  let value: EventValue = { leaf: [{ x: 1 }] };
  for (let depth = 0; depth < RECORD_DEPTH_MAX + 3; depth++) value = { down: value, beside: depth };
  expectShown([{ timestampUs: 1, metadata: value }]);
});
