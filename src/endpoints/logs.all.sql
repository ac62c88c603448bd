-- id: 2034724d-89c8-43a9-aabc-52f7404f4bdd
-- name: logs.all
-- description: Recent log entries of one project, within the retention of its tier and an optional window of time
-- max_rows: 1000
-- cache: disabled
-- sandbox: disabled
-- sandbox[supabase]: enabled
-- param: project string required
-- param[supabase]: project string default=default from=ref
-- param: project_tier string
-- param[supabase]: project_tier string default=ENTERPRISE
-- param: iso_timestamp_start timestamp
-- param: iso_timestamp_end timestamp

-- Nine logs, each with its newest entries first. An entry stands once for each element of its
-- metadata; those of the database stand once, with or without metadata. Only edge_logs is selected.
-- identifier, which senders may give at the top level, is there for callers with SQL of their own.
WITH
edge_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

postgres_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `postgres.logs` AS t
  WHERE t.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

function_edge_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `deno-relay-logs` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project_ref = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

function_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `deno-subhosting-events` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project_ref = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

auth_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `gotrue.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

realtime_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `realtime.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

storage_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `storage.logs.prod.2` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

postgrest_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `postgREST.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
),

pgbouncer_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.identifier
  FROM `pgbouncer.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.project = @project
    AND t.timestamp > CASE @project_tier
      WHEN 'FREE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
      WHEN 'PRO' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
      WHEN 'PAYG' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      WHEN 'ENTERPRISE' THEN TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 90 DAY)
      ELSE TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 DAY)
    END
    AND (@iso_timestamp_start IS NULL OR t.timestamp > @iso_timestamp_start)
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  ORDER BY t.timestamp DESC
)

SELECT id, timestamp, event_message, metadata
FROM edge_logs
LIMIT 100
