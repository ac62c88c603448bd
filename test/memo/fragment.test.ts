import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { fragmentOfText } from './fragment-of.ts';

function keyOf(sql: string): string {
  return must(fragmentOfText(sql)).key;
}

const FROM = 'FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m';
const BASE = `SELECT m.s AS s, COUNT(*) AS n ${FROM} WHERE t.project = 'p' GROUP BY s`;

test('fragments of different texts share a key when their states are the same', () => {
  for (const same of [
    `SELECT e.s AS other, COUNT(*) AS total FROM logs AS l CROSS JOIN UNNEST(l.metadata) AS e WHERE l.project = 'p' GROUP BY other`,
    `SELECT n, s FROM (${BASE}) WHERE n > 7 ORDER BY n DESC LIMIT 3`,
    BASE.replace('GROUP', "AND t.timestamp >= TIMESTAMP '2026-01-01' GROUP"),
  ]) {
    assert.equal(keyOf(same), keyOf(BASE), same);
  }
});

test('fragments have other keys when anything in them may give another state', () => {
  const others = [
    BASE.replace("'p'", "'q'"),
    BASE.replace("'p'", "'p '"),
    BASE.replace(" WHERE t.project = 'p'", ''),
    BASE.replace('m.s AS s', 'm.S AS s'),
    BASE.replace('m.s AS s', 'm.r AS s'),
    BASE.replace('COUNT(*)', 'COUNT(m.s)'),
    BASE.replace('COUNT(*)', 'COUNT(DISTINCT m.s)'),
    BASE.replace('COUNT(*)', 'SUM(m.s + 1)'),
    BASE.replace('COUNT(*)', 'SUM(m.s + 1.0)'),
    BASE.replace('COUNT(*)', 'SUM(m.s + -0.0)'),
    BASE.replace('COUNT(*)', 'SUM(m.s + 0.0)'),
    BASE.replace('COUNT(*)', 'APPROX_QUANTILES(m.s, 4)'),
    BASE.replace('COUNT(*)', 'APPROX_QUANTILES(m.s, 5)'),
    BASE.replace('CROSS', 'LEFT'),
    BASE.replace('GROUP', "AND m.s = 'a' GROUP"),
    BASE.replace('GROUP', "AND m.s LIKE '%a%' GROUP"),
    BASE.replace('GROUP', "AND m.s LIKE '%b%' GROUP"),
    BASE.replace('GROUP', 'AND (m.a > m.b OR m.c IS NULL) GROUP'),
    BASE.replace('GROUP', 'AND (m.b > m.a OR m.c IS NULL) GROUP'),
    BASE.replace('GROUP', 'AND m.a IN (SELECT 1 UNION ALL SELECT 2) GROUP'),
    BASE.replace('GROUP', 'AND m.a IN (SELECT 1 UNION ALL SELECT 3) GROUP'),
  ];
  const keys = [BASE, ...others].map(keyOf);
  assert.deepEqual(
    keys.filter((key, index) => keys.indexOf(key) !== index),
    [],
  );
});

test('there is no fragment of what cannot be cut at a grouping over one scan', () => {
  for (const sql of [
    `SELECT m.s ${FROM}`,
    `SELECT m.s, COUNT(*) ${FROM} CROSS JOIN logs AS u GROUP BY 1`,
    `SELECT COUNT(*) FROM (SELECT m.s ${FROM} ORDER BY t.timestamp DESC LIMIT 5)`,
  ]) {
    assert.equal(fragmentOfText(sql), undefined, sql);
  }
});

test('a time in a key of the grouping is found below what computes it', () => {
  const key = (expression: string) =>
    fragmentOfText(`SELECT m.s, ${expression} AS b, COUNT(*) ${FROM} GROUP BY 1, b`)?.timeKey
      ?.index;
  assert.equal(key('TIMESTAMP_TRUNC(t.timestamp, HOUR)'), 1);
  assert.equal(key('DATE(t.timestamp)'), 1);
  assert.equal(key('t.timestamp'), 1);
  assert.equal(key("TIMESTAMP_TRUNC(t.timestamp, HOUR, 'Europe/Berlin')"), undefined);
  assert.equal(key('EXTRACT(HOUR FROM t.timestamp)'), undefined);
  assert.equal(key('TIMESTAMP_TRUNC(TIMESTAMP_MICROS(CAST(m.n AS INT64)), HOUR)'), undefined);
});
