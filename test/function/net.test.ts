import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { call } from './call.ts';

test('an address written as text is read as itself', () => {
  const byte = fc.integer({ min: 0, max: 3 }).map((code) => String.fromCharCode(code * 85));
  const address = fc.oneof(
    fc.string({ unit: byte, minLength: 4, maxLength: 4 }),
    fc.string({ unit: byte, minLength: 16, maxLength: 16 }),
  );
  fc.assert(
    fc.property(address, (bytes) => {
      const text = call('net.ip_to_string', bytes);
      assert.equal(call('net.ip_from_string', text), bytes, String(text));
    }),
  );
});

test('a truncated address has no bits beyond its prefix', () => {
  assert.equal(
    call('net.ip_to_string', call('net.ip_trunc', '\xc0\xa8\xff\xff', 20)),
    '192.168.240.0',
  );
  assert.equal(call('net.ip_to_string', call('net.ip_net_mask', 4, 20)), '255.255.240.0');
  assert.throws(() => call('net.ip_trunc', 'abc', 1), /4 or 16 bytes; got 3/);
  assert.throws(() => call('net.ip_net_mask', 16, 129), /0 to 128 bits; got 129/);
});
