import { FROM, type HostileText, layers, list } from './text-shapes.ts';

/** Many columns, and layers of them. */
export const COLUMNS: readonly HostileText[] = [
  {
    name: 'columns',
    withCount: (count) => `SELECT ${list(count, (at) => `${at} AS c${at}`)} ${FROM}`,
  },
  {
    name: 'columns of one expression',
    withCount: (count) => `SELECT ${list(count, (at) => `id AS c${at}`)} ${FROM}`,
  },
  {
    name: 'columns of expressions with a condition over each',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (SELECT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM}) WHERE ${list(count, (at) => `c${at}='a'`, ' AND ')}`,
  },
  {
    name: 'columns through layers of subqueries',
    withCount: (count) => {
      const names = list(Math.ceil(count / 40), (at) => `c${at}`);
      return layers(
        20,
        () => `SELECT ${names}`,
        `SELECT ${list(Math.ceil(count / 40), (at) => `id AS c${at}`)} ${FROM}`,
      );
    },
  },
  {
    name: 'columns through stars',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (${layers(90, () => 'SELECT *', `SELECT ${list(count, (at) => `id AS c${at}`)} ${FROM}`)})`,
  },
  {
    name: 'layers of subqueries',
    withCount: (count) => layers(count, () => 'SELECT id', `SELECT id ${FROM}`),
  },
  {
    name: 'layers of subqueries that double a text',
    withCount: (count) => layers(count, () => 'SELECT id||id AS id', `SELECT id ${FROM}`),
  },
  {
    name: 'layers of conditions',
    withCount: (count) =>
      `${layers(count, () => 'SELECT id', `SELECT id ${FROM}`)}`.replaceAll(
        ') FROM',
        ") WHERE id!='a' FROM",
      ),
  },
  {
    name: 'stars beside one another',
    withCount: (count) => `SELECT COUNT(*) AS n FROM (SELECT ${list(count, () => '*')} ${FROM})`,
  },
  {
    name: 'stars of joined tables',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (SELECT * FROM ${list(count, (at) => `entries AS e${at}`)})`,
  },
  {
    name: 'names of EXCEPT',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (SELECT * EXCEPT(${list(count, (at) => `c${at}`)}) FROM (SELECT 1 AS x,${list(count, (at) => `1 AS c${at}`)}))`,
  },
  {
    name: 'names of REPLACE',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (SELECT * REPLACE(${list(count, (at) => `2 AS c${at}`)}) FROM (SELECT 1 AS x,${list(count, (at) => `1 AS c${at}`)}))`,
  },
  {
    name: 'columns of one name in the answer',
    withCount: (count) => `SELECT ${list(count, () => 'id AS a')} ${FROM}`,
  },
  {
    name: 'columns of one name within',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (SELECT ${list(count, () => 'id AS a')} ${FROM})`,
  },
];

/** Groupings, orders and windows with much in them. */
export const GROUPINGS: readonly HostileText[] = [
  {
    name: 'keys of GROUP BY',
    withCount: (count) =>
      `SELECT COUNT(*) AS n ${FROM} GROUP BY ${list(count, (at) => `id||'${at}'`)}`,
  },
  {
    name: 'keys of GROUP BY by position',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM} GROUP BY ${list(count, (at) => `${at + 1}`)}`,
  },
  {
    name: 'keys of GROUP BY by alias',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM} GROUP BY ${list(count, (at) => `c${at}`)}`,
  },
  {
    name: 'keys of GROUP BY that the columns repeat',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM} GROUP BY ${list(count, (at) => `id||'${at}'`)}`,
  },
  {
    name: 'keys of GROUP BY with a HAVING over each',
    withCount: (count) =>
      `SELECT COUNT(*) AS n ${FROM} GROUP BY ${list(count, (at) => `id||'${at}'`)} HAVING ${list(count, (at) => `id||'${at}'='a'`, ' AND ')}`,
  },
  {
    name: 'one long key of GROUP BY, used often',
    withCount: (count) => {
      const key = list(Math.ceil(Math.sqrt(count)), (at) => `id||'${at}'`);
      return `SELECT ${list(Math.ceil(Math.sqrt(count)), (at) => `CONCAT(${key}) AS c${at}`)} ${FROM} GROUP BY CONCAT(${key})`;
    },
  },
  {
    name: 'a long alias as the key, used often',
    withCount: (count) =>
      `SELECT CONCAT(${list(count, () => 'id')}) AS k, ${list(count, (at) => `1 AS c${at}`)} ${FROM} GROUP BY k${list(20, () => ', k', '')}`,
  },
  {
    name: 'columns of ROLLUP',
    withCount: (count) =>
      `SELECT COUNT(*) AS n ${FROM} GROUP BY ROLLUP(${list(count, (at) => `id||'${at}'`)})`,
  },
  {
    name: 'aggregates',
    withCount: (count) => `SELECT ${list(count, (at) => `COUNTIF(id='${at}') AS c${at}`)} ${FROM}`,
  },
  {
    name: 'the same aggregate',
    withCount: (count) => `SELECT ${list(count, (at) => `COUNT(id) AS c${at}`)} ${FROM}`,
  },
  {
    name: 'the same aggregate in one sum',
    withCount: (count) => `SELECT ${list(count, () => 'COUNT(id)', '+')} AS n ${FROM}`,
  },
  {
    name: 'aggregates in a list',
    withCount: (count) =>
      `SELECT GREATEST(${list(count, (at) => `COUNTIF(id='${at}')`)}) AS n ${FROM}`,
  },
  {
    name: 'quantiles, one element each',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `APPROX_QUANTILES(LENGTH(id),100)[OFFSET(${at % 101})] AS c${at}`)} ${FROM}`,
  },
  {
    name: 'quantiles of one list, in one sum',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `q[OFFSET(${at % 101})]`, '+')} AS n FROM (SELECT APPROX_QUANTILES(LENGTH(id),100) AS q ${FROM})`,
  },
  {
    name: 'quantiles of one list, in one function',
    withCount: (count) =>
      `SELECT GREATEST(${list(count, (at) => `q[OFFSET(${at % 101})]`)}) AS n FROM (SELECT APPROX_QUANTILES(LENGTH(id),100) AS q ${FROM})`,
  },
  {
    name: 'conditions of HAVING',
    withCount: (count) =>
      `SELECT id ${FROM} GROUP BY id HAVING ${list(count, (at) => `COUNT(*)!=${at}`, ' AND ')}`,
  },
  {
    name: 'keys of ORDER BY',
    withCount: (count) => `SELECT id ${FROM} ORDER BY ${list(count, (at) => `id||'${at}'`)}`,
  },
  {
    name: 'keys of ORDER BY by alias',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM} ORDER BY ${list(count, (at) => `c${at}`)}`,
  },
  {
    name: 'one long alias as all keys of ORDER BY',
    withCount: (count) =>
      `SELECT CONCAT(${list(count, () => 'id')}) AS k ${FROM} ORDER BY ${list(count, () => 'k')}`,
  },
  {
    name: 'keys of ORDER BY in an aggregate',
    withCount: (count) =>
      `SELECT ARRAY_AGG(id ORDER BY ${list(count, (at) => `id||'${at}'`)}) AS a ${FROM}`,
  },
  {
    name: 'DISTINCT columns',
    withCount: (count) => `SELECT DISTINCT ${list(count, (at) => `id||'${at}' AS c${at}`)} ${FROM}`,
  },
  {
    name: 'windows',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `COUNT(*) OVER (PARTITION BY id||'${at}') AS c${at}`)} ${FROM}`,
  },
  {
    name: 'windows over one partition',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `COUNT(*) OVER (PARTITION BY id) AS c${at}`)} ${FROM}`,
  },
  {
    name: 'windows in one function',
    withCount: (count) =>
      `SELECT GREATEST(${list(count, (at) => `LAG(${at}) OVER (ORDER BY id)`)}) AS n ${FROM}`,
  },
  {
    name: 'named windows',
    withCount: (count) =>
      `SELECT COUNT(*) OVER w${count - 1} AS n ${FROM} WINDOW w0 AS (ORDER BY id)${list(count - 1, (at) => `, w${at + 1} AS (w${at})`, '')}`,
  },
  {
    name: 'keys of a window',
    withCount: (count) =>
      `SELECT COUNT(*) OVER (PARTITION BY ${list(count, (at) => `id||'${at}'`)}) AS n ${FROM}`,
  },
  {
    name: 'conditions of QUALIFY',
    withCount: (count) =>
      `SELECT id ${FROM} QUALIFY ${list(count, (at) => `COUNT(*) OVER (PARTITION BY id)!=${at}`, ' AND ')}`,
  },
];
