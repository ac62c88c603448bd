-- id: 6b0d549b-6f03-475a-9600-a35a099950d8
-- name: bench.function-regions
-- description: Invocations of functions in each region within a day, of all projects, and how long the slowest took

SELECT
  m.region,
  COUNT(*) AS count,
  APPROX_QUANTILES(m.execution_time_ms, 100)[OFFSET(99)] AS p99
FROM `deno-relay-logs` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
GROUP BY m.region
ORDER BY m.region
