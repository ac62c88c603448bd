-- id: 5d0d1c62-7c2f-4c43-9a34-3f8a5f1c9a01
-- name: bench.float-quantiles
-- description: How many measurements one project has made, and their high percentiles
-- param: project string required

SELECT
  COUNT(*) AS count,
  APPROX_QUANTILES(m.value, 100)[OFFSET(95)] AS p95,
  APPROX_QUANTILES(m.value, 100)[OFFSET(99)] AS p99
FROM `bench.floats` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.project = @project
