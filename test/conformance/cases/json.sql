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
