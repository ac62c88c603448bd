-- Functions of texts: code points, escapes, both ends.

-- tests: concat
SELECT CONCAT('a', 'b'), CONCAT('a'), CONCAT('a', NULL), CONCAT('', ''), CONCAT('a', 'b', 'c', 'd');
SELECT CONCAT(x, '-', x) FROM UNNEST(['a', NULL, 'ß😀']) AS x;
SELECT CONCAT();
SELECT CONCAT('a', 1, 1.5, TRUE);
SELECT CONCAT('at ', TIMESTAMP '2026-01-15 11:55:00', ' or ', DATETIME '2026-01-15 11:55:00');
SELECT CONCAT(x, '%') FROM UNNEST([1, NULL]) AS x;
SELECT CONCAT([1]);

-- tests: lower
SELECT LOWER('ABC'), LOWER('GRÖSSE'), LOWER('İ'), LOWER('ΑΣ'), LOWER('1a!'), LOWER(NULL), LOWER('Ǆ');
SELECT LOWER(x) FROM UNNEST(['A', NULL, 'Äb']) AS x;
SELECT LOWER(1);

-- tests: upper
SELECT UPPER('abc'), UPPER('größe'), UPPER('ß'), UPPER('ŉ'), UPPER('ﬁ'), UPPER('ı'), UPPER('😀a'), UPPER(NULL);
SELECT UPPER(x) FROM UNNEST(['a', NULL, 'äB']) AS x;
SELECT UPPER('ß'), UPPER('straße');
SELECT UPPER('àéîõü'), LOWER('ÀÉÎÕÜ'), UPPER('абв'), LOWER('АБВ'), UPPER('αβγ');

-- tests: length
SELECT LENGTH('abc'), LENGTH(''), LENGTH('Größe'), LENGTH('😀'), LENGTH('e\u0301'), LENGTH(NULL), LENGTH('日本語');
SELECT LENGTH(x) FROM UNNEST(['a', NULL, '😀😀']) AS x;
SELECT LENGTH(1);
SELECT LENGTH(m.s) FROM logs CROSS JOIN UNNEST(metadata) AS m ORDER BY id, m.n;

-- tests: char_length
SELECT CHAR_LENGTH('Größe'), CHAR_LENGTH('');

-- tests: character_length
SELECT CHARACTER_LENGTH('Größe'), CHARACTER_LENGTH(NULL);

-- tests: byte_length
SELECT BYTE_LENGTH('abc'), BYTE_LENGTH('Größe'), BYTE_LENGTH('😀'), BYTE_LENGTH(''), BYTE_LENGTH(NULL);

-- tests: starts_with
SELECT STARTS_WITH('abc', 'a'), STARTS_WITH('abc', 'b'), STARTS_WITH('abc', ''), STARTS_WITH('', ''), STARTS_WITH('a', 'ab'), STARTS_WITH(NULL, 'a'), STARTS_WITH('a', NULL);
SELECT STARTS_WITH(x, '/rest') FROM UNNEST(['/rest/v1', '/auth', NULL]) AS x;
SELECT STARTS_WITH(1, 'a');

-- tests: ends_with
SELECT ENDS_WITH('abc', 'c'), ENDS_WITH('abc', ''), ENDS_WITH('abc', 'abcd'), ENDS_WITH('Größe', 'ße'), ENDS_WITH(NULL, 'a');
SELECT ENDS_WITH(x, 'b') FROM UNNEST(['ab', 'ba', NULL]) AS x;

-- tests: strpos
SELECT STRPOS('abc', 'b'), STRPOS('abc', 'x'), STRPOS('abc', ''), STRPOS('', ''), STRPOS('', 'a'), STRPOS('Größe', 'ß'), STRPOS('😀a', 'a'), STRPOS('aaa', 'aa');
SELECT STRPOS(x, '/'), STRPOS('a/b', x) FROM UNNEST(['a/b', '/', NULL]) AS x;
SELECT STRPOS('a', 1);

-- tests: replace
SELECT REPLACE('abcabc', 'b', 'x'), REPLACE('abc', '', 'x'), REPLACE('aaa', 'aa', 'b'), REPLACE('abc', 'b', ''), REPLACE('a.c', '.', '$&'), REPLACE('abc', 'B', 'x');
SELECT REPLACE(x, 'a', 'A') FROM UNNEST(['banana', NULL]) AS x;
SELECT REPLACE('a', NULL, 'b'), REPLACE('a', 'a', NULL), REPLACE('ß', 'ß', 'ss');

-- tests: substr
SELECT SUBSTR('abcde', 2), SUBSTR('abcde', 2, 3), SUBSTR('abcde', -2), SUBSTR('abcde', -2, 1), SUBSTR('abcde', 0), SUBSTR('abcde', 0, 2);
SELECT SUBSTR('abcde', 10), SUBSTR('abcde', -10), SUBSTR('abcde', -10, 3), SUBSTR('abcde', 2, 0), SUBSTR('abcde', 4, 10), SUBSTR('', 1);
SELECT SUBSTR('abc', 1, -1);
SELECT SUBSTR('Größe', 3, 2), SUBSTR('😀a😀', 2), SUBSTR('日本語', -1), SUBSTR('a😀b', 2, 1);
SELECT SUBSTR('abc', NULL), SUBSTR(NULL, 1), SUBSTR('abc', 1, NULL), SUBSTR('abc', 9223372036854775807), SUBSTR('abc', -9223372036854775808, 9223372036854775807);
SELECT SUBSTR(x, 2) FROM UNNEST(['abc', '', NULL]) AS x;
SELECT SUBSTR('abc', p) FROM UNNEST([-4, -3, -1, 0, 1, 3, 4]) AS p;
SELECT SUBSTR('abcde', p, 2) FROM UNNEST([-6, -5, -4, -1, 0, 1, 5, 6]) AS p;
SELECT SUBSTR('abc', '1');

-- tests: substring
SELECT SUBSTRING('abcde', 2, 3), SUBSTRING('abcde', -3);

-- tests: trim
SELECT TRIM('  a b  '), TRIM('xxaxx', 'x'), TRIM('abcba', 'ab'), TRIM(''), TRIM('   '), TRIM('a', 'a'), TRIM(NULL), TRIM('a', NULL);
SELECT TRIM('\t\n a \r\v\f'), TRIM('\u00a0a\u2003'), TRIM('\u200ba'), TRIM('\u3000a\ufeff'), TRIM('\u0085a\u180e');
SELECT TRIM('ßaß', 'ß'), TRIM('😀a😀', '😀'), TRIM('[a]', '[]'), TRIM('a-b', 'a-b');
SELECT TRIM('a', '');
SELECT TRIM(x) FROM UNNEST([' a', 'b ', NULL]) AS x;

-- tests: ltrim
SELECT LTRIM('  a '), LTRIM('xxax', 'x'), LTRIM('', 'x'), LTRIM('abc', 'cab');

-- tests: rtrim
SELECT RTRIM('  a '), RTRIM('xaxx', 'x'), RTRIM('a\n'), RTRIM('abc', 'bc');

-- tests: regexp_contains
SELECT REGEXP_CONTAINS('abc', 'b'), REGEXP_CONTAINS('abc', '^b'), REGEXP_CONTAINS('abc', 'c$'), REGEXP_CONTAINS('abc', ''), REGEXP_CONTAINS('', ''), REGEXP_CONTAINS('', '^$'), REGEXP_CONTAINS('abc', 'a.c');
SELECT REGEXP_CONTAINS('a\nc', 'a.c'), REGEXP_CONTAINS('a\nc', '(?s)a.c'), REGEXP_CONTAINS('a\nb', '^b'), REGEXP_CONTAINS('a\nb', '(?m)^b'), REGEXP_CONTAINS('ABC', '(?i)abc'), REGEXP_CONTAINS('a\n', 'a$');
SELECT REGEXP_CONTAINS('abc', r'\d'), REGEXP_CONTAINS('a1c', r'\d'), REGEXP_CONTAINS('a c', r'\s'), REGEXP_CONTAINS('ä', r'\w'), REGEXP_CONTAINS('ab', r'\bb'), REGEXP_CONTAINS('a b', r'\bb'), REGEXP_CONTAINS('x', r'\x78');
SELECT REGEXP_CONTAINS('Größe', 'Gr..e'), REGEXP_CONTAINS('😀', '^.$'), REGEXP_CONTAINS('ä', '[ä-ü]'), REGEXP_CONTAINS('Ä', '(?i)ä'), REGEXP_CONTAINS('日', r'\p{Han}'), REGEXP_CONTAINS('a', r'\p{Lu}'), REGEXP_CONTAINS('K', '(?i)k');
SELECT REGEXP_CONTAINS('aaa', 'a{2,3}$'), REGEXP_CONTAINS('ab', 'a|b'), REGEXP_CONTAINS('foobar', '(foo)(bar)'), REGEXP_CONTAINS('a', '[^a]'), REGEXP_CONTAINS('-', '[a-]'), REGEXP_CONTAINS('abc', '[[:alpha:]]{3}'), REGEXP_CONTAINS('ab', '(?P<x>a)b');
SELECT REGEXP_CONTAINS('a', '(');
SELECT REGEXP_CONTAINS('a', '[');
SELECT REGEXP_CONTAINS('a', '*');
SELECT REGEXP_CONTAINS('a', 'a{1001}');
SELECT REGEXP_CONTAINS('aa', r'(a)\1');
SELECT REGEXP_CONTAINS('a', '(?=a)');
SELECT REGEXP_CONTAINS('a', '(?!a)');
SELECT REGEXP_CONTAINS('a', r'\q');
SELECT REGEXP_CONTAINS('a', 'a**');
SELECT REGEXP_CONTAINS('a', r'\p{Nonsense}');
SELECT REGEXP_CONTAINS('a', '(?<x>a)');
SELECT REGEXP_CONTAINS('a.b', r'a\.b'), REGEXP_CONTAINS('a.b', r'\Qa.b\E'), REGEXP_CONTAINS('axb', r'\Qa.b\E'), REGEXP_CONTAINS('ab', r'\Aab\z');
SELECT REGEXP_CONTAINS('a', r'\C');
SELECT REGEXP_CONTAINS(x, '^a') FROM UNNEST(['ab', 'ba', NULL]) AS x;
SELECT REGEXP_CONTAINS('ab', p) FROM UNNEST(['^a', 'b$', 'x', NULL]) AS p;
SELECT REGEXP_CONTAINS(NULL, 'a'), REGEXP_CONTAINS('a', NULL);
SELECT REGEXP_CONTAINS(1, 'a');
SELECT id FROM logs CROSS JOIN UNNEST(metadata) AS m WHERE REGEXP_CONTAINS(m.s, '^x') ORDER BY id;
SELECT REGEXP_CONTAINS('https://alpha.supabase.co/rest/v1', 'alpha'), REGEXP_CONTAINS('alphaXsupabase', 'alpha.supabase'), REGEXP_CONTAINS('ab', '(?U)a+b'), REGEXP_CONTAINS('ab', 'a(?:b|c)');
SELECT REGEXP_CONTAINS('\r\n', r'^\s+$'), REGEXP_CONTAINS('\v', r'\s'), REGEXP_CONTAINS('\u00a0', r'\s'), REGEXP_CONTAINS('_', r'\w'), REGEXP_CONTAINS('١', r'\d');

-- tests: regexp_extract
SELECT REGEXP_EXTRACT('abc', 'b.'), REGEXP_EXTRACT('abc', 'a(.)c'), REGEXP_EXTRACT('abc', 'x'), REGEXP_EXTRACT('abc', ''), REGEXP_EXTRACT('abc', '()'), REGEXP_EXTRACT('abc', '(?:a)(b)');
SELECT REGEXP_EXTRACT('abc', '(a)(b)');
SELECT REGEXP_EXTRACT('ab', '(a)|b'), REGEXP_EXTRACT('b', '(a)|b'), REGEXP_EXTRACT('b', '(a)?b');
SELECT REGEXP_EXTRACT('Größe 😀!', '😀.'), REGEXP_EXTRACT('a=1;b=2', 'b=([0-9]+)'), REGEXP_EXTRACT('aaa', 'a+?'), REGEXP_EXTRACT('aaa', 'a+');
SELECT REGEXP_EXTRACT(NULL, 'a'), REGEXP_EXTRACT('a', NULL);
SELECT REGEXP_EXTRACT('a', '(');
SELECT REGEXP_EXTRACT(x, '/([^/]+)/') FROM UNNEST(['/rest/v1', 'none', NULL, '/a/b/c/']) AS x;
