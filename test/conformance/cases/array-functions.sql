-- Functions of arrays.

-- tests: array_to_string
SELECT ARRAY_TO_STRING(['a', 'b', 'c'], ','), ARRAY_TO_STRING(['a', NULL, 'c'], ','), ARRAY_TO_STRING(['a', NULL, 'c'], ',', '?'), ARRAY_TO_STRING([], ','), ARRAY_TO_STRING([CAST(NULL AS STRING)], ','), ARRAY_TO_STRING(NULL, ','), ARRAY_TO_STRING(['a'], NULL), ARRAY_TO_STRING(['a', 'b'], '');
SELECT ARRAY_TO_STRING([FROM_HEX('01'), FROM_HEX('02')], FROM_HEX('ff'));
SELECT ARRAY_TO_STRING([1, 2], ',');
SELECT ARRAY_TO_STRING(SPLIT(x, '/'), '.') FROM UNNEST(['a/b', NULL, '']) AS x;
SELECT ARRAY_TO_STRING(['a', NULL], ',', NULL);

-- tests: array_concat
SELECT ARRAY_CONCAT([1], [2, 3]), ARRAY_CONCAT([1]), ARRAY_CONCAT(['a'], ['b'], ['c', NULL]), ARRAY_CONCAT([], []);
SELECT ARRAY_CONCAT([1], []);
SELECT ARRAY_CONCAT([1], [1.5]);
SELECT ARRAY_CONCAT([1], ['a']);
SELECT ARRAY_CONCAT();

-- tests: array_reverse
SELECT ARRAY_REVERSE([1, 2, NULL]), ARRAY_REVERSE(['a']), ARRAY_REVERSE([]), ARRAY_LENGTH(ARRAY_REVERSE(SPLIT('a,b')));
SELECT ARRAY_REVERSE([1, 2]), ARRAY_REVERSE([]);

-- tests: array_first, array_last
SELECT ARRAY_FIRST([1, 2]), ARRAY_FIRST([NULL, 2]), ARRAY_LAST([1, 2]), ARRAY_LAST([1, NULL]), ARRAY_FIRST(SPLIT('a/b', '/')), ARRAY_LAST(SPLIT('a/b', '/'));
SELECT ARRAY_FIRST([]);
SELECT ARRAY_LAST(SPLIT('a'))[OFFSET(0)];

-- tests: array_includes
SELECT ARRAY_INCLUDES([1, 2], 2), ARRAY_INCLUDES([1, 2], 3), ARRAY_INCLUDES([1, NULL], 3), ARRAY_INCLUDES([], 1), ARRAY_INCLUDES(['a'], 'a'), ARRAY_INCLUDES(NULL, 1);

-- tests: ||
SELECT [1, 2] || [3], SPLIT('a,b') || ['c'], [] || [1];
