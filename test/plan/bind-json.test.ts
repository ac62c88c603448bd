import { test } from 'node:test';
import { expectExpression, expectRefusal } from './bind-check.ts';

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

test('a literal that is no JSON is refused where it stands', () => {
  expectRefusal(`SELECT ^JSON '{' AS a FROM logs`, 'a JSON literal takes JSON; got "{"');
});

test('a field of an event beside JSON becomes JSON', () => {
  expectExpression("COALESCE(m.a, JSON '1')", "coalesce(json_of(m#7.a), json '1')", 'JSON');
});

test('what JSON is not for is refused with what to write', () => {
  const help = 'of JSON take a text with JSON_VALUE or TO_JSON_STRING';
  for (const [written, part] of [
    ["^JSON '1' = JSON '1'", `= cannot compare JSON, JSON; ${help}`],
    ["^JSON '1' = m.a", `= cannot compare JSON, DYNAMIC; ${help}`],
    ["^CAST(JSON '1' AS STRING)", 'write JSON_VALUE or TO_JSON_STRING'],
    ["^CAST(JSON '1' AS INT64)", 'write LAX_INT64'],
    ["^CAST('1' AS JSON)", 'write PARSE_JSON for a text of JSON, TO_JSON for a JSON string'],
    ['^CAST(m.a AS JSON)', 'write TO_JSON'],
    ["JSON '[1]'[OFFSET(^0)]", "an element of JSON is written [0], a member ['name']"],
    ["^ARRAY_LENGTH(JSON '[1]')", 'ARRAY_LENGTH takes (ARRAY); got (JSON)'],
    ["^COUNT(DISTINCT JSON '1')", 'COUNT(DISTINCT …) takes no JSON'],
  ] as const) {
    expectRefusal(`SELECT ${written} AS x FROM logs CROSS JOIN UNNEST(metadata) AS m`, part);
  }
  const from = "(SELECT JSON '[1]' AS j)";
  expectRefusal(
    `SELECT 1 AS x FROM ${from} GROUP BY ^j`,
    `GROUP BY takes no JSON; got JSON; ${help}`,
  );
  expectRefusal(
    `SELECT 1 AS x FROM ${from} ORDER BY ^j`,
    'ORDER BY takes no lists, records or JSON',
  );
  expectRefusal(`SELECT x FROM ${from} AS t, UNNEST(^t.j) AS x`, 'make one with JSON_QUERY_ARRAY');
});
