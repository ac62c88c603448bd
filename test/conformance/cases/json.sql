-- Functions of JSON texts.

-- tests: json_value
SELECT JSON_VALUE('{"a": 1}', '$.a'), JSON_VALUE('{"a": "x"}', '$.a'), JSON_VALUE('{"a": true}', '$.a'), JSON_VALUE('{"a": null}', '$.a'), JSON_VALUE('{"a": {}}', '$.a'), JSON_VALUE('{"a": []}', '$.a'), JSON_VALUE('{}', '$.a');
SELECT JSON_VALUE('"x"'), JSON_VALUE('5'), JSON_VALUE('5', '$'), JSON_VALUE('[1]'), JSON_VALUE('null');
SELECT JSON_VALUE('{"a": {"b": [10, 20, {"c": "deep"}]}}', '$.a.b[1]'), JSON_VALUE('{"a": {"b": [10, 20, {"c": "deep"}]}}', '$.a.b[2].c'), JSON_VALUE('[1, 2]', '$[5]'), JSON_VALUE('[1, 2]', '$[0]');
SELECT JSON_VALUE('{"a b": 1}', '$."a b"'), JSON_VALUE('{"a.b": 1}', '$."a.b"'), JSON_VALUE('{"A": 1}', '$.a');
SELECT JSON_VALUE('not json', '$.a'), JSON_VALUE('', '$');
SELECT JSON_VALUE('{"a": 1', '$.a');
SELECT JSON_VALUE('{"a": 1.50}', '$.a'), JSON_VALUE('{"a": 1e3}', '$.a'), JSON_VALUE('{"a": 12345678901234567890}', '$.a'), JSON_VALUE('{"a": -0}', '$.a'), JSON_VALUE('{"a": 1.0}', '$.a');
SELECT JSON_VALUE('{"a": "x\\u00e9\\n\\"q\\""}', '$.a'), JSON_VALUE('{"a": "😀"}', '$.a');
SELECT JSON_VALUE('{"a": 1, "a": 2}', '$.a');
SELECT JSON_VALUE('{"a": 1}', 'a');
SELECT JSON_VALUE('{"a": 1}', '$.');
SELECT JSON_VALUE('{"a": 1}', '$[');
SELECT JSON_VALUE('{"a": 1}', '$..a');
SELECT JSON_VALUE('{"a": 1}', '');
SELECT JSON_VALUE(NULL, '$.a'), JSON_VALUE('{"a": 1}', NULL);
SELECT JSON_VALUE(x, '$.a') FROM UNNEST(['{"a": 1}', '{}', NULL, 'bad']) AS x;
SELECT JSON_VALUE('{"a": 1}', '$.a.b'), JSON_VALUE('{"a": "x"}', '$.a[0]'), JSON_VALUE(' {"a" : 1 } ', '$.a');
SELECT JSON_VALUE('{"1": "x", "_b": "y", "c-d": "z"}', '$.1'), JSON_VALUE('{"_b": "y"}', '$._b');

-- tests: json_query
SELECT JSON_QUERY('{"a": {"b": 1}}', '$.a'), JSON_QUERY('{"a": [1, 2]}', '$.a'), JSON_QUERY('{"a": "x"}', '$.a'), JSON_QUERY('{"a": 1}', '$.a'), JSON_QUERY('{"a": null}', '$.a'), JSON_QUERY('{}', '$.a');
SELECT JSON_QUERY('{"a": [1, {"b": "x"}]}');
SELECT JSON_QUERY('{"a": [1, {"b": "x"}]}', '$'), JSON_QUERY('[1,  2]', '$'), JSON_QUERY('{ "a" : { "b" : [ 1 , 2 ] } }', '$.a'), JSON_QUERY('bad', '$');
SELECT JSON_QUERY('{"a": {"z": 1, "b": 2}}', '$.a'), JSON_QUERY('{"a": [[1], []]}', '$.a[0]'), JSON_QUERY('{"a": {}}', '$.a');
SELECT JSON_QUERY('{"a": 1}', 'b');

-- tests: json_extract_scalar
SELECT JSON_EXTRACT_SCALAR('{"a": "x"}', '$.a'), JSON_EXTRACT_SCALAR('{"a": {"b": 2}}', '$.a.b'), JSON_EXTRACT_SCALAR('{"a": {"b": 2}}', '$.a'), JSON_EXTRACT_SCALAR('{"a b": 1}', "$['a b']");
SELECT JSON_EXTRACT_SCALAR('[1, 2]', '$[1]'), JSON_EXTRACT_SCALAR('null', '$'), JSON_EXTRACT_SCALAR('"x"');

-- tests: json_extract
SELECT JSON_EXTRACT('{"a": {"b": 1}}', '$.a'), JSON_EXTRACT('{"a": "x"}', '$.a'), JSON_EXTRACT('[1, [2]]', '$[1]'), JSON_EXTRACT('{"a": null}', '$.a');
SELECT JSON_EXTRACT("{'a': 1}", '$.a');
SELECT JSON_EXTRACT('{"a": 1}', "$['a']"), JSON_EXTRACT('{"a.b": {"c": 1}}', "$['a.b'].c");

-- tests: json_value_array, json_extract_string_array
SELECT TO_JSON_STRING(JSON_VALUE_ARRAY('{"a": ["x", 1, true, null]}', '$.a')), JSON_VALUE_ARRAY('["x"]'), JSON_VALUE_ARRAY('[]'), JSON_VALUE_ARRAY('{"a": 1}', '$.a'), JSON_VALUE_ARRAY('{"a": 1}', '$.b'), JSON_VALUE_ARRAY('bad'), JSON_VALUE_ARRAY(NULL);
SELECT JSON_VALUE_ARRAY('[1, {"a": 2}]') IS NULL, JSON_VALUE_ARRAY('[1, [2]]') IS NULL, JSON_VALUE_ARRAY('null') IS NULL, JSON_VALUE_ARRAY('[]') IS NULL;
SELECT JSON_EXTRACT_STRING_ARRAY('["a", "b\\n", 1.50]'), JSON_EXTRACT_STRING_ARRAY('{"a": ["x"]}', '$.a'), JSON_EXTRACT_STRING_ARRAY('{"a b": ["x"]}', "$['a b']");
SELECT x FROM UNNEST(JSON_VALUE_ARRAY('["b", "a"]')) AS x ORDER BY x;

-- tests: json_query_array, json_extract_array
SELECT JSON_QUERY_ARRAY('{"a": ["x", 1, {"b": [ 2 ]}, null]}', '$.a'), JSON_QUERY_ARRAY('[1, 2]'), JSON_QUERY_ARRAY('[]'), JSON_QUERY_ARRAY('{"a": 1}', '$.a'), JSON_QUERY_ARRAY('bad'), JSON_QUERY_ARRAY(NULL);
SELECT JSON_EXTRACT_ARRAY('[[1], "a"]'), JSON_EXTRACT_ARRAY('{"a": [1]}', '$.a'), JSON_EXTRACT_ARRAY('{"a": [1]}', '$.b');
SELECT JSON_VALUE(x, '$.id') AS id FROM UNNEST(JSON_QUERY_ARRAY('{"a": [{"id": 2}, {"id": 1}]}', '$.a')) AS x ORDER BY id;

-- tests: to_json_string
SELECT TO_JSON_STRING(1), TO_JSON_STRING('a"b\n'), TO_JSON_STRING(TRUE), TO_JSON_STRING(1.5), TO_JSON_STRING(1.0), TO_JSON_STRING(NULL), TO_JSON_STRING([1, 2]), TO_JSON_STRING(['a', NULL]);
SELECT TO_JSON_STRING(9007199254740993), TO_JSON_STRING(-9007199254740993), TO_JSON_STRING(9007199254740992), TO_JSON_STRING(1e20), TO_JSON_STRING(1e-7), TO_JSON_STRING(CAST('nan' AS FLOAT64)), TO_JSON_STRING(CAST('-inf' AS FLOAT64)), TO_JSON_STRING(0.1), TO_JSON_STRING(-0.0);
SELECT TO_JSON_STRING(TIMESTAMP '2026-01-15 11:55:00'), TO_JSON_STRING(TIMESTAMP '2026-01-15 11:55:00.123456'), TO_JSON_STRING(DATETIME '2026-01-15 11:55:00.5'), TO_JSON_STRING(b'ab\xff');
SELECT TO_JSON_STRING(x) FROM UNNEST([1, NULL]) AS x;
SELECT TO_JSON_STRING(t) FROM (SELECT 1 AS a, 'x' AS b, [1.5] AS c) AS t;
SELECT TO_JSON_STRING(t, TRUE) FROM (SELECT 1 AS a, ['x', 'y'] AS b, CAST(NULL AS STRING) AS c) AS t;
SELECT TO_JSON_STRING([1, 2], TRUE), TO_JSON_STRING(1, TRUE), TO_JSON_STRING('a', FALSE), TO_JSON_STRING('a', NULL);
SELECT TO_JSON_STRING('é😀<>&/\u2028\u0001\t\b\f\\');
