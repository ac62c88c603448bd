import { deepEqual, equal, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readQuotedName, readString } from '../../../engine/sql/lexer.ts';
import { parseQuery } from '../../../engine/sql/query-parser.ts';
import { ServiceError } from '../../../src/errors.ts';
import type { KnownField } from '../../../src/explore/field-path.ts';
import { formatPath } from '../../../src/explore/field-path.ts';
import { parseSearch, SEARCH_LENGTH_MAX, SEARCH_TERMS_MAX } from '../../../src/explore/search.ts';
import { formatConditions } from '../../../src/explore/search-condition.ts';
import { quoteName, quoteText } from '../../../src/explore/sql-text.ts';
import { runsOf } from '../../support/budget.ts';

const KNOWN: readonly KnownField[] = [
  { path: ['metadata', 'response', 'status_code'], isInLists: false, isAlone: true },
  { path: ['metadata', 'request', 'path'], isInLists: false, isAlone: true },
  { path: ['metadata', 'response', 'path'], isInLists: false, isAlone: true },
  { path: ['metadata', 'tags'], isInLists: true, isAlone: false },
  { path: ['metadata', 'mixed'], isInLists: true, isAlone: true },
  { path: ['level'], isInLists: false, isAlone: true },
];

function conditions(text: string): readonly string[] {
  return formatConditions(text, parseSearch(text), KNOWN);
}

const IN_RESPONSE =
  'EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS r1, UNNEST(r1.response) AS r2 WHERE';

test('words, phrases and patterns are looked for in the message', () => {
  deepEqual(conditions('time "not found" /5\\d\\d/ -debug -"a b" -/x y/'), [
    "CONTAINS_SUBSTR(t.event_message, 'time')",
    "CONTAINS_SUBSTR(t.event_message, 'not found')",
    "REGEXP_CONTAINS(t.event_message, '5\\\\d\\\\d')",
    "(CONTAINS_SUBSTR(t.event_message, 'debug')) IS NOT TRUE",
    "(CONTAINS_SUBSTR(t.event_message, 'a b')) IS NOT TRUE",
    "(REGEXP_CONTAINS(t.event_message, 'x y')) IS NOT TRUE",
  ]);
});

test('a path is a word, unless its last slash ends it as a pattern', () => {
  deepEqual(conditions('/rest/v1/orders /orders - a-b'), [
    "CONTAINS_SUBSTR(t.event_message, '/rest/v1/orders')",
    "CONTAINS_SUBSTR(t.event_message, '/orders')",
    "CONTAINS_SUBSTR(t.event_message, '-')",
    "CONTAINS_SUBSTR(t.event_message, 'a-b')",
  ]);
});

test('a field is compared as a text by a colon, and as a number by other signs', () => {
  deepEqual(conditions('status_code:500 status_code>=500 level:error -level:/^e/ level:*'), [
    `${IN_RESPONSE} r2.status_code = '500')`,
    `${IN_RESPONSE} r2.status_code >= 500)`,
    "t.level = 'error'",
    "(REGEXP_CONTAINS(t.level, '^e')) IS NOT TRUE",
    't.level IS NOT NULL',
  ]);
  deepEqual(conditions('level=high level="" level>"b" id>5 status_code<-1.5e3'), [
    "t.level = 'high'",
    "t.level = ''",
    "t.level > 'b'",
    'SAFE_CAST(t.id AS FLOAT64) > 5',
    `${IN_RESPONSE} r2.status_code < -1.5e3)`,
  ]);
  deepEqual(conditions('timestamp>="2026-01-15T00:00:00Z"'), [
    't.timestamp >= TIMESTAMP_MICROS(1768435200000000)',
  ]);
});

test('one value of a list is enough, and with a minus none may be there', () => {
  deepEqual(conditions('tags:a -mixed:b'), [
    "EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS r1, UNNEST(r1.tags) AS v WHERE v = 'a')",
    "(EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS r1 WHERE r1.mixed = 'b' OR EXISTS (SELECT 1 FROM UNNEST(r1.mixed) AS v WHERE v = 'b'))) IS NOT TRUE",
  ]);
});

test('a path below metadata that no event has is taken as it is', () => {
  equal(
    conditions('metadata.none:1')[0],
    "EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS r1 WHERE r1.none = '1' OR EXISTS (SELECT 1 FROM UNNEST(r1.none) AS v WHERE v = '1'))",
  );
});

test('what cannot be meant is refused with its place and with candidates', () => {
  const cases: readonly (readonly [text: string, message: RegExp, column: number])[] = [
    ['a path:/x', /"path" may be metadata.request.path or metadata.response.path; write more/, 3],
    [
      'statuscode:5',
      /no event .*"statuscode".*did you mean metadata.response.status_code\?|status_code/,
      1,
    ],
    ['a  "open', /a closing " is missing/, 4],
    ['`open', /a closing ` is missing/, 1],
    ['level: x', /a value must follow ":"/, 6],
    ['level>high', /a number must follow ">"; got "high"/, 7],
    ['"a"b', /a space must follow the closing quote/, 1],
    ['""', /a phrase may not be empty/, 1],
    ['x /(/', /is not valid/, 3],
    ['status_code>1e999', /does not fit into FLOAT64/, 1],
    ['timestamp>5', /ISO 8601/, 1],
  ];
  for (const [text, message, column] of cases) {
    throws(
      () => conditions(text),
      (error: unknown) => {
        ok(error instanceof ServiceError);
        deepEqual([error.code, error.details.column], ['invalid_parameter', column], text);
        ok(message.test(error.message), error.message);
        return true;
      },
    );
  }
  throws(() => parseSearch('x'.repeat(SEARCH_LENGTH_MAX + 1)), /at most 4096 characters/);
  throws(() => parseSearch('x '.repeat(SEARCH_TERMS_MAX + 1)), /at most 100 conditions/);
  equal(parseSearch('x '.repeat(SEARCH_TERMS_MAX)).length, SEARCH_TERMS_MAX);
});

const TEXT = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(
      '\\',
      "'",
      '"',
      '`',
      '\n',
      '\r',
      '-',
      '/',
      '*',
      ' ',
      'a',
      '\u202e',
      '\u{e0001}',
    ),
    minLength: 1,
    maxLength: 12,
  }),
);

test('no text gets out of its quotes', () => {
  const refuse = (message: string): never => {
    throw new Error(message);
  };
  fc.assert(
    fc.property(TEXT, (text) => {
      const literal = quoteText(text);
      const name = quoteName(text);
      deepEqual(readString(literal, 0, false, refuse), { value: text, end: literal.length });
      deepEqual(readQuotedName(name, 0, refuse), { value: text, end: name.length });
    }),
    { numRuns: runsOf(20_000) },
  );
});

/** A search of which nothing is known, and fields with any keys. */
const ANY_SEARCH = fc.array(
  fc.oneof(
    TEXT,
    fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.array(TEXT, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(':', '=', '<', '<=', '>', '>='),
        fc.constantFrom(
          '5',
          '-1.5',
          '.5',
          '7.',
          '99999999999999999999',
          '"x\'"',
          '/a+/',
          '*',
          '\\',
        ),
      )
      .map(([minus, path, sign, value]) => `${minus}metadata.${formatPath(path)}${sign}${value}`),
    fc.constantFrom('"a b"', '/x\\/y/', '-"', '`', 'level:1', '-status_code<4'),
  ),
  { maxLength: 6 },
);

test('every search that is taken becomes SQL that parses', () => {
  let taken = 0;
  fc.assert(
    fc.property(ANY_SEARCH, (parts) => {
      let found: readonly string[];
      try {
        found = conditions(parts.join(' '));
      } catch (error) {
        ok(error instanceof ServiceError && error.code === 'invalid_parameter', String(error));
        ok(error.details.column !== undefined);
        return;
      }
      taken += 1;
      parseQuery(`SELECT 1 FROM x AS t WHERE ${['TRUE', ...found].join('\n AND ')}`);
    }),
    { numRuns: runsOf(10_000) },
  );
  ok(taken > 50, `${taken} searches were taken`);
});
