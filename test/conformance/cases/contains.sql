-- A text anywhere in a value, whatever the case of its letters.

-- tests: contains_substr
SELECT CONTAINS_SUBSTR('the Blue house', 'blue HOUSE'), CONTAINS_SUBSTR('the red house', 'blue'), CONTAINS_SUBSTR('a', '');
SELECT CONTAINS_SUBSTR(x, 'b') FROM UNNEST(['abc', NULL, 'A', 'B']) AS x;
SELECT CONTAINS_SUBSTR(('a', NULL), 'a'), CONTAINS_SUBSTR(('b', NULL), 'a'), CONTAINS_SUBSTR(('b', ''), 'a');
SELECT CONTAINS_SUBSTR('a', NULL);
SELECT CONTAINS_SUBSTR('a');
SELECT CONTAINS_SUBSTR('a', 1);
