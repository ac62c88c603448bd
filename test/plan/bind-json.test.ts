import { test } from 'node:test';
import { expectExpression } from './bind-check.ts';

test('JSON functions take a field as it is, and parsed JSON has fields', () => {
  expectExpression(
    "JSON_VALUE(metadata, '$[0].a')",
    "json_value(root#5.metadata, '$[0].a')",
    'STRING',
  );
  expectExpression("JSON_VALUE(m.a, '$.b')", "json_value(m#7.a, '$.b')", 'STRING');
  expectExpression('PARSE_JSON(event_message).a.b', 'parse_json(event_message#3).a.b', 'DYNAMIC');
});
