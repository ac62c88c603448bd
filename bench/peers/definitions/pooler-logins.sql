-- id: a170b338-3926-4059-b28c-105d1fb17c23
-- name: bench.pooler-logins
-- description: Logins to each pool in each hour of a day, of all projects, and how long clients waited

SELECT
  TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour,
  m.pool,
  COUNTIF(m.action = 'login') AS logins,
  MAX(m.wait_us) AS wait_us_max,
  AVG(m.wait_us) AS wait_us_avg
FROM `pgbouncer.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
GROUP BY hour, m.pool
ORDER BY hour, m.pool
