import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { must } from '../../engine/assert.ts';
import { JsonNested } from '../../engine/column/json-nested.ts';
import { BOOL, JSON_TYPE } from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { JSON_VALUE_DEPTH_MAX } from '../../engine/function/json/json-value.ts';
import { call, callAs, overloadOf } from './call.ts';
import { jsonNested } from './nested.ts';

const BYTES = Buffer.from(
  '[{"request": [{"path": "/rest", "cf": {"country": "DE"}, "ports": [80, 443]}], "ok": true}]',
);
const RECORD = new JsonNested(BYTES, 0, BYTES.length);
const ofRecord = (name: string, path: string) => callAs(name, 'DYNAMIC,STRING', RECORD, path);

test('a record of an event is read by path, with and without the lists around its maps', () => {
  assert.equal(ofRecord('json_value', '$[0].request[0].path'), '/rest');
  assert.equal(ofRecord('json_value', '$.request.path'), '/rest');
  assert.equal(ofRecord('json_value', '$.request.cf[0].country'), 'DE');
  assert.equal(ofRecord('json_value', '$.ok'), 'true');
  assert.equal(ofRecord('json_value', '$.request'), null);
  assert.equal(ofRecord('json_value', '$[1].request'), null);
  assert.equal(ofRecord('json_query', '$.request.cf'), '[{"country":"DE"}]');
  assert.equal(ofRecord('json_query', '$.request.cf[0]'), '{"country":"DE"}');
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

const writeJson = must(overloadOf('to_json_string').evaluateTyped)([JSON_TYPE, BOOL]);

test('JSON is held in one form: members by name, the first of one name, fractions as such', () => {
  const forms = {
    ' { "b" : [ 1 , 2 ] , "a" : "x" } ': '{"a":"x","b":[1,2]}',
    '{"a":1,"a":2,"B":3}': '{"B":3,"a":1}',
    '[1.0,1.50,1e3,1e20,1e-7,-0,-0.0]': '[1.0,1.5,1000.0,1e+20,1e-07,0,-0.0]',
    '[9007199254740993,18446744073709551615]': '[9007199254740993,18446744073709551615]',
    '[18446744073709551616,1e400,0.12345678901234567891]':
      '[18446744073709551616,1e400,0.12345678901234567891]',
    '"\\u00e9\\/\\ud800\\u2028"': '"é/\\ud800\u2028"',
    '[[],{},null,true,false]': '[[],{},null,true,false]',
  };
  for (const [text, form] of Object.entries(forms)) assert.equal(call('parse_json', text), form);
  assert.throws(() => call('parse_json', '{'), /PARSE_JSON takes JSON; got "\{"/);
  assert.equal(call('safe.parse_json', '{'), null);
});

test('a value of JSON has levels up to the limit', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(call('parse_json', nested(JSON_VALUE_DEPTH_MAX)), nested(JSON_VALUE_DEPTH_MAX));
  assert.throws(() => call('parse_json', nested(JSON_VALUE_DEPTH_MAX + 1)), /at most 500 levels/);
});

test('parsing what was parsed changes nothing, nor does writing it, pretty or not', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (json, isPretty) => {
      const parsed = call('parse_json', json);
      assert.equal(call('parse_json', parsed), parsed);
      const written = writeJson(parsed, isPretty) as string;
      assert.deepEqual(JSON.parse(written), JSON.parse(json));
    }),
  );
});

const ofField = (name: string, value: SqlValue) => callAs(name, 'DYNAMIC', value);
const ofJson = (name: string, json: string) => callAs(name, 'JSON', json);

test('the kind of a JSON value is told, and its value is of that kind or an error', () => {
  assert.equal(ofField('json_type', RECORD), 'array');
  assert.equal(ofField('json_type', jsonNested({})), 'object');
  assert.equal(ofField('json_type', 2n ** 60n), 'number');
  assert.equal(ofField('json_type', 'x'), 'string');
  assert.equal(ofField('json_type', true), 'boolean');
  assert.equal(ofJson('json_type', 'null'), 'null');
  assert.equal(ofJson('json_type', '"{}"'), 'string');
  assert.equal(ofJson('int64', '5.0'), 5);
  assert.throws(() => ofJson('int64', 'null'), /got a JSON null/);
  assert.equal(ofField('int64', 5), 5);
  assert.equal(ofField('float64', 2n ** 60n), 2 ** 60);
  assert.equal(ofField('bool', false), false);
  assert.equal(callAs('string', 'DYNAMIC', 'x'), 'x');
  assert.throws(() => ofField('int64', 'x'), /INT64 takes JSON of that kind; got a JSON string/);
  assert.throws(() => ofField('int64', 1.5), /got a JSON number/);
  assert.throws(() => ofField('bool', RECORD), /got a JSON array/);
});

test('LAX functions take what can be taken', () => {
  assert.equal(ofJson('lax_int64', '"10.5"'), 11);
  assert.equal(ofField('lax_int64', '10.5'), 11);
  assert.equal(ofField('lax_int64', '9007199254740993'), 9007199254740993n);
  assert.equal(ofField('lax_int64', true), 1);
  assert.equal(ofField('lax_int64', 'x'), null);
  assert.equal(ofField('lax_float64', '1e2'), 100);
  assert.equal(ofField('lax_float64', true), null);
  assert.equal(ofField('lax_bool', 'TRUE'), true);
  assert.equal(ofField('lax_bool', 0), false);
  assert.equal(ofField('lax_string', 1.5), '1.5');
  assert.equal(ofField('lax_string', RECORD), null);
});

test('the keys of a record are told with the way to them', () => {
  const record = jsonNested({ b: { 'c d': 1, a: [] }, a: null });
  assert.deepEqual(ofField('json_keys', record), ['a', 'b', 'b."c d"', 'b.a']);
  assert.deepEqual(ofField('json_keys', jsonNested([])), []);
});
