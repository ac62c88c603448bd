-- id: e1bf113c-6557-48e9-8b89-7fabf9638840
-- name: usage.api-counts
-- description: API requests of one project over time, counted by product area
-- max_rows: 1000
-- cache: 900s
-- warm: 300s
-- sandbox: disabled
-- sandbox[supabase]: enabled
-- param: project string required
-- param[supabase]: project string default=default from=ref
-- param: interval string required enum(hourly, daily, minutely)
-- param[supabase]: interval string required enum(hourly, daily, minutely, 1hr, 1day, 7day)

WITH
-- One row for each element of metadata and of its request whose URL the expression matches. The
-- window's start is not truncated, so that the first bucket is a part of one. The last three intervals
-- can be given where the header allows them.
requests AS (
  SELECT
    CASE @interval
      WHEN 'hourly' THEN TIMESTAMP_TRUNC(t.timestamp, HOUR)
      WHEN 'daily' THEN TIMESTAMP_TRUNC(t.timestamp, DAY)
      WHEN 'minutely' THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN '1hr' THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN '1day' THEN TIMESTAMP_TRUNC(t.timestamp, HOUR)
      WHEN '7day' THEN TIMESTAMP_TRUNC(t.timestamp, DAY)
    END AS bucket,
    r.path
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS r
  WHERE REGEXP_CONTAINS(r.url, @project)
    AND t.timestamp >= CASE @interval
      WHEN 'hourly' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)
      WHEN 'daily' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'minutely' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 60 MINUTE)
      WHEN '1hr' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 60 MINUTE)
      WHEN '1day' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 24 HOUR)
      WHEN '7day' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    END
)

-- A path that holds several of the words counts for each of them.
SELECT
  CAST(bucket AS DATETIME) AS timestamp,
  COUNTIF(STRPOS(path, '/rest') > 0) AS total_rest_requests,
  COUNTIF(STRPOS(path, '/storage') > 0) AS total_storage_requests,
  COUNTIF(STRPOS(path, '/auth') > 0) AS total_auth_requests,
  COUNTIF(STRPOS(path, '/realtime') > 0) AS total_realtime_requests
FROM requests
GROUP BY bucket
ORDER BY bucket
