import { FROM, type HostileText, list } from './text-shapes.ts';

/** Long words, and errors behind much. */
export const TOKENS: readonly HostileText[] = [
  {
    name: 'a long text',
    withCount: (count) => `SELECT '${'x'.repeat(count)}' AS a ${FROM}`,
  },
  {
    name: 'a long text of escapes',
    withCount: (count) => `SELECT '${'\\n'.repeat(count)}' AS a ${FROM}`,
  },
  {
    name: 'a long text of quotes',
    withCount: (count) => `SELECT """${'"a'.repeat(count)}""" AS a`,
  },
  {
    name: 'a long text of line breaks',
    withCount: (count) => `SELECT '''${'\n'.repeat(count)}''' AS a, 1 AS b, 2 AS c`,
  },
  {
    name: 'long bytes',
    withCount: (count) => `SELECT b'${'\\xff'.repeat(count)}' AS a`,
  },
  {
    name: 'many short texts',
    withCount: (count) => `SELECT LENGTH(CONCAT(${list(count, () => "''")})) AS a`,
  },
  {
    name: 'a long number',
    withCount: (count) => `SELECT 1.${'1'.repeat(count)} AS a`,
  },
  {
    name: 'a long integer',
    withCount: (count) => `SELECT ${'1'.repeat(count)} AS a`,
  },
  {
    name: 'a long NUMERIC in a text',
    withCount: (count) =>
      `SELECT SAFE_CAST('${'1'.repeat(count)}' AS FLOAT64) AS a, SAFE_CAST('${'1'.repeat(count)}' AS INT64) AS b`,
  },
  {
    name: 'a long name',
    withCount: (count) => `SELECT 1 AS ${'a'.repeat(count)} ${FROM}`,
  },
  {
    name: 'a long unknown name',
    withCount: (count) => `SELECT ${'a'.repeat(count)} ${FROM}`,
  },
  {
    name: 'a long unknown function',
    withCount: (count) => `SELECT ${'a'.repeat(count)}(1) AS a ${FROM}`,
  },
  {
    name: 'a long unknown table',
    withCount: (count) => `SELECT 1 AS a FROM ${'a'.repeat(count)}`,
  },
  {
    name: 'an unknown name among many columns',
    withCount: (count) =>
      `SELECT wrongname AS a FROM (SELECT ${list(count, (at) => `1 AS wrongnames${at}`)})`,
  },
  {
    name: 'a long unknown name among long names',
    withCount: (count) =>
      `SELECT ${'ab'.repeat(count)} AS x FROM (SELECT 1 AS ${'ba'.repeat(count)})`,
  },
  {
    name: 'line comments',
    withCount: (count) => `SELECT id ${'--\n'.repeat(count)} ${FROM}`,
  },
  {
    name: 'block comments',
    withCount: (count) => `SELECT id ${'/**/'.repeat(count)} ${FROM}`,
  },
  {
    name: 'openings of a comment',
    withCount: (count) => `SELECT id ${FROM} ${'/*'.repeat(count)}`,
  },
  {
    name: 'blanks and line breaks',
    withCount: (count) => `SELECT id ${' \n'.repeat(count)} ${FROM}`,
  },
  {
    name: 'blanks of Unicode',
    withCount: (count) => `SELECT id ${'\u2003'.repeat(count)} ${FROM}`,
  },
  {
    name: 'an error behind many lines',
    withCount: (count) => `SELECT id ${'\n'.repeat(count)} FROM`,
  },
  {
    name: 'an error behind many columns',
    withCount: (count) => `SELECT ${list(count, () => 'id')} FROM FROM`,
  },
  {
    name: 'dots',
    withCount: (count) => `SELECT a${'.1'.repeat(count)} AS a ${FROM}`,
  },
  {
    name: 'uses of one parameter',
    withCount: (count) => `SELECT id ${FROM} WHERE id IN (${list(count, () => '@project')})`,
  },
  {
    name: 'unknown parameters',
    withCount: (count) => `SELECT ${list(count, (at) => `@p${at} AS c${at}`)}`,
  },
];

/** Functions that are computed, or compiled, while planning. */
export const FUNCTIONS: readonly HostileText[] = [
  {
    name: 'regular expressions, all different',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(count, (at) => `REGEXP_CONTAINS(id,'a${at}.*b|c')`, ' OR ')}`,
  },
  {
    name: 'regular expressions of many instructions',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `REGEXP_CONTAINS(id,'(((a{9}){9}){9}){9}${at}')`)}) AS a ${FROM}`,
  },
  {
    name: 'regular expressions with classes of Unicode',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `REGEXP_CONTAINS(id,'\\\\pL{9}\\\\pN+${at}')`)}) AS a ${FROM}`,
  },
  {
    name: 'regular expressions with ranges in any case',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `REGEXP_CONTAINS(id,'(?i)[\\\\x{100}-\\\\x{10ffff}]${at}')`)}) AS a ${FROM}`,
  },
  {
    name: 'regular expressions applied to constants',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `REGEXP_CONTAINS('aaaaaaaaaaaaaaaaaaaaaaaaaaaa','(a|aa)*b${at}')`)}) AS a`,
  },
  {
    name: 'patterns of LIKE',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `id LIKE '%a_${at}%b%'`)}) AS a ${FROM}`,
  },
  {
    name: 'one long pattern of LIKE',
    withCount: (count) =>
      `SELECT id LIKE '${'%a_'.repeat(count)}' AS a, '${'ab'.repeat(5000)}' LIKE '${'%a_'.repeat(count)}' AS b ${FROM}`,
  },
  {
    name: 'words of LIKE ANY',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE id LIKE ANY (${list(count, (at) => `'%${at}%'`)})`,
  },
  {
    name: 'JSON paths',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `JSON_VALUE(event_message,'$.a.b${at}')`)}) AS a ${FROM}`,
  },
  {
    name: 'one long JSON path',
    withCount: (count) => `SELECT JSON_VALUE(event_message,'$${'.a'.repeat(count)}') AS a ${FROM}`,
  },
  {
    name: 'one long JSON text',
    withCount: (count) => `SELECT JSON_VALUE('${'['.repeat(count)}${']'.repeat(count)}','$') AS a`,
  },
  {
    name: 'generated arrays',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `ARRAY_LENGTH(GENERATE_ARRAY(1,4000,1+${at}))`)}) AS a`,
  },
  {
    name: 'long texts made',
    withCount: (count) =>
      `SELECT GREATEST(${list(count, (at) => `LENGTH(REPEAT('a',10000+${at}))`)}) AS a`,
  },
  {
    name: 'replacements in a long text',
    withCount: (count) =>
      `SELECT LENGTH(REPLACE('${'a'.repeat(count)}','a',REPEAT('b',1000))) AS a`,
  },
  {
    name: 'a text split at nothing',
    withCount: (count) => `SELECT ARRAY_LENGTH(SPLIT('${'a'.repeat(count)}','')) AS a`,
  },
  {
    name: 'formats of time',
    withCount: (count) =>
      `SELECT FORMAT_TIMESTAMP('${'%F %T '.repeat(count)}',timestamp) AS a ${FROM}`,
  },
  {
    name: 'a text of time parsed by a long format',
    withCount: (count) =>
      `SELECT SAFE.PARSE_TIMESTAMP('${'%Y '.repeat(count)}','${'2026 '.repeat(count)}') AS a`,
  },
  {
    name: 'distances of two long texts',
    isProduct: true,
    withCount: (count) =>
      `SELECT EDIT_DISTANCE('${'ab'.repeat(count)}','${'ba'.repeat(count)}') AS a`,
  },
  {
    name: 'a text searched for in another',
    withCount: (count) =>
      `SELECT STRPOS('${'a'.repeat(count)}','${'a'.repeat(Math.floor(count / 2))}b') AS a, INSTR('${'a'.repeat(count)}','a',1,${count}) AS b`,
  },
];
