-- id: 6513270e-269e-4d37-b2a7-4de452e6b438
-- name: bench.auth-errors
-- description: How often users of one project signed in by each method in each hour of a day, and how often that failed
-- param: project string required

SELECT
  TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour,
  m.login_method,
  COUNT(*) AS count,
  COUNTIF(m.status >= 400) AS error_count
FROM `gotrue.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
GROUP BY hour, m.login_method
ORDER BY hour, m.login_method
