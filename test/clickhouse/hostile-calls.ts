/** What stands between semicolons. */
function listOf(text: string): readonly string[] {
  return text.trim().split(/;\s+/);
}

/** Values that functions trip over, beside NULL, as SQL, by what they are. */
export const VALUES = {
  texts: listOf(`
    ''; ' '; 'a'; 'abc'; 'aXbXc'; 'Größe'; 'ß'; 'ΑΣ'; 'İ'; 'ǆ'; '😀a😀'; 'e\\u0301';
    '\\u00a0a\\u2003'; 'a\\nb'; '\\t\\r'; '\\\\'; '%_'; '$&'; '日本語'; '\\u0000'; '\\U0010ffff'; 'ﬁ①';
    'aaaa'; '--x--'; '1,2,,3'; 'O\\'Neil-smith'
  `),
  numerals: listOf(`
    ''; '0'; '-0'; '42'; ' 42 '; '+7'; '0x1F'; '007'; '1.5'; '1e3'; '.5'; 'nan'; '-inf';
    '9223372036854775807'; '9223372036854775808'; '-9223372036854775808'; '1_000'; '1e400';
    'true'; 'FALSE'; 'x'; '١'; '5.'
  `),
  integers: listOf(`
    0; 1; -1; 2; 7; -7; 63; 64; 65; 255; 256; -256; 1000000; 9007199254740993; -9007199254740993;
    9223372036854775807; -9223372036854775808
  `),
  fractions: listOf(`
    0.0; -0.0; 1.0; -1.5; 2.5; 0.5; 1.005; 2.675; -0.285; 0.1; 1e-7; 123456.789; 1e15; 1e22;
    4503599627370495.5; 9007199254740993.0; 1e300; -1e308; 5e-324; 1.7976931348623157e308;
    CAST('nan' AS FLOAT64); CAST('inf' AS FLOAT64); CAST('-inf' AS FLOAT64)
  `),
  bytes: listOf(`
    b''; b'a'; b'\\x00'; b'\\xff'; b'\\x80\\xbf'; b'abc'; b'\\xc3\\x9f'; b'\\xe2\\x82';
    b'\\xf0\\x9f\\x98\\x80'; b'\\xed\\xa0\\x80'; b'\\xf4\\x90\\x80\\x80'; b'\\x01\\x80\\xff\\x7f';
    b'0123456789abcdef'; b'"\\\\n'
  `),
  timestamps: listOf(`
    TIMESTAMP '2026-01-15 11:55:00.123456'; TIMESTAMP '1970-01-01';
    TIMESTAMP '1969-12-31 23:59:59.999999'; TIMESTAMP '0001-01-01';
    TIMESTAMP '9999-12-31 23:59:59.999999'; TIMESTAMP '2024-02-29 12:00:00';
    TIMESTAMP '1899-12-31 23:00:00'; TIMESTAMP '1883-11-18 17:00:00';
    TIMESTAMP '2026-03-29 00:59:59'; TIMESTAMP '2026-03-29 01:00:00';
    TIMESTAMP '2026-10-25 00:30:00'; TIMESTAMP '2026-10-25 01:30:00';
    TIMESTAMP '2099-12-31 12:00:00'; TIMESTAMP '2021-01-03'; TIMESTAMP '2000-01-02 00:00:00.5'
  `),
  datetimes: listOf(`
    DATETIME '2026-01-31 11:55:00.1'; DATETIME '0001-01-01';
    DATETIME '9999-12-31 23:59:59.999999'; DATETIME '2024-02-29 23:59:59';
    DATETIME '2026-03-29 02:30:00'; DATETIME '2026-10-25 02:30:00';
    DATETIME '1969-12-31 23:59:59.5'; DATETIME '1900-03-01'
  `),
  dates: listOf(`
    DATE '2026-01-15'; DATE '0001-01-01'; DATE '9999-12-31'; DATE '2024-02-29';
    DATE '1900-02-28'; DATE '2024-12-30'; DATE '2027-01-03'; DATE '1969-12-31';
    DATE '2000-12-31'
  `),
  times: listOf(`
    TIME '00:00:00'; TIME '23:59:59.999999'; TIME '12:34:56.789'; TIME '01:02:03'
  `),
  intervals: listOf(`
    INTERVAL 0 DAY; INTERVAL 1 MONTH; INTERVAL 30 DAY; INTERVAL -1 YEAR; INTERVAL 25 HOUR;
    INTERVAL '1-14 33 44:55:66.777888' YEAR TO SECOND;
    INTERVAL '-1-2 -3 -4:5:6.789' YEAR TO SECOND; INTERVAL 10000 YEAR; INTERVAL -3660000 DAY;
    INTERVAL 1 MICROSECOND
  `),
  'times in texts': listOf(`
    ''; '2026-01-15'; '2026-1-5 1:2:3'; '2026-01-15T10:00:00.123456Z';
    '2026-01-15 10:00:00+05:30'; '2026-02-30'; '0000-01-01'; '9999-12-31 23:59:60';
    '2026-01-15 24:00:00'; '2026-01-15+01'; '2026-01-15 10:00:00 UTC'; '2026-01-15 10:00:00 EST';
    '2026-01-15 10:00:00+15'; '20260115'; ' 2026-01-15'; '10:11:12'; '23:59:60.5';
    '2026-01-15 10:00:00.1234567'; '2026115'; 'x'; 'Thu Jan 15 11:55:00 2026'; '01/15/26';
    '12:30 PM'; '5 2026'; '1768478280'; '-1'; '3 2026'; '2024 366'; '2025 366'; '53 2026';
    'january  5, 2026'; '2026-01-15 10:00:00 +0130'
  `),
  json: listOf(`
    '{"a":1}'; '{"a":"x"}'; '{"a":{"b":[10,{"c":null}]}}'; '[1, "x", null, true]'; 'null';
    '{"a":1.50}'; '{"a":1e3}'; '{"a":12345678901234567890}'; '{"a":-0}'; '{"a":[1,[2]]}'; '';
    '{"a":"\\\\u00e9\\\\n\\\\"q\\\\\\\\"}'; '{"a":"/b"}'; '{"a":1,"a":2}'; '{ "b" : 2 , "a" : [ ] }';
    '{"a"'; '01'; '1 2'; '{"a":1,}'; '"😀"'; '[[[[[[[1]]]]]]]'; '{"a":"\\\\ud83d\\\\ude00"}'; '[0]';
    '{"0":1}'; ' true '; '1.0'; '-1.5e-7'; '1e20'; '123456789012345678901234567890'; '"a\\tb"'
  `),
  addresses: listOf(`
    ''; '10.0.0.1'; '010.0.0.1'; '256.0.0.1'; '1.2.3'; '::'; '::1'; '1::'; '1:2:3:4:5:6:7:8';
    '1:2:3:4:5:6:7'; '::ffff:192.0.2.128'; 'fe80::1%eth0'; '1:::2'; '::1.2.3.4'; 'g::'; ' ::1';
    'https://user:p@a.b:80/x?y#z'; '//h'; 'HTTP://[::1]:8080/'; 'mailto:x'; 'a b';
    'http://例子.中国/'
  `),
} as const;

/** Calls over a column `x` of such values. */
export const CALLS: Readonly<Record<keyof typeof VALUES, readonly string[]>> = {
  texts: listOf(`
    LENGTH(x); BYTE_LENGTH(x); LOWER(x); UPPER(x); REVERSE(x); TRIM(x); LTRIM(x, 'a-');
    SPLIT(x, ''); SPLIT(x, ','); SPLIT(x, 'X'); SUBSTR(x, 2); SUBSTR(x, -2, 1); LEFT(x, 2);
    RIGHT(x, 2); LPAD(x, 5, 'ß😀'); RPAD(x, 3); LPAD(x, 0, 'y'); REPEAT(x, 3); REPEAT(x, 0);
    INSTR(x, 'a'); INSTR(x, 'aa', -1); INSTR(x, 'a', -2, 2); INSTR(x, '', 2); INITCAP(x);
    INITCAP(x, 'aß'); TRANSLATE(x, 'aß-', 'b'); SOUNDEX(x); NORMALIZE(x); NORMALIZE(x, NFKD);
    NORMALIZE_AND_CASEFOLD(x); CONTAINS_SUBSTR(x, 'SS'); ASCII(x); UNICODE(x); TO_CODE_POINTS(x);
    CAST(x AS BYTES); TO_HEX(MD5(x)); TO_HEX(SHA1(x)); TO_HEX(SHA256(x)); TO_HEX(SHA512(x));
    FARM_FINGERPRINT(x); TO_JSON_STRING(x); TO_JSON(x); FORMAT('%s|%5s|%-5s|%.2s', x, x, x, x);
    FORMAT('%t|%T', x, x); REGEXP_EXTRACT(x, '[a-c]+'); REGEXP_EXTRACT(x, 'a(.)');
    REGEXP_EXTRACT(x, '', 2); REGEXP_EXTRACT(x, 'a', 1, 2); REGEXP_EXTRACT(x, 'x|(b)');
    REGEXP_EXTRACT(x, '.$'); REGEXP_EXTRACT_ALL(x, 'a|ß'); REGEXP_INSTR(x, 'b');
    REGEXP_INSTR(x, 'a', 2); REGEXP_INSTR(x, 'a(.)', 1, 1, 1); REGEXP_INSTR(x, '$');
    REGEXP_REPLACE(x, '(a)(.)', r'\\2\\1'); REGEXP_CONTAINS(x, '('); REGEXP_CONTAINS(x, '^.$');
    REPLACE(x, 'a', 'bb'); STRPOS(x, 'a'); CONCAT(x, 'a', x); x || x; x LIKE '%a%';
    ARRAY_TO_STRING([x, NULL, 'b'], '-'); ARRAY_TO_STRING([x, NULL], '', '?'); ARRAY_FIRST([x]);
    ARRAY_LAST([x, x]); ARRAY_INCLUDES(['a', x], 'a'); RANGE_BUCKET(x, ['', 'a', 'b']);
    IF(x = 'a', ERROR('no'), x); SAFE.SUBSTR(x, 1, -1); STARTS_WITH(x, 'a'); ENDS_WITH(x, 'c');
    GREATEST(x, 'b'); NULLIF(x, 'a'); COALESCE(x, 'none')
  `),
  numerals: listOf(`
    CAST(x AS INT64); SAFE_CAST(x AS INT64); SAFE_CAST(x AS FLOAT64); SAFE_CAST(x AS BOOL);
    FROM_HEX(x); FROM_BASE64(x); SAFE_CAST(x AS DATE); SAFE_CAST(x AS TIME);
    SAFE_CAST(x AS DATETIME); SAFE_CAST(x AS TIMESTAMP); SAFE.PARSE_JSON(x)
  `),
  integers: listOf(`
    ABS(x); SIGN(x); -x; SAFE_NEGATE(x); x + 1; SAFE_ADD(x, 1); SAFE_MULTIPLY(x, x); DIV(x, 7);
    MOD(x, -7); x / 7; ~x; x & 255; x | 256; x ^ -1; 1 << x; -1 >> x; x << 1; x >> 1;
    BIT_COUNT(x); CHR(x); ROUND(x, -1); TRUNC(x, -2); ROUND(x); SQRT(x); CAST(x AS STRING);
    CAST(x AS FLOAT64); CAST(x AS BOOL); TO_JSON_STRING(x); TO_JSON(x);
    FORMAT('%d|%5d|%-5d|%05d|%+d', x, x, x, x, x); FORMAT('%x|%X|%o|%#x', x, x, x, x);
    FORMAT("%'d|%.3d", x, x); FORMAT('%t|%T', x, x); TIMESTAMP_SECONDS(x); TIMESTAMP_MILLIS(x);
    TIMESTAMP_MICROS(x); DATE_FROM_UNIX_DATE(x); GENERATE_ARRAY(x, 5, 3);
    GENERATE_ARRAY(3, x, -1); DATE_ADD(DATE '2026-01-31', INTERVAL x MONTH);
    DATETIME_ADD(DATETIME '2026-01-31', INTERVAL x YEAR); DATE '2026-01-15' + x;
    TIMESTAMP_ADD(TIMESTAMP '2026-01-15', INTERVAL x HOUR);
    TIME_ADD(TIME '10:00:00', INTERVAL x MINUTE); INTERVAL x DAY; INTERVAL x YEAR;
    INTERVAL 1 DAY * x; INTERVAL '1-1 1 1:1:1' YEAR TO SECOND / x; MAKE_INTERVAL(x, 1);
    CODE_POINTS_TO_STRING([x]); CODE_POINTS_TO_BYTES([97, x]); SUBSTR('abc', x);
    SUBSTR('abcdef', x, 2); LEFT('abc', x); LPAD('abc', x); REPEAT('ab', x);
    INSTR('banana', 'a', x); INSTR('banana', 'a', 1, x); [1, 2][SAFE_OFFSET(x)];
    ARRAY_SLICE([1, 2, 3], x, -1); DATE(2026, x, 1); TIME(x, 1, 1);
    DATETIME(2026, 1, x, 0, 0, 60); NET.IPV4_FROM_INT64(x); NET.IP_NET_MASK(4, x);
    RANGE_BUCKET(x, [0, 1, 255]); POW(x, 2); LOG(x, 2); CONCAT(x, ""); x IN (1, 2, NULL);
    IF(x > 1, x, NULL)
  `),
  fractions: listOf(`
    ROUND(x); ROUND(x, 1); ROUND(x, 2); ROUND(x, 20); ROUND(x, -1); ROUND(x, -300); TRUNC(x);
    TRUNC(x, 2); TRUNC(x, -3); CEIL(x); FLOOR(x); ABS(x); SIGN(x); -x; x + 1; x * 2; x / 3;
    SAFE_DIVIDE(x, 0); IEEE_DIVIDE(x, 0); IEEE_DIVIDE(1, x); SQRT(x); CBRT(x); EXP(x); LN(x);
    LOG10(x); LOG(x); LOG(x, 3); LOG(3, x); POW(x, 2); POW(2, x); POW(x, 0.5); SIN(x); COS(x);
    ATAN(x); ASIN(x); ACOS(x); ATAN2(x, 1); SINH(x); COSH(x); TANH(x); ASINH(x); ACOSH(x);
    ATANH(x); IS_NAN(x); IS_INF(x); CAST(x AS INT64); SAFE_CAST(x AS INT64); CAST(x AS STRING);
    TO_JSON_STRING(x); TO_JSON(x); RANGE_BUCKET(x, [0.0, 1.0]); GREATEST(x, 0.5);
    FORMAT('%f|%.0f|%10.3f|%-10.1f|%+.2f|%08.2f', x, x, x, x, x, x); FORMAT('%e|%.2E', x, x);
    FORMAT('%g|%G|%.3g|%#g', x, x, x, x); FORMAT("%'.2f|%t|%T", x, x, x)
  `),
  bytes: listOf(`
    TO_HEX(x); TO_BASE64(x); SAFE_CONVERT_BYTES_TO_STRING(x); SAFE_CAST(x AS STRING); LENGTH(x);
    REVERSE(x); UPPER(x); ~x; x & x; x ^ x; x << 3; x >> 11; x << 64; BIT_COUNT(x);
    TO_CODE_POINTS(x); SUBSTR(x, 2); x || b'\\xff'; LPAD(x, 3, b'\\xfe'); RPAD(x, 2); REPEAT(x, 2);
    INSTR(x, b'\\xff'); TRANSLATE(x, b'a', b'\\x00'); SPLIT(x, b'\\x80'); REPLACE(x, b'a', b'');
    TO_HEX(MD5(x)); REGEXP_CONTAINS(x, b'^.$'); REGEXP_EXTRACT(x, b'.b?');
    REGEXP_EXTRACT_ALL(x, b'.'); REGEXP_REPLACE(x, b'a', b'\\xff'); x = b'a'; x < b'\\x80';
    FORMAT('%t|%T', x, x); TO_JSON_STRING(x); FARM_FINGERPRINT(x); NET.IP_TO_STRING(x);
    NET.IPV4_TO_INT64(x); x LIKE b'%'; NET.IP_TRUNC(x, 12)
  `),
  timestamps: listOf(`
    TIMESTAMP_TRUNC(x, MICROSECOND); EXTRACT(MICROSECOND FROM x);
    TIMESTAMP_TRUNC(x, MILLISECOND); EXTRACT(MILLISECOND FROM x); TIMESTAMP_TRUNC(x, SECOND);
    EXTRACT(SECOND FROM x); TIMESTAMP_TRUNC(x, MINUTE); EXTRACT(MINUTE FROM x);
    TIMESTAMP_TRUNC(x, HOUR); EXTRACT(HOUR FROM x); TIMESTAMP_TRUNC(x, DAY); EXTRACT(DAY FROM x);
    TIMESTAMP_TRUNC(x, WEEK); EXTRACT(WEEK FROM x); TIMESTAMP_TRUNC(x, WEEK(THURSDAY));
    EXTRACT(WEEK(THURSDAY) FROM x); TIMESTAMP_TRUNC(x, ISOWEEK); EXTRACT(ISOWEEK FROM x);
    TIMESTAMP_TRUNC(x, MONTH); EXTRACT(MONTH FROM x); TIMESTAMP_TRUNC(x, QUARTER);
    EXTRACT(QUARTER FROM x); TIMESTAMP_TRUNC(x, YEAR); EXTRACT(YEAR FROM x);
    TIMESTAMP_TRUNC(x, ISOYEAR); EXTRACT(ISOYEAR FROM x);
    TIMESTAMP_TRUNC(x, DAY, 'Europe/Berlin'); TIMESTAMP_TRUNC(x, HOUR, 'Asia/Kolkata');
    TIMESTAMP_TRUNC(x, MONTH, 'America/New_York'); TIMESTAMP_TRUNC(x, DAY, '-03:30');
    EXTRACT(HOUR FROM x AT TIME ZONE 'Australia/Lord_Howe');
    EXTRACT(DATE FROM x AT TIME ZONE 'Asia/Tokyo'); EXTRACT(TIME FROM x);
    EXTRACT(DAYOFYEAR FROM x); STRING(x, 'Europe/Berlin'); STRING(x, '+05:45');
    DATETIME(x, 'America/New_York'); DATE(x, 'Pacific/Apia'); TIME(x); CAST(x AS STRING);
    CAST(x AS DATE);
    FORMAT_TIMESTAMP('%A %a %B %b %h %j %u %w %U %W %V %G %g %C %y %Y %E4Y %Q', x);
    FORMAT_TIMESTAMP('%c|%D|%e|%F|%I|%k|%l|%p|%P|%R|%r|%s|%T|%x|%X|%%|%n|%t', x);
    FORMAT_TIMESTAMP('%Z %z %Ez %T', x, 'Europe/London');
    FORMAT_TIMESTAMP('%E*S %E0S %E1S %E3S %E6S', x); FORMAT_TIMESTAMP('%q', x); UNIX_SECONDS(x);
    UNIX_MILLIS(x); TIMESTAMP_DIFF(x, TIMESTAMP '2000-01-01', HOUR); x - TIMESTAMP '2000-01-01';
    x + INTERVAL 1 DAY; x - INTERVAL 25 HOUR; x + INTERVAL 1 MONTH; TO_JSON_STRING(x);
    TIMESTAMP_BUCKET(x, INTERVAL 7 DAY); TIMESTAMP_ADD(x, INTERVAL 1 HOUR);
    FORMAT('%t|%T', x, x);
    GENERATE_TIMESTAMP_ARRAY(x, TIMESTAMP '1970-01-01 01:00:00', INTERVAL 30 MINUTE)
  `),
  datetimes: listOf(`
    DATETIME_TRUNC(x, WEEK); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', WEEK);
    DATETIME_TRUNC(x, ISOWEEK); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', ISOWEEK);
    DATETIME_TRUNC(x, MONTH); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', MONTH);
    DATETIME_TRUNC(x, QUARTER); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', QUARTER);
    DATETIME_TRUNC(x, YEAR); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', YEAR);
    DATETIME_TRUNC(x, ISOYEAR); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', ISOYEAR);
    DATETIME_TRUNC(x, HOUR); DATETIME_DIFF(x, DATETIME '2000-02-29 12:00:00', HOUR);
    TIMESTAMP(x, 'Europe/Berlin'); TIMESTAMP(x, 'America/New_York'); TIMESTAMP(x, '+14');
    DATETIME_ADD(x, INTERVAL 1 MONTH); DATETIME_SUB(x, INTERVAL 1 QUARTER);
    x + INTERVAL '1-1 1 1:1:1' YEAR TO SECOND; x - INTERVAL '1-1' YEAR TO MONTH;
    x - DATETIME '2000-01-01'; LAST_DAY(x); CAST(x AS TIMESTAMP); CAST(x AS TIME);
    FORMAT_DATETIME('%F %T %E*S', x); FORMAT_DATETIME('%Z', x);
    DATETIME_BUCKET(x, INTERVAL 2 MONTH);
    DATETIME_BUCKET(x, INTERVAL 5 HOUR, DATETIME '2000-01-31'); TO_JSON(x)
  `),
  dates: listOf(`
    DATE_TRUNC(x, DAY); DATE_DIFF(x, DATE '2000-02-29', DAY); EXTRACT(DAY FROM x);
    DATE_TRUNC(x, WEEK); DATE_DIFF(x, DATE '2000-02-29', WEEK); EXTRACT(WEEK FROM x);
    DATE_TRUNC(x, WEEK(MONDAY)); DATE_DIFF(x, DATE '2000-02-29', WEEK(MONDAY));
    EXTRACT(WEEK(MONDAY) FROM x); DATE_TRUNC(x, ISOWEEK);
    DATE_DIFF(x, DATE '2000-02-29', ISOWEEK); EXTRACT(ISOWEEK FROM x); DATE_TRUNC(x, MONTH);
    DATE_DIFF(x, DATE '2000-02-29', MONTH); EXTRACT(MONTH FROM x); DATE_TRUNC(x, QUARTER);
    DATE_DIFF(x, DATE '2000-02-29', QUARTER); EXTRACT(QUARTER FROM x); DATE_TRUNC(x, YEAR);
    DATE_DIFF(x, DATE '2000-02-29', YEAR); EXTRACT(YEAR FROM x); DATE_TRUNC(x, ISOYEAR);
    DATE_DIFF(x, DATE '2000-02-29', ISOYEAR); EXTRACT(ISOYEAR FROM x); LAST_DAY(x, MONTH);
    LAST_DAY(x, WEEK); LAST_DAY(x, QUARTER); LAST_DAY(x, YEAR); LAST_DAY(x, ISOWEEK);
    LAST_DAY(x, ISOYEAR); DATE_ADD(x, INTERVAL 1 MONTH); DATE_SUB(x, INTERVAL 1 YEAR);
    DATE_ADD(x, INTERVAL 1 WEEK); x + 1; x - 1; x - DATE '2000-01-01'; x + INTERVAL 1 MONTH;
    UNIX_DATE(x); CAST(x AS STRING); TIMESTAMP(x); TIMESTAMP(x, 'Europe/Berlin'); DATETIME(x);
    FORMAT_DATE('%A %d %b %Y %j %V', x); FORMAT_DATE('%H', x);
    GENERATE_DATE_ARRAY(x, DATE '1970-03-01', INTERVAL 1 MONTH);
    GENERATE_DATE_ARRAY(DATE '2026-01-31', DATE '2026-06-30', INTERVAL 1 MONTH);
    DATE_BUCKET(x, INTERVAL 7 DAY); FORMAT('%t|%T', x, x)
  `),
  times: listOf(`
    TIME_TRUNC(x, MINUTE); TIME_ADD(x, INTERVAL 25 HOUR); TIME_SUB(x, INTERVAL 1 MICROSECOND);
    TIME_DIFF(x, TIME '10:59:59.9', HOUR); x - TIME '12:00:00'; EXTRACT(HOUR FROM x);
    EXTRACT(MICROSECOND FROM x); FORMAT_TIME('%H|%I|%k|%l|%p|%R|%E*S', x); FORMAT_TIME('%Y', x);
    CAST(x AS STRING); DATETIME(DATE '9999-12-31', x)
  `),
  intervals: listOf(`
    CAST(x AS STRING); -x; x * 3; x / 7; x / 0; x + INTERVAL 1 DAY; x - INTERVAL 1 MONTH;
    JUSTIFY_DAYS(x); JUSTIFY_HOURS(x); JUSTIFY_INTERVAL(x); x = INTERVAL 30 DAY;
    x > INTERVAL 1 DAY; GREATEST(x, INTERVAL 30 DAY); NULLIF(x, INTERVAL 30 DAY);
    TIMESTAMP '2026-01-15' + x; DATETIME '2026-01-31' - x; EXTRACT(YEAR FROM x);
    EXTRACT(MONTH FROM x); EXTRACT(DAY FROM x); EXTRACT(HOUR FROM x); EXTRACT(MINUTE FROM x);
    EXTRACT(SECOND FROM x); EXTRACT(MILLISECOND FROM x); EXTRACT(MICROSECOND FROM x);
    TO_JSON_STRING(x); FORMAT('%t|%T', x, x); x; DATETIME_BUCKET(DATETIME '2026-01-15', x)
  `),
  'times in texts': listOf(`
    CAST(x AS TIMESTAMP); SAFE_CAST(x AS DATETIME); SAFE_CAST(x AS DATE); SAFE_CAST(x AS TIME);
    TIMESTAMP(x); SAFE.TIMESTAMP(x, 'Europe/Berlin'); SAFE.DATETIME(x); SAFE.DATE(x);
    SAFE.PARSE_TIMESTAMP('%F', x); SAFE.PARSE_DATETIME('%F', x);
    SAFE.PARSE_TIMESTAMP('%F %T', x); SAFE.PARSE_DATETIME('%F %T', x);
    SAFE.PARSE_TIMESTAMP('%Y%m%d', x); SAFE.PARSE_DATETIME('%Y%m%d', x);
    SAFE.PARSE_TIMESTAMP('%FT%H:%M:%E*SZ', x); SAFE.PARSE_DATETIME('%FT%H:%M:%E*SZ', x);
    SAFE.PARSE_TIMESTAMP('%c', x); SAFE.PARSE_DATETIME('%c', x); SAFE.PARSE_TIMESTAMP('%D', x);
    SAFE.PARSE_DATETIME('%D', x); SAFE.PARSE_TIMESTAMP('%m/%d/%y', x);
    SAFE.PARSE_DATETIME('%m/%d/%y', x); SAFE.PARSE_TIMESTAMP('%I:%M %p', x);
    SAFE.PARSE_DATETIME('%I:%M %p', x); SAFE.PARSE_TIMESTAMP('%U %Y', x);
    SAFE.PARSE_DATETIME('%U %Y', x); SAFE.PARSE_TIMESTAMP('%W %Y', x);
    SAFE.PARSE_DATETIME('%W %Y', x); SAFE.PARSE_TIMESTAMP('%V %G', x);
    SAFE.PARSE_DATETIME('%V %G', x); SAFE.PARSE_TIMESTAMP('%j %Y', x);
    SAFE.PARSE_DATETIME('%j %Y', x); SAFE.PARSE_TIMESTAMP('%Y %j', x);
    SAFE.PARSE_DATETIME('%Y %j', x); SAFE.PARSE_TIMESTAMP('%s', x); SAFE.PARSE_DATETIME('%s', x);
    SAFE.PARSE_TIMESTAMP('%T', x); SAFE.PARSE_DATETIME('%T', x);
    SAFE.PARSE_TIMESTAMP('%H:%M:%E3S', x); SAFE.PARSE_DATETIME('%H:%M:%E3S', x);
    SAFE.PARSE_TIMESTAMP('%B %e, %Y', x); SAFE.PARSE_DATETIME('%B %e, %Y', x);
    SAFE.PARSE_TIMESTAMP('%F %T %z', x); SAFE.PARSE_TIMESTAMP('%F %T %Z', x);
    PARSE_DATE('%F', x); SAFE.PARSE_DATE('%Y%m%d', x); SAFE.PARSE_TIME('%T', x);
    SAFE.PARSE_TIMESTAMP('%F', x, 'Europe/Berlin'); SAFE.PARSE_DATE('%H', x);
    SAFE.PARSE_TIME('%H:%M:%E*S', x); SAFE.PARSE_DATE('%e %Y', x); SAFE.PARSE_DATE('%C%y', x);
    SAFE.PARSE_DATE('%Q %Y', x); SAFE.PARSE_TIME('%I:%M %p', x)
  `),
  json: listOf(`
    JSON_VALUE(x, '$.a'); JSON_VALUE(x); JSON_VALUE(x, '$[0]'); JSON_VALUE(x, '$.a.b[1].c');
    JSON_QUERY(x, '$.a'); JSON_QUERY(x); JSON_EXTRACT(x, '$.a.b'); JSON_VALUE_ARRAY(x);
    JSON_VALUE_ARRAY(x, '$.a'); JSON_QUERY_ARRAY(x); JSON_EXTRACT_ARRAY(x, '$.a');
    JSON_VALUE(x, 'a'); PARSE_JSON(x); SAFE.PARSE_JSON(x).a; SAFE.PARSE_JSON(x)[0];
    JSON_TYPE(SAFE.PARSE_JSON(x)); SAFE.INT64(SAFE.PARSE_JSON(x));
    SAFE.FLOAT64(SAFE.PARSE_JSON(x)); SAFE.STRING(SAFE.PARSE_JSON(x).a);
    SAFE.BOOL(SAFE.PARSE_JSON(x)); LAX_BOOL(SAFE.PARSE_JSON(x));
    LAX_STRING(SAFE.PARSE_JSON(x).a); JSON_QUERY(SAFE.PARSE_JSON(x), '$.a');
    JSON_VALUE(SAFE.PARSE_JSON(x), '$.a'); TO_JSON_STRING(SAFE.PARSE_JSON(x))
  `),
  addresses: listOf(`
    NET.HOST(x); NET.IP_FROM_STRING(x); NET.SAFE_IP_FROM_STRING(x);
    NET.IP_TO_STRING(NET.SAFE_IP_FROM_STRING(x)); NET.IP_TRUNC(NET.SAFE_IP_FROM_STRING(x), 20)
  `),
};
