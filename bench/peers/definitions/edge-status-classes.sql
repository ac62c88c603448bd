-- id: 0cb1e29c-658c-4a14-95e6-0af593bd04cf
-- name: bench.edge-status-classes
-- description: Requests of a week by method and class of status, of all projects, and how long their origins took

SELECT
  q.method,
  DIV(r.status_code, 100) * 100 AS class,
  COUNT(*) AS count,
  AVG(r.origin_time) AS origin_time_avg
FROM `cloudflare.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.request) AS q
CROSS JOIN UNNEST(m.response) AS r
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
GROUP BY q.method, class
ORDER BY q.method, class
