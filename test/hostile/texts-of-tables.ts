import { FOLDED_ELEMENTS_MAX } from '../../engine/limits.ts';
import { FROM, type HostileText, list, nested } from './text-shapes.ts';

/** Many tables, joined, united and named by others. */
export const TABLES: readonly HostileText[] = [
  {
    name: 'crossed tables',
    withCount: (count) => `SELECT 1 AS a FROM ${list(count, (at) => `entries AS e${at}`)}`,
  },
  {
    name: 'inner joins',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(count, (at) => `JOIN entries AS f${at} ON e0.id=f${at}.id`, ' ')}`,
  },
  {
    name: 'inner joins, each with the one before',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(count, (at) => `JOIN entries AS e${at + 1} ON e${at}.id=e${at + 1}.id`, ' ')}`,
  },
  {
    name: 'inner joins with long conditions',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(90, (at) => `JOIN entries AS f${at} ON e0.id=f${at}.id${list(Math.ceil(count / 90), (term) => ` AND f${at}.event_message!='${term}'`, '')}`, ' ')}`,
  },
  {
    name: 'equalities among all joined tables',
    withCount: (count) =>
      `SELECT e0.id AS a FROM ${list(90, (at) => `entries AS e${at}`)} WHERE ${list(count, (at) => `e${at % 90}.id=e${(at * 7 + 1) % 90}.id`, ' AND ')}`,
  },
  {
    name: 'equalities and bounds among joined tables',
    withCount: (count) =>
      `SELECT e0.id AS a FROM ${list(90, (at) => `entries AS e${at}`)} WHERE ${list(89, (at) => `e${at}.timestamp=e${at + 1}.timestamp`, ' AND ')} AND ${list(count, (at) => `e0.timestamp>TIMESTAMP_MICROS(${at})`, ' AND ')}`,
  },
  {
    name: 'left joins',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(count, (at) => `LEFT JOIN entries AS f${at} ON e0.id=f${at}.id`, ' ')}`,
  },
  {
    name: 'left joins with a condition over each',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(count, (at) => `LEFT JOIN entries AS f${at} ON e0.id=f${at}.id`, ' ')} WHERE ${list(count, (at) => `f${at}.id='a'`, ' AND ')}`,
  },
  {
    name: 'full joins',
    withCount: (count) =>
      `SELECT e0.id AS a FROM entries AS e0 ${list(count, (at) => `FULL JOIN entries AS f${at} ON e0.id=f${at}.id`, ' ')}`,
  },
  {
    name: 'joins by USING',
    withCount: (count) =>
      `SELECT id FROM entries AS e0 ${list(count, (at) => `JOIN entries AS f${at} USING(id)`, ' ')}`,
  },
  {
    name: 'joins by USING of many columns',
    withCount: (count) => {
      const table = `(SELECT ${list(count, (at) => `id AS c${at}`)} ${FROM})`;
      return `SELECT COUNT(*) AS n FROM ${table} JOIN ${table} USING(${list(count, (at) => `c${at}`)})`;
    },
  },
  {
    name: 'joins of wide tables',
    withCount: (count) => {
      const table = (index: number) =>
        `(SELECT ${list(Math.ceil(count / 90), (at) => `id AS c${at}`)} ${FROM}) AS t${index}`;
      return `SELECT COUNT(*) AS n FROM ${list(90, table)}`;
    },
  },
  {
    name: 'unnested lists',
    withCount: (count) =>
      `SELECT 1 AS a FROM entries AS e ${list(count, (at) => `, UNNEST(e.metadata) AS m${at}`, '')}`,
  },
  {
    name: 'unnested lists of one another',
    withCount: (count) =>
      `SELECT 1 AS a FROM entries AS m0 ${list(count, (at) => `, UNNEST(m${at}.metadata) AS m${at + 1}`, '')}`,
  },
  {
    name: 'unnested lists in many subqueries',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM (${list(count, () => 'SELECT 1 AS a FROM entries AS e, UNNEST(e.metadata) AS m', ' UNION ALL ')})`,
  },
  {
    name: 'selections of a UNION ALL',
    withCount: (count) => list(count, (at) => `SELECT ${at} AS a`, ' UNION ALL '),
  },
  {
    name: 'selections of a UNION ALL over a table',
    withCount: (count) => list(count, () => 'SELECT id FROM entries', ' UNION ALL '),
  },
  {
    name: 'selections of a UNION ALL below a long condition',
    isProduct: true,
    withCount: (count) =>
      `SELECT id FROM (${list(Math.ceil(count / 3), () => 'SELECT id FROM entries', ' UNION ALL ')}) WHERE ${list(Math.min(900, count), (at) => `id!='${at}'`, ' AND ')}`,
  },
  {
    name: 'selections of a UNION ALL with many columns',
    withCount: (count) =>
      list(
        Math.ceil(Math.sqrt(count)),
        () => `SELECT ${list(Math.ceil(Math.sqrt(count)), (at) => `id AS c${at}`)} ${FROM}`,
        ' UNION ALL ',
      ),
  },
  {
    name: 'selections of a UNION ALL in order',
    withCount: (count) =>
      `SELECT id FROM (${list(count, () => 'SELECT id FROM entries', ' UNION ALL ')}) ORDER BY id LIMIT 5`,
  },
  {
    name: 'selections of a UNION DISTINCT',
    withCount: (count) => list(count, () => 'SELECT id FROM entries', ' UNION DISTINCT '),
  },
  {
    name: 'selections of EXCEPT DISTINCT',
    withCount: (count) => list(count, () => 'SELECT id FROM entries', ' EXCEPT DISTINCT '),
  },
  {
    name: 'UNION ALL within UNION ALL',
    withCount: (count) =>
      nested(count, '(SELECT id FROM entries UNION ALL ', 'SELECT id FROM entries', ')'),
  },
  {
    name: 'UNION ALL over subqueries in FROM of UNION ALL',
    withCount: (count) =>
      nested(
        count,
        'SELECT id FROM entries UNION ALL SELECT id FROM (',
        'SELECT id FROM entries',
        ')',
      ),
  },
  {
    name: 'UNION ALL behind UNION ALL in a chain of CTEs',
    withCount: (count) =>
      `WITH c0 AS (SELECT id ${FROM})${list(count, (at) => `,c${at + 1} AS (SELECT id ${FROM} UNION ALL SELECT id FROM c${at})`, '')} SELECT id FROM c${count}`,
  },
  {
    name: 'CTEs in a chain',
    withCount: (count) =>
      `WITH c0 AS (SELECT id ${FROM})${list(count, (at) => `,c${at + 1} AS (SELECT id FROM c${at})`, '')} SELECT id FROM c${count}`,
  },
  {
    name: 'CTEs in a chain that is long and wide',
    withCount: (count) => {
      const wide = list(Math.ceil(count / 100), (at) => `c${at}`);
      return `WITH t0 AS (SELECT ${list(Math.ceil(count / 100), (at) => `id AS c${at}`)} ${FROM})${list(60, (at) => `,t${at + 1} AS (SELECT * FROM t${at})`, '')} SELECT ${wide} FROM t60`;
    },
  },
  {
    name: 'CTEs that name the one before twice',
    withCount: (count) =>
      `WITH c0 AS (SELECT id ${FROM})${list(count, (at) => `,c${at + 1} AS (SELECT x.id FROM c${at} AS x,c${at} AS y)`, '')} SELECT id FROM c${count}`,
  },
  {
    name: 'CTEs that unite the one before with itself',
    withCount: (count) =>
      `WITH c0 AS (SELECT id ${FROM})${list(count, (at) => `,c${at + 1} AS (SELECT id FROM c${at} UNION ALL SELECT id FROM c${at})`, '')} SELECT id FROM c${count}`,
  },
  {
    name: 'CTEs that nobody uses',
    withCount: (count) =>
      `WITH ${list(count, (at) => `c${at} AS (SELECT id ${FROM})`)} SELECT id FROM c0`,
  },
  {
    name: 'one wide CTE, used often',
    withCount: (count) =>
      `WITH c AS (SELECT ${list(count, (at) => `id AS c${at}`)} ${FROM}) SELECT COUNT(*) AS n FROM ${list(90, (at) => `c AS x${at}`)}`,
  },
  {
    name: 'one CTE with a long condition, used often',
    withCount: (count) =>
      `WITH c AS (SELECT id ${FROM} WHERE ${list(Math.min(count, 500), (at) => `id!='${at}'`, ' AND ')}) SELECT COUNT(*) AS n FROM (${list(count, () => 'SELECT id FROM c', ' UNION ALL ')})`,
  },
  {
    name: 'rows of UNNEST, joined',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM UNNEST([${list(count, (at) => `${at}`)}]) AS a JOIN UNNEST([${list(count, (at) => `${at}`)}]) AS b ON a=b`,
  },
  {
    name: 'rows of UNNEST, crossed',
    withCount: (count) =>
      `SELECT COUNT(*) AS n FROM ${list(count, (at) => `UNNEST([1,2]) AS a${at}`)}`,
  },
  {
    name: 'rows of UNNEST, joined with a table',
    withCount: (count) =>
      `SELECT e.id FROM entries AS e JOIN UNNEST([${list(count, (at) => `'${at}'`)}]) AS b ON e.id=b`,
  },
  {
    name: 'times of UNNEST, joined with a table',
    withCount: (count) =>
      `SELECT b FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP_MICROS(0),TIMESTAMP_MICROS(${Math.min(count, FOLDED_ELEMENTS_MAX - 1) * 60_000_000}),INTERVAL 1 MINUTE)) AS b LEFT JOIN entries AS e ON TIMESTAMP_TRUNC(e.timestamp,MINUTE)=b`,
  },
];

/** Subqueries in expressions. */
export const SUBQUERIES: readonly HostileText[] = [
  {
    name: 'subqueries as columns',
    withCount: (count) => `SELECT ${list(count, (at) => `(SELECT ${at}) AS c${at}`)} ${FROM}`,
  },
  {
    name: 'subqueries over a table as columns',
    withCount: (count) => `SELECT ${list(count, (at) => `(SELECT MAX(id) ${FROM}) AS c${at}`)}`,
  },
  {
    name: 'correlated subqueries as columns',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `(SELECT MAX(f.id) FROM entries AS f WHERE f.id=e.id) AS c${at}`)} FROM entries AS e`,
  },
  {
    name: 'correlated EXISTS',
    withCount: (count) =>
      `SELECT e.id FROM entries AS e WHERE ${list(count, () => 'EXISTS(SELECT 1 FROM entries AS f WHERE f.id=e.id)', ' AND ')}`,
  },
  {
    name: 'correlated EXISTS over lists',
    withCount: (count) =>
      `SELECT e.id FROM entries AS e WHERE ${list(count, (at) => `EXISTS(SELECT 1 FROM UNNEST(e.metadata) AS m WHERE m.a='${at}')`, ' OR ')}`,
  },
  {
    name: 'correlated EXISTS within one another',
    withCount: (count) =>
      `SELECT e.id FROM entries AS e WHERE ${nested(count, 'EXISTS(SELECT 1 FROM entries AS f WHERE f.id=e.id AND ', 'true', ')')}`,
  },
  {
    name: 'correlated EXISTS within one another, each over the one around',
    withCount: (count) => {
      let text = 'true';
      for (let level = count; level > 0; level--) {
        text = `EXISTS(SELECT 1 FROM entries AS e${level} WHERE e${level}.id=e${level - 1}.id AND e${level}.id=e0.id AND ${text})`;
      }
      return `SELECT e0.id FROM entries AS e0 WHERE ${text}`;
    },
  },
  {
    name: 'scalar subqueries within one another',
    withCount: (count) => `SELECT ${nested(count, '(SELECT ', '1', ')')} AS a ${FROM}`,
  },
  {
    name: 'IN of subqueries',
    withCount: (count) =>
      `SELECT id ${FROM} WHERE ${list(count, () => 'id IN (SELECT id FROM entries)', ' AND ')}`,
  },
  {
    name: 'NOT IN of subqueries in one list',
    withCount: (count) =>
      `SELECT COALESCE(${list(count, () => 'id NOT IN (SELECT id FROM entries)')}) AS a ${FROM}`,
  },
  {
    name: 'subqueries with wide captures',
    withCount: (count) =>
      `SELECT (SELECT MAX(f.id) FROM entries AS f WHERE f.id IN (${list(count, (at) => `w.c${at}`)})) AS a FROM (SELECT ${list(count, (at) => `id AS c${at}`)} ${FROM}) AS w`,
  },
  {
    name: 'ARRAY of subqueries',
    withCount: (count) =>
      `SELECT ${list(count, (at) => `ARRAY(SELECT m.a FROM UNNEST(e.metadata) AS m) AS c${at}`)} FROM entries AS e`,
  },
];
