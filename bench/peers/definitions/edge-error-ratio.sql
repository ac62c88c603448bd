-- id: 90c192cf-d3ac-44af-8f21-ddb66cad4a26
-- name: bench.edge-error-ratio
-- description: Requests in each minute of an hour, of all projects, and the share of those that failed

SELECT
  TIMESTAMP_TRUNC(t.timestamp, MINUTE) AS minute,
  COUNT(*) AS count,
  COUNTIF(r.status_code >= 500) AS error_count,
  AVG(IF(r.status_code >= 500, 1.0, 0.0)) AS error_ratio
FROM `cloudflare.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.response) AS r
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)
GROUP BY minute
ORDER BY minute
