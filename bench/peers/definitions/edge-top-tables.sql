-- id: 8d116ece-1738-47d9-bd9c-172411e20b8f
-- name: bench.edge-top-tables
-- description: The tables and functions of one project that are asked for most
-- param: project string required

SELECT
  r.path,
  COUNT(*) AS count
FROM `cloudflare.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.request) AS r
WHERE t.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
  AND STARTS_WITH(r.path, '/rest/v1/')
GROUP BY r.path
ORDER BY count DESC, r.path
LIMIT 20
