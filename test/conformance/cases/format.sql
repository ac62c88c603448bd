-- FORMAT: places, flags, widths, precisions.

-- tests: format
SELECT FORMAT('%d', 10), FORMAT('%i', -10), FORMAT('%5d|%-5d|%05d', 42, 42, 42), FORMAT('%+d % d', 5, 5), FORMAT('%.3d', 5), FORMAT('%o %x %X', 8, 255, 255), FORMAT('%#o %#x %#X', 8, 255, 255), FORMAT('%x', -255), FORMAT("%'d", 1234567), FORMAT("%'d", -123), FORMAT('%d', 9223372036854775807);
SELECT FORMAT('%s', 'abc'), FORMAT('%10s|%-10s|', 'ab', 'ab'), FORMAT('%.2s', 'abc'), FORMAT('%5.1s|', 'ß😀'), FORMAT('%s', ''), FORMAT('%s and %s', 'a', 'b');
SELECT FORMAT('%f', 1.5), FORMAT('%.2f', 3.14159), FORMAT('%10.3f|', 3.14159), FORMAT('%-10.3f|', 3.14159), FORMAT('%010.3f', -3.14159), FORMAT('%.0f', 2.5), FORMAT('%+.1f', 1.0), FORMAT('%F', 1.5), FORMAT("%'.2f", 1234567.891);
SELECT FORMAT('%e', 12345.678), FORMAT('%E', 0.00012), FORMAT('%.2e', 1e100), FORMAT('%g', 0.0001), FORMAT('%g', 123456789.0), FORMAT('%G', 1e-10), FORMAT('%g', 100000.0), FORMAT('%.3g', 3.14159), FORMAT('%g', 0.0), FORMAT('%#g', 1.0);
SELECT FORMAT('%f', CAST('nan' AS FLOAT64)), FORMAT('%f', CAST('-inf' AS FLOAT64)), FORMAT('%F', CAST('inf' AS FLOAT64)), FORMAT('%5f|', CAST('nan' AS FLOAT64));
SELECT FORMAT('%t', 1), FORMAT('%t', 1.0), FORMAT('%t', 'a'), FORMAT('%t', TRUE), FORMAT('%t', NULL), FORMAT('%t', [1, 2]), FORMAT('%t', ['a', NULL]), FORMAT('%t', TIMESTAMP '2026-01-15 11:55:00'), FORMAT('%t', b'a\xff'), FORMAT('%10t|', 'ab');
SELECT FORMAT('%T', 1), FORMAT('%T', 1.0), FORMAT('%T', 'a'), FORMAT('%T', 'a"b'), FORMAT('%T', "a'b\n"), FORMAT('%T', TRUE), FORMAT('%T', NULL), FORMAT('%T', ['a', NULL]), FORMAT('%T', b'a\xff'), FORMAT('%T', CAST('nan' AS FLOAT64)), FORMAT('%T', CAST('-inf' AS FLOAT64));
SELECT FORMAT('%T', TIMESTAMP '2026-01-15 11:55:00.5'), FORMAT('%T', DATETIME '2026-01-15 11:55:00');
SELECT FORMAT('%d%%', 50), FORMAT('100%%'), FORMAT('plain'), FORMAT('');
SELECT FORMAT('%*d|', 5, 42), FORMAT('%-*d|', 5, 42), FORMAT('%*d|', -5, 42), FORMAT('%.*f', 2, 3.14159), FORMAT('%*.*f', 8, 2, 3.14159);
SELECT FORMAT('%d', NULL), FORMAT('%s-%d', 'a', NULL), FORMAT(NULL, 1), FORMAT('%*d', NULL, 1), FORMAT('%t-%d', NULL, 1);
SELECT FORMAT('%d');
SELECT FORMAT('%d', 1, 2);
SELECT FORMAT('%d', 'a');
SELECT FORMAT('%d', 1.5);
SELECT FORMAT('%s', 1);
SELECT FORMAT('%y', 1);
SELECT FORMAT('%');
SELECT FORMAT('%f', 'a');
SELECT FORMAT('%05.1f|%s|%d', x, 'k', n) FROM UNNEST([1.25, -1.25]) AS x CROSS JOIN UNNEST([1, 2]) AS n;
SELECT FORMAT('%.20f', 0.1), FORMAT('%f', 1e22), FORMAT('%.3f', 1e21), FORMAT('%g', 1e300), FORMAT('%.15g', 0.1), FORMAT('%.17g', 0.1);
SELECT FORMAT('%f', 1);
SELECT FORMAT('%p', 'a');
SELECT FORMAT('%.0f', x), FORMAT('%.1f', x / 10), FORMAT('%.0e', x * 10), FORMAT('%.1g', x) FROM UNNEST([0.5, 1.5, 2.5, 3.5, 12.5, 0.25, 1.25, 8.5]) AS x;
