import { COLLECTED_VALUES_MAX } from '../../engine/aggregate/collect.ts';
import {
  ANSWER_BYTES_MAX,
  GENERATED_ARRAY_MAX,
  GROUPS_MAX,
  MADE_TEXT_LENGTH_MAX,
  MATERIALIZED_ROWS_MAX,
  SELECT_COLUMNS_MAX,
} from '../../engine/limits.ts';
import type { QueryErrorCode } from '../../engine/query-error.ts';

/** As many rows as `count`, numbered from 1, made by a worker. */
export function rows(count: number): string {
  return `UNNEST(GENERATE_ARRAY(1, ${count}))`;
}

/** Cross joins of so many rows with as many. Their texts differ, for calls of the same text share a run. */
export function crossJoins(count: number, rowCount: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) =>
      `SELECT COUNT(*) AS n FROM ${rows(rowCount)} AS a, ${rows(rowCount)} AS b WHERE a + b != ${index}`,
  );
}

/** `SELECT a || a` of itself, `times` times: 2^times of what is innermost. */
export function doubled(times: number, innermost: string): string {
  let text = innermost;
  for (let level = 0; level < times; level++) text = `SELECT a || a AS a FROM (${text})`;
  return text;
}

/** What each would take, and the limit that stops it. */
export const STOPPED: readonly {
  readonly name: string;
  readonly text: string;
  readonly code: QueryErrorCode;
  readonly tells: string;
}[] = [
  {
    name: 'CTEs that each name the one before twice',
    text: `WITH c0 AS (SELECT 1 AS a)${Array.from({ length: 30 }, (_, index) => `, c${index + 1} AS (SELECT x.a FROM c${index} AS x JOIN c${index} AS y ON x.a = y.a)`).join('')} SELECT a FROM c30`,
    code: 'query_limit',
    tells: 'too large once its tables and aliases are written out',
  },
  {
    name: 'more columns than there may be',
    text: `SELECT ${Array.from({ length: SELECT_COLUMNS_MAX + 1 }, (_, index) => `1 AS c${index}`).join()}`,
    code: 'query_limit',
    tells: `more than ${SELECT_COLUMNS_MAX} columns`,
  },
  {
    name: 'a text of two gigabytes',
    text: `SELECT LENGTH(LPAD('a', 2000000000)) AS n`,
    code: 'query_limit',
    tells: `at most ${MADE_TEXT_LENGTH_MAX} characters; got 2000000000`,
  },
  {
    name: 'a text repeated in a text repeated',
    text: `SELECT LENGTH(REPEAT(REPEAT('a', 1048576), 1048576)) AS n`,
    code: 'query_limit',
    tells: `at most ${MADE_TEXT_LENGTH_MAX} characters; got 1099511627776`,
  },
  {
    name: 'a replacement that grows',
    text: `SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 1000000), 'a', REPEAT('b', 1000000))) AS n`,
    code: 'query_limit',
    tells: `at most ${MADE_TEXT_LENGTH_MAX} characters`,
  },
  {
    name: 'a text that is joined to itself in each of many queries',
    text: `SELECT COUNT(*) AS n FROM (${doubled(45, "SELECT 'x' AS a")}) WHERE a = 'x'`,
    code: 'query_limit',
    tells: `at most ${MADE_TEXT_LENGTH_MAX} characters`,
  },
  {
    name: 'an array of a million millions',
    text: 'SELECT ARRAY_LENGTH(GENERATE_ARRAY(1, 1000000000000)) AS n',
    code: 'query_limit',
    tells: `at most ${GENERATED_ARRAY_MAX} elements; got 1000000000000`,
  },
  {
    name: 'a group for each row',
    text: `SELECT a, COUNT(*) AS n FROM ${rows(1_000_000)} AS a, ${rows(2)} AS b GROUP BY a, b`,
    code: 'query_limit',
    tells: `at most ${GROUPS_MAX} groups`,
  },
  {
    name: 'a window over too many rows',
    text: `SELECT MAX(n) AS n FROM (SELECT ROW_NUMBER() OVER (ORDER BY a) AS n FROM ${rows(1_000_000)} AS a, ${rows(3)} AS b)`,
    code: 'query_limit',
    tells: `at most ${MATERIALIZED_ROWS_MAX} rows`,
  },
  {
    name: 'all values in one list',
    text: `SELECT ARRAY_LENGTH(ARRAY_AGG(a)) AS n FROM ${rows(1_000_000)} AS a, ${rows(3)} AS b`,
    code: 'query_limit',
    tells: String(COLLECTED_VALUES_MAX),
  },
  {
    name: 'all texts in one text',
    text: `SELECT LENGTH(STRING_AGG(REPEAT('a', 1000000))) AS n FROM ${rows(100_000)} AS a`,
    code: 'query_limit',
    tells: 'may',
  },
  {
    name: 'an answer of gigabytes',
    text: `SELECT REPEAT('a', 1000000) AS a FROM ${rows(1000)} AS b`,
    code: 'answer_too_large',
    tells: `at most ${ANSWER_BYTES_MAX} bytes`,
  },
  {
    name: 'texts that all rows hold at once',
    text: `SELECT MAX(a) AS a FROM (SELECT REPEAT(CONCAT('a', CAST(b AS STRING)), 100000) AS a FROM ${rows(100_000)} AS b ORDER BY a DESC)`,
    code: 'query_limit',
    tells: 'MiB of rows, texts and groups at a time',
  },
];

/** Each would go on for hours, in a thread that must not be ended for it. */
export const ENDLESS: readonly (readonly [name: string, text: string])[] = [
  ['a cross join', `SELECT COUNT(*) AS n FROM ${rows(1_000_000)} AS a, ${rows(1_000_000)} AS b`],
  [
    'ten lists, each of a thousand',
    `SELECT COUNT(*) AS n FROM ${Array.from({ length: 10 }, (_, index) => `${rows(1000)} AS a${index}`).join()}`,
  ],
  [
    'a long text for each row',
    `SELECT MAX(LENGTH(REPEAT(CAST(a AS STRING), 100000))) AS n FROM ${rows(1_000_000)} AS a`,
  ],
  [
    'a comparison of long texts for each row',
    `SELECT MAX(EDIT_DISTANCE(REPEAT('ab', 2000), REPEAT(CAST(a AS STRING), 1000))) AS n FROM ${rows(1_000_000)} AS a`,
  ],
  [
    'a pattern over a long text for each row',
    `SELECT COUNTIF(REGEXP_CONTAINS(CONCAT(REPEAT('ab', 20000), CAST(a AS STRING)), '(a|b|ab)*(a?){50}c')) AS n FROM ${rows(1_000_000)} AS a`,
  ],
  [
    'all rows again for each row',
    `SELECT COUNT(*) AS n FROM ${rows(100_000)} AS a WHERE (SELECT COUNT(*) FROM ${rows(100_000)} AS b WHERE b > a) > 5`,
  ],
  [
    'a list that grows by each row',
    `SELECT MAX(ARRAY_LENGTH(x)) AS n FROM (SELECT ARRAY_AGG(a) OVER (ORDER BY a ROWS BETWEEN 500 PRECEDING AND CURRENT ROW) AS x FROM ${rows(1_000_000)} AS a, ${rows(2)} AS b)`,
  ],
  [
    'a sort of texts joined in each of many queries',
    `SELECT a FROM (${doubled(45, `SELECT '' AS a FROM ${rows(1_000_000)} AS b, ${rows(1_000_000)} AS c`)}) ORDER BY a LIMIT 1`,
  ],
  [
    'groups of texts joined in each of many queries',
    `SELECT a, COUNT(*) AS n FROM (${doubled(45, `SELECT '' AS a FROM ${rows(1_000_000)} AS b, ${rows(1_000_000)} AS c`)}) GROUP BY a HAVING a = ''`,
  ],
];
