import { equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { DATE, FLOAT64, INT64, type SqlType, STRING } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { call, overloadOf } from './call.ts';
import { jsonNested } from './nested.ts';

function contains(value: SqlValue, type: SqlType, wanted: string): SqlValue {
  const evaluate = must(overloadOf('contains_substr').evaluateTyped?.([type, STRING]));
  return evaluate(value, wanted);
}

test('a text is found whatever the case of its letters, and however they are written', () => {
  for (const [text, wanted, isFound] of [
    ['the Blue house', 'bLUE Hou', true],
    ['the red house', 'blue', false],
    ['Größe', 'GRÖSSE', true],
    ['\u2168', 'ix', true],
    ['e\u0301', 'É', true],
    ['', '', true],
    ['a', '', true],
  ] as const) {
    equal(contains(text, STRING, wanted), isFound, `${text} ${wanted}`);
  }
});

test('what is no text is looked at as CAST writes it', () => {
  equal(contains(12345, INT64, '234'), true);
  equal(contains(1.5, FLOAT64, '.5'), true);
  equal(contains(true, { kind: 'BOOL' }, 'RU'), true);
  equal(contains(0, DATE, '1970-01'), true);
});

test('the parts of a STRUCT and of an ARRAY are looked at, and NULL may hold anything', () => {
  const pair: SqlType = {
    kind: 'STRUCT',
    fields: [
      { name: undefined, type: STRING },
      { name: undefined, type: { kind: 'ARRAY', element: INT64 } },
    ],
  };
  equal(contains(['abc', [12, 34]], pair, '4'), true);
  equal(contains(['abc', [12, 34]], pair, '5'), false);
  equal(contains(['abc', [12, 34]], pair, '2, 3'), false);
  equal(contains([null, [12, 34]], pair, '5'), null);
  equal(contains([null, [12, 34]], pair, '1'), true);
  equal(contains(null, STRING, 'a'), null);
});

test('the values of a record are looked at, and not their names', () => {
  const record = jsonNested({ path: '/Rest "x"', list: [{ status: 404, ok: true }], none: null });
  equal(call('contains_substr', record, '/rest "X'), true);
  equal(call('contains_substr', record, '40'), true);
  equal(call('contains_substr', record, 'true'), true);
  equal(call('contains_substr', record, 'status'), null);
  equal(call('contains_substr', jsonNested({ status: 'a' }), 'status'), false);
  equal(call('contains_substr', jsonNested({ a: ':' }), 'a'), false);
  equal(call('contains_substr', 7, '7'), true);
});

test('NULL cannot be looked for', () => {
  throws(() => call('contains_substr', 'a', null), /a text to look for; got NULL/);
});
