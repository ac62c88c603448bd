-- Regular expressions: groups, places, replacements.

-- tests: regexp_extract
SELECT REGEXP_EXTRACT('abcabd', 'ab.', 2), REGEXP_EXTRACT('abcabd', 'ab.', 1, 2), REGEXP_EXTRACT('abcabd', 'ab(.)', 1, 2), REGEXP_EXTRACT('abcabd', 'ab.', 1, 3), REGEXP_EXTRACT('abc', 'b', 9);
SELECT REGEXP_EXTRACT('Hello World', 'o', 5), REGEXP_EXTRACT('Hello World', 'o', 6), REGEXP_EXTRACT('ß😀x', '.', 2), REGEXP_EXTRACT('ß😀x', '.', 3);
SELECT REGEXP_EXTRACT('abc', '^b', 2), REGEXP_EXTRACT('abc', r'\bb', 2), REGEXP_EXTRACT('abc', 'c$', 2), REGEXP_EXTRACT('', '', 1), REGEXP_EXTRACT('abc', '', 4), REGEXP_EXTRACT('abc', '$', 4), REGEXP_EXTRACT('abc', '', 5);
SELECT REGEXP_EXTRACT('abc', 'b', 0);
SELECT REGEXP_EXTRACT('abc', 'b', 1, 0);
SELECT REGEXP_EXTRACT('abc', 'b', NULL), REGEXP_EXTRACT('abc', 'b', 1, NULL), REGEXP_EXTRACT('abc', 'x|(b)'), REGEXP_EXTRACT('abc', '(x)?b');
SELECT REGEXP_EXTRACT(CAST('abc' AS BYTES), CAST('b.' AS BYTES)), REGEXP_EXTRACT(FROM_HEX('00ff61'), CAST('.a' AS BYTES));
SELECT REGEXP_EXTRACT('aaa', 'a*?', 1, n) FROM UNNEST([1, 2, 3, 4, 5]) AS n;
SELECT REGEXP_EXTRACT('baac', 'a*', 1, n) FROM UNNEST([1, 2, 3, 4, 5]) AS n;

-- tests: regexp_substr
SELECT REGEXP_SUBSTR('abcabd', 'ab(.)'), REGEXP_SUBSTR('abcabd', 'ab.', 2), REGEXP_SUBSTR('abcabd', 'ab.', 1, 2), REGEXP_SUBSTR('abc', 'x');

-- tests: regexp_extract_all
SELECT REGEXP_EXTRACT_ALL('a1b22c333', r'\d+'), REGEXP_EXTRACT_ALL('a1b22', r'[a-z](\d)'), REGEXP_EXTRACT_ALL('abc', 'x'), REGEXP_EXTRACT_ALL('', 'x'), REGEXP_EXTRACT_ALL(NULL, 'x'), REGEXP_EXTRACT_ALL('x', NULL);
SELECT REGEXP_EXTRACT_ALL('baac', 'a*'), REGEXP_EXTRACT_ALL('', ''), REGEXP_EXTRACT_ALL('ß😀', ''), REGEXP_EXTRACT_ALL('ab', '(x)?'), REGEXP_EXTRACT_ALL('aXbX', 'X(y)?');
SELECT REGEXP_EXTRACT_ALL('abc', '(a)(b)');
SELECT REGEXP_EXTRACT_ALL('aaa', '^a'), REGEXP_EXTRACT_ALL('aaa', 'a$'), REGEXP_EXTRACT_ALL('a\na', '(?m)^a');
SELECT word FROM UNNEST(REGEXP_EXTRACT_ALL('the quick fox', r'\w+')) AS word ORDER BY word;
SELECT REGEXP_EXTRACT_ALL(CAST('a1b2' AS BYTES), CAST('[0-9]' AS BYTES));

-- tests: regexp_instr
SELECT REGEXP_INSTR('ab@cd-ef', '@[^-]*'), REGEXP_INSTR('a@cd-gh@', '@', 3), REGEXP_INSTR('a@c@e', '@', 1, 2), REGEXP_INSTR('a@c@e', '@', 1, 3), REGEXP_INSTR('a@cd', '@', 1, 1, 1), REGEXP_INSTR('abc', 'x'), REGEXP_INSTR('ß😀x', 'x');
SELECT REGEXP_INSTR('abcd', 'b(c)'), REGEXP_INSTR('abcd', 'b(c)', 1, 1, 1), REGEXP_INSTR(NULL, 'a'), REGEXP_INSTR('a', NULL), REGEXP_INSTR('a', 'a', 9), REGEXP_INSTR('baac', 'a*', 2), REGEXP_INSTR('abc', '(x*)');
SELECT REGEXP_INSTR('a', 'a', 0);
SELECT REGEXP_INSTR('a', 'a', 1, 0);
SELECT REGEXP_INSTR('a', 'a', 1, 1, 2);

SELECT REGEXP_INSTR('abc', ''), REGEXP_INSTR('abc', 'x*'), REGEXP_INSTR('baac', 'a*'), REGEXP_INSTR('abc', '$');

-- tests: regexp_replace
SELECT REGEXP_REPLACE('abcabc', 'b', 'X'), REGEXP_REPLACE('abc', 'x', 'y'), REGEXP_REPLACE('# Heading', r'^# ([a-zA-Z0-9\s]+$)', r'<h1>\1</h1>'), REGEXP_REPLACE('ab', '(a)(b)', r'\2\1\0'), REGEXP_REPLACE('a', 'a', r'\\'), REGEXP_REPLACE('a', 'a', '$1');
SELECT REGEXP_REPLACE('abc', '', '-'), REGEXP_REPLACE('', '', '-'), REGEXP_REPLACE('baac', 'a*', 'x'), REGEXP_REPLACE('ß😀', '', '-'), REGEXP_REPLACE('ab', '(x)?b', r'[\1]');
SELECT REGEXP_REPLACE('/users/123/posts/456', r'\d+', ':id'), REGEXP_REPLACE(NULL, 'a', 'b'), REGEXP_REPLACE('a', NULL, 'b'), REGEXP_REPLACE('a', 'a', NULL), REGEXP_REPLACE('aaa', '^a', 'b'), REGEXP_REPLACE('aaa', 'a$', 'b');
SELECT REGEXP_REPLACE('a', 'a', r'\1');
SELECT REGEXP_REPLACE('a', 'a', r'\x');
SELECT REGEXP_REPLACE('a', 'a', '\\');
SELECT REGEXP_REPLACE(CAST('abc' AS BYTES), CAST('b' AS BYTES), FROM_HEX('ff'));

-- tests: regexp_contains
SELECT REGEXP_CONTAINS(CAST('abc' AS BYTES), CAST('^ab' AS BYTES)), REGEXP_CONTAINS(FROM_HEX('ff00'), CAST('^.$' AS BYTES)), REGEXP_CONTAINS(FROM_HEX('ff'), CAST('^.$' AS BYTES));
SELECT REGEXP_CONTAINS('a', CAST('a' AS BYTES));
