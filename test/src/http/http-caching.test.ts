import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namesTag, preferredEncoding } from '../../../src/http/http-caching.ts';

for (const [header, encoding] of [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZip;Q=0.5', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.9', 'gzip'],
  ['gzip; q=0.8 , br ;q=0.8', 'br'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000, br;q=0.001', 'br'],
  ['deflate, zstd', 'identity'],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['identity', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0.5, gzip;q=0.5', 'identity'],
  ['identity;q=0, gzip;q=0', 'identity'],
  ['gzip;q=high', 'identity'],
  ['gzip;q=2', 'identity'],
  [',,;,=', 'identity'],
] as const) {
  test(`Accept-Encoding ${JSON.stringify(header)} prefers ${encoding}`, () => {
    assert.equal(preferredEncoding(header), encoding);
  });
}

for (const [header, isNamed] of [
  [undefined, false],
  ['', false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", W/"a" , "c"', true],
  ['"b"', false],
  ['"a-gzip"', false],
  ['a', false],
  ['"a', false],
  ['*', true],
  [' * ', true],
  ['"*"', false],
  ['"x,"a"', false],
] as const) {
  test(`If-None-Match ${header ?? 'absent'} ${isNamed ? 'names' : 'does not name'} "a"`, () => {
    assert.equal(namesTag(header, '"a"'), isNamed);
  });
}
