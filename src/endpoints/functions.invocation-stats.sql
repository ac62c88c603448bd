-- id: 342c1781-3a46-4941-b0d6-85b0a4923b9b
-- name: functions.invocation-stats
-- description: Invocations of the functions of one project over time: how many, how many failed, how long they took
-- max_rows: 1000
-- cache: 900s
-- warm: 300s
-- sandbox: disabled
-- sandbox[supabase]: enabled
-- alias[supabase]: functions.inv-stats
-- param: project string required
-- param[supabase]: project string default=default from=ref
-- param: function_id string
-- param: interval string

WITH
-- Every start of a bucket in the window, the first and the current one included.
buckets AS (
  SELECT bucket
  FROM UNNEST(
    CASE @interval
      WHEN '5min' THEN generate_timestamp_trunc_array(5, 'minute_second')
      WHEN '15min' THEN generate_timestamp_trunc_array(15, 'minute_minute')
      WHEN '1hr' THEN generate_timestamp_trunc_array(1, 'hour_minute')
      WHEN '7day' THEN generate_timestamp_trunc_array(7, 'day_day')
      ELSE generate_timestamp_trunc_array(1, 'day_hour')
    END
  ) AS bucket
),

-- One row for each element of metadata and of its response.
invocations AS (
  SELECT
    CASE @interval
      WHEN '5min' THEN TIMESTAMP_TRUNC(t.timestamp, SECOND)
      WHEN '15min' THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN '1hr' THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN '7day' THEN TIMESTAMP_TRUNC(t.timestamp, DAY)
      ELSE TIMESTAMP_TRUNC(t.timestamp, HOUR)
    END AS bucket,
    t.id,
    -- Arithmetic reads a field as a number: a text or a record in its place is NULL, here and so in
    -- all five statistics alike. Bare, MIN and MAX would take it as it was sent.
    m.execution_time_ms + 0 AS execution_time_ms,
    r.status_code
  FROM `deno-relay-logs` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.response) AS r
  WHERE m.project_ref = @project
    AND (COALESCE(@function_id, '') = '' OR m.function_id = @function_id)
    -- The first bucket of the list: what lies before it could not find its bucket anyway.
    AND t.timestamp >= CASE @interval
      WHEN '5min' THEN TIMESTAMP_TRUNC(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 5 MINUTE), SECOND)
      WHEN '15min' THEN TIMESTAMP_TRUNC(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 15 MINUTE), MINUTE)
      WHEN '1hr' THEN TIMESTAMP_TRUNC(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR), MINUTE)
      WHEN '7day' THEN TIMESTAMP_TRUNC(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY), DAY)
      ELSE TIMESTAMP_TRUNC(TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY), HOUR)
    END
),

-- The counts by class of status are there for whoever selects them; the answer below does not.
stats AS (
  SELECT
    b.bucket,
    COUNT(i.id) AS invocation_count,
    COUNTIF(i.status_code >= 400) AS error_count,
    COUNTIF(i.status_code >= 100 AND i.status_code < 200) AS status_1xx_count,
    COUNTIF(i.status_code >= 200 AND i.status_code < 300) AS status_2xx_count,
    COUNTIF(i.status_code >= 300 AND i.status_code < 400) AS status_3xx_count,
    COUNTIF(i.status_code >= 400 AND i.status_code < 500) AS status_4xx_count,
    COUNTIF(i.status_code >= 500 AND i.status_code < 600) AS status_5xx_count,
    MIN(i.execution_time_ms) AS execution_time_min,
    MAX(i.execution_time_ms) AS execution_time_max,
    AVG(i.execution_time_ms) AS execution_time_avg,
    -- 101 elements, the first the least and the last the greatest; NULL over no values.
    APPROX_QUANTILES(i.execution_time_ms, 100) AS execution_time_quantiles
  FROM buckets AS b
  INNER JOIN invocations AS i ON i.bucket = b.bucket
  GROUP BY b.bucket
)

SELECT
  bucket AS timestamp,
  execution_time_min AS min_execution_time,
  execution_time_max AS max_execution_time,
  execution_time_avg AS avg_execution_time,
  execution_time_quantiles[OFFSET(95)] AS p95_execution_time,
  execution_time_quantiles[OFFSET(99)] AS p99_execution_time,
  invocation_count AS count,
  error_count
FROM stats
ORDER BY timestamp
