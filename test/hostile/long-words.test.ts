import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseParameterText } from '../../src/definition/parameter-value.ts';
import { acceptedFormat } from '../../src/http/accepted-format.ts';
import { readMediaType } from '../../src/http/media-type.ts';
import { ACCEPT_RANGES_MAX } from '../../src/limits.ts';

const JSON_TYPE = 'application/json';

test('a long malformed number is read once', () => {
  // By its square this would take minutes.
  assert.equal(parseParameterText('float64', `${'1'.repeat(1_000_000)}x`), undefined);
  for (const [text, value] of [
    ['1.', 1],
    ['.5', 0.5],
    ['-12.25e1', -122.5],
    ['.', undefined],
    ['1..', undefined],
  ] as const) {
    assert.equal(parseParameterText('float64', text), value, text);
  }
});

test('a charset among many spaces is read once', () => {
  // By its square this would take minutes.
  const spaces = ' '.repeat(1_000_000);
  assert.throws(() => readMediaType(`${JSON_TYPE};charset=${spaces}"a"b`, [JSON_TYPE]), /in UTF-8/);
  for (const charset of ['utf-8', '"utf-8"', ' "UTF8" ', `${spaces}utf-8${spaces}`]) {
    assert.equal(readMediaType(`${JSON_TYPE};a=b; charset =${charset}`, [JSON_TYPE]), JSON_TYPE);
  }
  for (const charset of ['', '"', 'latin1', 'utf-8=utf-8', 'utf-8 utf-8']) {
    assert.throws(() => readMediaType(`${JSON_TYPE};charset=${charset}`, [JSON_TYPE]), charset);
  }
});

test('of many ranges of Accept, only the first are used', () => {
  const others = (count: number): string => 'a/b,'.repeat(count);
  const nameOf = (accept: string): string => acceptedFormat(accept).mediaTypes[0];
  assert.equal(nameOf(`${others(ACCEPT_RANGES_MAX - 1)}text/csv`), 'text/csv');
  assert.equal(nameOf(`${others(ACCEPT_RANGES_MAX)}text/csv`), JSON_TYPE);
});
