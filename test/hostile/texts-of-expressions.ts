import { FROM, type HostileText, list, nested } from './text-shapes.ts';

/** Large expressions. */
export const EXPRESSIONS: readonly HostileText[] = [
  {
    name: 'branches of a CASE',
    withCount: (count) =>
      `SELECT CASE ${list(count, (at) => `WHEN id='${at}' THEN ${at}`, ' ')} END AS a ${FROM}`,
  },
  {
    name: 'branches of a CASE with a value',
    withCount: (count) =>
      `SELECT CASE id ${list(count, (at) => `WHEN '${at}' THEN ${at}`, ' ')} END AS a ${FROM}`,
  },
  {
    name: 'branches of a CASE over another CASE',
    withCount: (count) =>
      `SELECT CASE x ${list(count, (at) => `WHEN ${at} THEN 1`, ' ')} END AS a FROM (SELECT CASE ${list(count, (at) => `WHEN id='${at}' THEN ${at}`, ' ')} END AS x ${FROM})`,
  },
  {
    name: 'branches of a CASE over one word of metadata',
    withCount: (count) =>
      `SELECT CASE level ${list(count, (at) => `WHEN '${at}' THEN ${at}`, ' ')} END AS a FROM details`,
  },
  {
    name: 'branches of different types',
    withCount: (count) =>
      `SELECT CASE ${list(count, (at) => `WHEN id='a' THEN ${at % 2 === 0 ? at : `${at}.5`}`, ' ')} END AS a ${FROM}`,
  },
  {
    name: 'CASE in the ELSE of CASE',
    withCount: (count) =>
      `SELECT ${nested(count, "CASE WHEN id='a' THEN 1 ELSE ", '2', ' END')} AS a ${FROM}`,
  },
  {
    name: 'IF in IF',
    withCount: (count) => `SELECT ${nested(count, "IF(id='a',1,", '2', ')')} AS a ${FROM}`,
  },
  {
    name: 'numbers of an IN list',
    withCount: (count) => `SELECT id ${FROM} WHERE LENGTH(id) IN (${list(count, () => '1')})`,
  },
  {
    name: 'texts of an IN list',
    withCount: (count) => `SELECT id ${FROM} WHERE id IN (${list(count, (at) => `'${at}'`)})`,
  },
  {
    name: 'texts of an IN list over a word of metadata',
    withCount: (count) =>
      `SELECT id FROM details WHERE level IN (${list(count, (at) => `'${at}'`)})`,
  },
  {
    name: 'an IN list in each branch of a CASE',
    withCount: (count) =>
      `SELECT CASE ${list(Math.ceil(Math.sqrt(count)), (at) => `WHEN id IN (${list(Math.ceil(Math.sqrt(count)), (item) => `'${item}'`)}) THEN ${at}`, ' ')} END AS a ${FROM}`,
  },
  {
    name: 'columns of an IN list',
    withCount: (count) => `SELECT id ${FROM} WHERE 'a' IN (${list(count, () => 'id')})`,
  },
  {
    name: 'structs of an IN list',
    withCount: (count) => `SELECT id ${FROM} WHERE (id,1) IN (${list(count, () => "('a',1)")})`,
  },
  {
    name: 'IN over the elements of an array',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE id IN UNNEST([${list(count, (at) => `'${at}'`)}])`,
  },
  {
    name: 'elements of an array',
    withCount: (count) => `SELECT ARRAY_LENGTH([${list(count, () => '1')}]) AS a ${FROM}`,
  },
  {
    name: 'elements of two types in an array',
    withCount: (count) =>
      `SELECT ARRAY_LENGTH([${list(count, (at) => (at % 2 ? '1.5' : '1'))}]) AS a`,
  },
  {
    name: 'columns in an array',
    withCount: (count) => `SELECT ARRAY_LENGTH([${list(count, () => 'id')}]) AS a ${FROM}`,
  },
  {
    name: 'structs in an array',
    withCount: (count) =>
      `SELECT COUNT(*) AS a FROM UNNEST([${list(count, () => 'STRUCT(1 AS a)')}])`,
  },
  {
    name: 'structs with many fields in an array',
    withCount: (count) =>
      `SELECT COUNT(*) AS a FROM UNNEST([${list(Math.ceil(Math.sqrt(count)), () => `(${list(Math.ceil(Math.sqrt(count)), () => '1')})`)}])`,
  },
  {
    name: 'fields of a struct',
    withCount: (count) => `SELECT STRUCT(${list(count, (at) => `${at} AS f${at}`)}) AS a ${FROM}`,
  },
  {
    name: 'fields of a struct, each read',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `s.f${at}`, '+')} AS a FROM (SELECT STRUCT(${list(count, (at) => `LENGTH(id) AS f${at}`)}) AS s ${FROM})`,
  },
  {
    name: 'structs within one another',
    withCount: (count) => `SELECT ${nested(count, 'STRUCT(', '1', ')')} AS a ${FROM}`,
  },
  {
    name: 'struct types within one another in a CAST',
    withCount: (count) => `SELECT CAST(NULL AS ${nested(count, 'STRUCT<', 'INT64', '>')}) AS a`,
  },
  {
    name: 'parentheses',
    withCount: (count) => `SELECT ${nested(count, '(', '1', ')')} AS a ${FROM}`,
  },
  {
    name: 'links of an OR',
    withCount: (count) => `SELECT id ${FROM} WHERE ${list(count, (at) => `id='${at}'`, ' OR ')}`,
  },
  {
    name: 'links of an AND',
    withCount: (count) => `SELECT id ${FROM} WHERE ${list(count, (at) => `id!='${at}'`, ' AND ')}`,
  },
  {
    name: 'chains of an AND in many pairs of parentheses',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(Math.ceil(count / 50), () => `(${list(50, (at) => `id!='${at}'`, ' AND ')})`, ' AND ')}`,
  },
  {
    name: 'chains of an OR in many pairs of parentheses',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(Math.ceil(count / 50), () => `(${list(50, (at) => `id='${at}'`, ' OR ')})`, ' AND ')}`,
  },
  {
    name: 'links of a sum',
    withCount: (count) => `SELECT ${list(count, () => 'LENGTH(id)', '+')} AS a ${FROM}`,
  },
  {
    name: 'sums in many pairs of parentheses',
    withCount: (count) =>
      `SELECT ${list(Math.ceil(count / 50), () => `(${list(50, () => 'LENGTH(id)', '+')})`, '+')} AS a ${FROM}`,
  },
  {
    name: 'links of a concatenation',
    withCount: (count) => `SELECT ${list(count, () => 'id', '||')} AS a ${FROM}`,
  },
  {
    name: 'arguments of CONCAT',
    withCount: (count) => `SELECT CONCAT(${list(count, () => 'id')}) AS a ${FROM}`,
  },
  {
    name: 'arguments of COALESCE',
    withCount: (count) => `SELECT COALESCE(${list(count, () => 'id')}) AS a ${FROM}`,
  },
  {
    name: 'arguments of GREATEST',
    withCount: (count) => `SELECT GREATEST(${list(count, () => 'id')}) AS a ${FROM}`,
  },
  {
    name: 'arguments of FORMAT',
    withCount: (count) =>
      `SELECT FORMAT('${'%s'.repeat(count)}', ${list(count, () => 'id')}) AS a ${FROM}`,
  },
  {
    name: 'minus signs',
    withCount: (count) => `SELECT ${'- '.repeat(count)}1 AS a ${FROM}`,
  },
  {
    name: 'NOT of NOT',
    withCount: (count) => `SELECT ${'NOT '.repeat(count)}true AS a ${FROM}`,
  },
  {
    name: 'functions within one another',
    withCount: (count) => `SELECT ${nested(count, 'LOWER(', 'id', ')')} AS a ${FROM}`,
  },
  {
    name: 'fields of fields',
    withCount: (count) => `SELECT metadata[0]${'.a'.repeat(count)} AS a ${FROM}`,
  },
  {
    name: 'fields of metadata',
    withCount: (count) =>
      `SELECT id FROM entries AS e, UNNEST(e.metadata) AS m WHERE ${list(count, (at) => `m.f${at}`, ' OR ')}`,
  },
  {
    name: 'fields of metadata in one list',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, (at) => `m.f${at}`)}) AS a FROM entries AS e, UNNEST(e.metadata) AS m`,
  },
  {
    name: 'subscripts of an array',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `metadata[SAFE_OFFSET(${at})].a IS NULL`, ' OR ')} AS a ${FROM}`,
  },
  {
    name: 'BETWEEN',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(count, () => "id BETWEEN 'a' AND 'b'", ' OR ')}`,
  },
  {
    name: 'INTERVAL',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(count, (at) => `timestamp>TIMESTAMP_SUB(CURRENT_TIMESTAMP(),INTERVAL ${at} DAY)`, ' OR ')}`,
  },
  {
    name: 'bounds of time',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(count, (at) => `timestamp>TIMESTAMP_MICROS(${at})`, ' AND ')}`,
  },
  {
    name: 'bounds of time in many pairs of parentheses',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(Math.ceil(count / 50), (outer) => `(${list(50, (at) => `timestamp>TIMESTAMP_MICROS(${outer * 50 + at})`, ' AND ')})`, ' AND ')}`,
  },
  {
    name: 'CAST of a text',
    withCount: (count) => `SELECT ${list(count, (at) => `CAST('${at}' AS INT64)`, '+')} AS a`,
  },
  {
    name: 'texts of time zones',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `TIMESTAMP '2026-01-01 00:00:${10 + (at % 50)} Europe/Berlin'`)} AS a`
        .replaceAll(/TIMESTAMP '([^']*)'/g, "TIMESTAMP '$1' IS NULL")
        .replaceAll(',T', ' OR T'),
  },
];
