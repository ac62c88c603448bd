-- id: 9531985d-5d9d-49f8-9818-e811892f902b
-- name: bench.storage-slow-paths
-- description: The files of one project that once took longest to read or write
-- param: project string required

SELECT
  m.path,
  COUNT(*) AS count,
  AVG(m.responseTime) AS mean,
  MAX(m.responseTime) AS slowest
FROM `storage.logs.prod.2` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE m.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
GROUP BY m.path
ORDER BY slowest DESC, m.path
LIMIT 20
