-- id: d23f0824-128b-4f33-8c5c-7fd0a6a3a450
-- name: bench.auth-users
-- description: How many users were seen on each day of a week, of all projects

SELECT
  TIMESTAMP_TRUNC(t.timestamp, DAY) AS day,
  COUNT(DISTINCT m.actor_id) AS users
FROM `gotrue.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
GROUP BY day
ORDER BY day
