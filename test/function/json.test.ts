import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isNested } from '../../engine/column/value.ts';
import { call, callAs } from './call.ts';
import { jsonNested } from './nested.ts';

const RECORD = call(
  'parse_json',
  '[{"request": [{"path": "/rest", "cf": {"country": "DE"}, "ports": [80, 443]}], "ok": true}]',
);
const ofRecord = (name: string, path: string) => callAs(name, 'DYNAMIC,STRING', RECORD, path);

test('a record of an event is read by path, with and without the lists around its maps', () => {
  assert.equal(ofRecord('json_value', '$[0].request[0].path'), '/rest');
  assert.equal(ofRecord('json_value', '$.request.path'), '/rest');
  assert.equal(ofRecord('json_value', '$.request.cf[0].country'), 'DE');
  assert.equal(ofRecord('json_value', '$.ok'), 'true');
  assert.equal(ofRecord('json_value', '$.request'), null);
  assert.equal(ofRecord('json_value', '$[1].request'), null);
  assert.equal(ofRecord('json_query', '$.request.cf'), '{"country":"DE"}');
  assert.equal(ofRecord('json_query', '$.request.path'), '"/rest"');
  assert.deepEqual(ofRecord('json_value_array', '$.request.ports'), ['80', '443']);
  assert.deepEqual(ofRecord('json_query_array', '$.request.cf.country'), null);
});

test('a string inside an event is read as the JSON that it holds', () => {
  const read = (value: string) => callAs('json_value', 'DYNAMIC,STRING', value, '$.a');
  assert.equal(read('{"a": 1}'), '1');
  assert.equal(read('no JSON'), null);
  assert.equal(callAs('json_value', 'DYNAMIC', 5), '5');
});

test('parsed JSON is read by fields, and written as it was', () => {
  const parsed = call('parse_json', '{ "a": {"b": [1, {"c": 9007199254740993}]} }');
  assert.ok(isNested(parsed));
  const text = '{"a":{"b":[1,{"c":9007199254740993}]}}';
  assert.equal(call('to_json_string', parsed), text);
  assert.equal(
    callAs('json_query', 'DYNAMIC,STRING', parsed, '$.a.b[1]'),
    '{"c":9007199254740993}',
  );
  assert.equal(callAs('json_value', 'DYNAMIC,STRING', parsed, '$.a.b[1].c'), '9007199254740993');
  assert.equal(call('parse_json', '"x"'), 'x');
  assert.equal(call('parse_json', 'null'), null);
  assert.equal(call('parse_json', ' true '), true);
  assert.throws(() => call('parse_json', '{'), /PARSE_JSON takes JSON; got "\{"/);
  assert.equal(call('safe.parse_json', '{'), null);
});

test('parsing what was written changes nothing, pretty or not', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (json, isPretty) => {
      const written = call('to_json_string', call('parse_json', json), isPretty) as string;
      assert.deepEqual(JSON.parse(written), JSON.parse(json));
    }),
  );
});

test('the kind of a JSON value is told, and its value is of that kind or an error', () => {
  assert.equal(call('json_type', RECORD), 'array');
  assert.equal(call('json_type', jsonNested({})), 'object');
  assert.equal(call('json_type', 2n ** 60n), 'number');
  assert.equal(call('json_type', 'x'), 'string');
  assert.equal(call('json_type', true), 'boolean');
  assert.equal(call('int64', 5), 5);
  assert.equal(call('float64', 2n ** 60n), 2 ** 60);
  assert.equal(call('bool', false), false);
  assert.equal(callAs('string', 'DYNAMIC', 'x'), 'x');
  assert.throws(() => call('int64', 'x'), /INT64 takes JSON of that kind; got a JSON string/);
  assert.throws(() => call('int64', 1.5), /got a JSON number/);
  assert.throws(() => call('bool', RECORD), /got a JSON array/);
});

test('LAX functions take what can be taken', () => {
  assert.equal(call('lax_int64', '10.5'), 11);
  assert.equal(call('lax_int64', '9007199254740993'), 9007199254740993n);
  assert.equal(call('lax_int64', true), 1);
  assert.equal(call('lax_int64', 'x'), null);
  assert.equal(call('lax_float64', '1e2'), 100);
  assert.equal(call('lax_float64', true), null);
  assert.equal(call('lax_bool', 'TRUE'), true);
  assert.equal(call('lax_bool', 0), false);
  assert.equal(call('lax_string', 1.5), '1.5');
  assert.equal(call('lax_string', RECORD), null);
});

test('the keys of a record are told with the way to them', () => {
  const record = jsonNested({ b: { 'c d': 1, a: [] }, a: null });
  assert.deepEqual(call('json_keys', record), ['a', 'b', 'b."c d"', 'b.a']);
  assert.deepEqual(call('json_keys', jsonNested([])), []);
});
