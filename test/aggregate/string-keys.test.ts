import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GroupTable } from '../../engine/aggregate/group-table.ts';
import { packUuid, UUID_BYTES } from '../../engine/column/number-vectors.ts';
import { DYNAMIC, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { dictionaryVector, type Vector, valueAt, valueVector } from '../../engine/column/vector.ts';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { asDictionary } from './rows-of-groups.ts';

const UUIDS = [
  '0d2f9a3c-1b4e-4f5a-8c6d-7e8f90a1b2c3',
  '0d2f9a3c-1b4e-4f5a-8c6d-7e8f90a1b2c4',
  '00000000-0000-0000-0000-000000000000',
];

const TEXTS = [
  ...['', 'a', 'é', '\ud800', '\ufffd', '/rest/v1/orders', 'true', '1'],
  // As long as a UUID, and nearly one.
  ...['0D2F9A3C-1B4E-4F5A-8C6D-7E8F90A1B2C3', '0d2f9a3c-1b4e-4f5a-8c6d_7e8f90a1b2c3'],
  ...['0d2f9a3c-1b4e-4f5a-8c6d-7e8f90a1b2cg', '-'.repeat(36), '0'.repeat(36)],
];

type Strings = readonly (string | null)[];

/** Strings end to end, each row with a code of its own. */
function asBlock(values: Strings): Vector {
  const parts = values.map((value) => encodeWtf8(value ?? ''));
  const offsets = new Uint32Array(values.length + 1);
  parts.forEach((part, index) => {
    offsets[index + 1] = offsets[index]! + part.length;
  });
  const codes = Int32Array.from(values, (value, index) => (value === null ? -1 : index));
  return dictionaryVector(codes, values.length, {
    size: values.length,
    isDistinct: false,
    value: (code) => values[code]!,
    strings: { bytes: new Uint8Array(Buffer.concat(parts)), offsets },
  });
}

/** UUIDs packed end to end. */
function asUuids(values: Strings): Vector {
  const uuids = new Uint8Array(UUID_BYTES * values.length);
  values.forEach((value, index) => {
    const text = Buffer.from(value ?? UUIDS[0]!);
    assert.ok(packUuid(text, 0, text.length, uuids.subarray(UUID_BYTES * index)));
  });
  const codes = Int32Array.from(values, (value, index) => (value === null ? -1 : index));
  const value = (code: number): SqlValue => values[code]!;
  return dictionaryVector(codes, values.length, {
    ...{ size: values.length, isDistinct: false, value, uuids },
  });
}

const anyUuid = fc.constantFrom(null, ...UUIDS);
const anyString = fc.oneof(anyUuid, fc.constantFrom(...TEXTS));

/** Rows in one of the forms that can hold them. */
const anyRows = fc.oneof(
  fc.tuple(fc.array(anyString), fc.constantFrom(valueVector, asDictionary, asBlock)),
  fc.tuple(fc.array(anyUuid), fc.constantFrom(valueVector, asDictionary, asBlock, asUuids)),
);

test('strings are the same keys in whatever form they come, also across tables', () => {
  fc.assert(
    fc.property(
      fc.array(anyRows, { maxLength: 6 }),
      fc.constantFrom(STRING, DYNAMIC),
      (parts, type) => {
        const table = new GroupTable([type]);
        const known = new Map<string | null, number>();
        for (const [values, form] of parts) {
          const expected = values.map((value) => {
            const group = known.get(value) ?? known.size;
            known.set(value, group);
            return group;
          });
          const groups = table.assign([form(values)], values.length);
          assert.deepEqual([...groups.subarray(0, values.length)], expected);
        }
        expectKeys(table, [...known.keys()]);
        const other = new GroupTable([type]);
        other.assign([valueVector(['z', ...UUIDS])], 4);
        const theirs = other.combine(structuredClone(table.keys()));
        for (const [value, group] of known) assert.equal(other.key(theirs[group]!, 0), value);
        assert.equal(other.size, new Set(['z', ...UUIDS, ...known.keys()]).size);
      },
    ),
  );
});

function expectKeys(table: GroupTable, keys: Strings): void {
  const groups = Int32Array.from(keys, (_, group) => group);
  const vector = table.keyVector(groups, 0);
  keys.forEach((key, group) => {
    assert.equal(table.key(group, 0), key);
    assert.equal(valueAt(vector, group), key);
  });
}
