-- id: 0fd630f1-f29d-4da9-953f-48f1a09f76b5
-- name: bench.postgres-errors
-- description: What the database of one project logged in each hour of a week, by severity
-- param: project string required

SELECT
  TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour,
  p.error_severity,
  COUNT(*) AS count,
  COUNT(DISTINCT p.sql_state_code) AS states
FROM `postgres.logs` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.parsed) AS p
WHERE t.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
GROUP BY hour, p.error_severity
ORDER BY hour, p.error_severity
