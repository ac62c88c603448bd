-- Texts cut, filled and taken apart.

-- tests: split
SELECT SPLIT('a,b', ';'), SPLIT('a,b,,c'), SPLIT('', ','), SPLIT(',', ','), SPLIT('abc', ''), SPLIT('', ''), SPLIT('aXYbXYc', 'XY'), SPLIT(NULL, ','), SPLIT('a', NULL);
SELECT SPLIT('ß😀x', ''), SPLIT('a/b/c', '/')[OFFSET(1)], SPLIT('/rest/v1', '/')[SAFE_OFFSET(9)];
SELECT SPLIT(x, '-') FROM UNNEST(['a-b', '-', NULL, 'c']) AS x;
SELECT part FROM UNNEST(SPLIT('c,a,b', ',')) AS part ORDER BY part;
SELECT SPLIT(1, ',');
SELECT SPLIT(CAST('a,b' AS BYTES), CAST(',' AS BYTES)), SPLIT(FROM_HEX('00ff00'), FROM_HEX('ff')), SPLIT(FROM_HEX('00ff'), FROM_HEX(''));
SELECT SPLIT(CAST('a,b' AS BYTES));

-- tests: lpad, rpad
SELECT LPAD('abc', 5), LPAD('abc', 5, '-+'), LPAD('abc', 2), LPAD('abc', 0), LPAD('', 3, 'xy'), LPAD('ß', 3, '😀'), LPAD(NULL, 3), LPAD('a', NULL), LPAD('a', 3, NULL), LPAD('abc', 8, 'def');
SELECT RPAD('abc', 5), RPAD('abc', 5, '-+'), RPAD('abc', 2), RPAD('abc', 0), RPAD('', 3, 'xy'), RPAD('ß', 3, '😀'), RPAD(NULL, 3), RPAD('a', NULL), RPAD('a', 3, NULL), RPAD('abc', 8, 'def');
SELECT LPAD('a', -1);
SELECT RPAD('a', -1);
SELECT LPAD('a', 3, '');
SELECT RPAD('a', 0, '');
SELECT LENGTH(LPAD('a', 1048577));
SELECT LPAD(FROM_HEX('01'), 3, FROM_HEX('fe')), LPAD(FROM_HEX('01'), 3), RPAD(FROM_HEX('0102'), 1);
SELECT LPAD(CAST(x AS STRING), 2, '0') FROM UNNEST([1, 10, 100, NULL]) AS x;

-- tests: repeat
SELECT REPEAT('ab', 3), REPEAT('ab', 0), REPEAT('', 5), REPEAT(NULL, 2), REPEAT('a', NULL), REPEAT('ß😀', 2), REPEAT(FROM_HEX('ff'), 2);
SELECT REPEAT('a', -1);
SELECT LENGTH(REPEAT('a', 1000000));
SELECT LENGTH(REPEAT('a', 1048577));
SELECT LENGTH(REPEAT('ab', 9223372036854775807));

-- tests: reverse
SELECT REVERSE('abc'), REVERSE(''), REVERSE('ß😀x'), REVERSE(NULL), REVERSE(FROM_HEX('010203'));
SELECT REVERSE(x) FROM UNNEST(['ab', NULL, '']) AS x;

-- tests: left, right
SELECT LEFT('abcde', 2), LEFT('abcde', 0), LEFT('abcde', 9), LEFT('ß😀x', 2), LEFT(NULL, 1), LEFT('a', NULL), LEFT(FROM_HEX('010203'), 2);
SELECT RIGHT('abcde', 2), RIGHT('abcde', 0), RIGHT('abcde', 9), RIGHT('ß😀x', 2), RIGHT(NULL, 1), RIGHT('a', NULL), RIGHT(FROM_HEX('010203'), 2);
SELECT LEFT('a', -1);
SELECT RIGHT('a', -1);

-- tests: instr
SELECT INSTR('banana', 'an'), INSTR('banana', 'an', 1, 2), INSTR('banana', 'an', 1, 3), INSTR('banana', 'an', 3), INSTR('banana', 'x'), INSTR('', 'a'), INSTR('a', ''), INSTR('', ''), INSTR('ß😀x', 'x');
SELECT INSTR('banana', 'an', p) FROM UNNEST([-7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7]) AS p;
SELECT INSTR('banana', 'ann', -1), INSTR('banana', 'an', -1, 2), INSTR('banana', 'an', -1, 3), INSTR('helloooo', 'oo', 1, 2), INSTR('helloooo', 'oo', -1, 2), INSTR('helloooo', 'oo', -1, 1);
SELECT INSTR('banana', 'an', 0);
SELECT INSTR('banana', 'an', 1, 0);
SELECT INSTR(NULL, 'a'), INSTR('a', NULL), INSTR('a', 'a', NULL), INSTR('a', 'a', 1, NULL), INSTR(FROM_HEX('010203'), FROM_HEX('03'));
SELECT INSTR('abc', '', 2), INSTR('abc', '', -1), INSTR('abc', '', 9);

-- tests: initcap
SELECT INITCAP('hello WORLD-everyone'), INITCAP(''), INITCAP('a_b.c,d:e;f'), INITCAP('1st place'), INITCAP("o'neil"), INITCAP('größe ßa'), INITCAP(NULL);
SELECT INITCAP('Hello WORLD-hello', ' '), INITCAP('apples1oranges2pears', '12'), INITCAP('ab cd', ''), INITCAP('ab', NULL), INITCAP('tab\there\nnew');

-- tests: translate
SELECT TRANSLATE('This is a cookie', 'sco', 'zku'), TRANSLATE('abc', 'ab', 'x'), TRANSLATE('abc', '', ''), TRANSLATE('abc', 'x', 'y'), TRANSLATE('ß😀', '😀ß', 'ab'), TRANSLATE(NULL, 'a', 'b'), TRANSLATE('a', 'a', 'bcd');
SELECT TRANSLATE('abc', 'aa', 'xy');

-- tests: soundex
SELECT SOUNDEX('Ashcraft'), SOUNDEX('Robert'), SOUNDEX('Rupert'), SOUNDEX('Tymczak'), SOUNDEX('Pfister'), SOUNDEX(''), SOUNDEX('  1a'), SOUNDEX('Honeyman'), SOUNDEX('a'), SOUNDEX(NULL), SOUNDEX('ßß'), SOUNDEX('Jackson');

-- tests: normalize, normalize_and_casefold
SELECT NORMALIZE('e\u0301') = '\u00e9', NORMALIZE('ﬁ', NFKC), NORMALIZE('\u00e9', NFD) = 'e\u0301', NORMALIZE('①', NFKD), NORMALIZE(NULL), NORMALIZE('');
SELECT NORMALIZE_AND_CASEFOLD('The RED Barn'), NORMALIZE_AND_CASEFOLD('straße'), NORMALIZE_AND_CASEFOLD('ΣΑΣ'), NORMALIZE_AND_CASEFOLD('ﬁ', NFKC), NORMALIZE_AND_CASEFOLD(NULL);
SELECT NORMALIZE('a', NFX);

-- tests: octet_length
SELECT OCTET_LENGTH('ß'), OCTET_LENGTH(FROM_HEX('0102')), OCTET_LENGTH(NULL);

-- tests: ascii
SELECT ASCII('abc'), ASCII(''), ASCII(NULL);
SELECT ASCII('ß');

-- tests: unicode
SELECT UNICODE('ß'), UNICODE('😀a'), UNICODE(''), UNICODE(NULL);

-- tests: chr
SELECT CHR(65), CHR(223), CHR(128512), CHR(0), CHR(NULL);
SELECT CHR(-1);
SELECT CHR(55296);
SELECT CHR(1114112);

-- tests: to_code_points
SELECT TO_CODE_POINTS('aß😀'), TO_CODE_POINTS(''), TO_CODE_POINTS(FROM_HEX('00ff')), TO_CODE_POINTS(NULL);

-- tests: code_points_to_string
SELECT CODE_POINTS_TO_STRING([97, 223, 128512]), CODE_POINTS_TO_STRING([]), CODE_POINTS_TO_STRING([97, NULL]), CODE_POINTS_TO_STRING(NULL);
SELECT CODE_POINTS_TO_STRING([55296]);
SELECT CODE_POINTS_TO_STRING([-1]);

-- tests: code_points_to_bytes
SELECT CODE_POINTS_TO_BYTES([97, 255, 0]), CODE_POINTS_TO_BYTES([1, NULL]), CODE_POINTS_TO_BYTES([]);
SELECT CODE_POINTS_TO_BYTES([256]);

-- tests: replace
SELECT REPLACE(FROM_HEX('010201'), FROM_HEX('01'), FROM_HEX('ffff'));
SELECT LENGTH(REPLACE(REPEAT('a', 100000), 'a', 'bbbbbbbbbbbb'));

-- tests: substr
SELECT SUBSTR(FROM_HEX('01ff03'), 2), SUBSTR(FROM_HEX('01ff03'), -2, 1), SUBSTR(FROM_HEX('01ff03'), 0, 2);

-- tests: trim, ltrim, rtrim
SELECT TRIM(FROM_HEX('010201'), FROM_HEX('01')), LTRIM(FROM_HEX('010201'), FROM_HEX('01')), RTRIM(FROM_HEX('010201'), FROM_HEX('01'));
SELECT TRIM(CAST(' a ' AS BYTES));
