import { test } from 'node:test';
import { expectExpression } from './bind-check.ts';

test('JSON functions take a field as it is, and parsed JSON has fields', () => {
  expectExpression(
    "JSON_VALUE(metadata, '$[0].a')",
    "json_value(root#5.metadata, '$[0].a')",
    'STRING',
  );
  expectExpression("JSON_VALUE(m.a, '$.b')", "json_value(m#7.a, '$.b')", 'STRING');
  expectExpression(
    "PARSE_JSON(event_message).a[0]['b']",
    "json_field(json_field(json_field(parse_json(event_message#3), 'a'), 0), 'b')",
    'JSON',
  );
});

test('a field of an event beside JSON becomes JSON', () => {
  expectExpression("COALESCE(m.a, JSON '1')", "coalesce(json_of(m#7.a), json '1')", 'JSON');
});
