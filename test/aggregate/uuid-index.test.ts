import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UuidIndex } from '../../engine/aggregate/uuid-index.ts';
import { UUID_BYTES } from '../../engine/column/number-vectors.ts';

test('packed UUIDs are numbered as they are first met, wherever they lie', () => {
  const anyUuid = fc.uint8Array({ minLength: UUID_BYTES, maxLength: UUID_BYTES });
  const few = fc.nat(300).map((byte) => new Uint8Array(UUID_BYTES).fill(byte, byte % UUID_BYTES));
  const anyEntries = fc.array(fc.tuple(fc.oneof(anyUuid, few), fc.nat(5)), { maxLength: 300 });
  fc.assert(
    fc.property(anyEntries, (entries) => {
      const index = new UuidIndex();
      const expected = new Map<string, number>();
      for (const [uuid, before] of entries) {
        const number = expected.get(uuid.join()) ?? expected.size;
        expected.set(uuid.join(), number);
        assert.equal(index.add(Uint8Array.of(...new Uint8Array(before), ...uuid), before), number);
        assert.equal(index.size, expected.size);
      }
      const { bytes } = index;
      const names = Array.from({ length: index.size }, (_, entry) =>
        bytes.slice(UUID_BYTES * entry, UUID_BYTES * (entry + 1)).join(),
      );
      assert.deepEqual(names, [...expected.keys()]);
    }),
  );
});

test('UUIDs added together have the numbers they have one by one', () => {
  const few = fc.nat(300).map((byte) => new Uint8Array(UUID_BYTES).fill(byte, byte % UUID_BYTES));
  const anyBlock = fc.array(few, { minLength: 1, maxLength: 300 });
  const anyPlaces = fc.array(fc.nat(299), { maxLength: 400 });
  fc.assert(
    fc.property(fc.array(fc.tuple(anyBlock, anyPlaces, fc.nat(5)), { maxLength: 4 }), (parts) => {
      const [together, alone] = [new UuidIndex(), new UuidIndex()];
      for (const [uuids, drawn, before] of parts) {
        const memory = Uint8Array.from([
          ...new Uint8Array(before),
          ...uuids.flatMap((u) => [...u]),
        ]);
        const block = memory.subarray(before);
        const places = Int32Array.from(drawn, (place) => place % uuids.length);
        const numbers = new Int32Array(places.length);
        together.addAll(block, places, places.length, numbers);
        const expected = places.map((place) => alone.add(block, UUID_BYTES * place));
        assert.deepEqual(numbers, expected);
      }
      assert.deepEqual(together.bytes, alone.bytes);
    }),
  );
});
