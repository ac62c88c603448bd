-- id: 36f675cc-81e7-4ef5-a8e2-5d940ed90475
-- name: bench.storage-bytes
-- description: Bytes of the files read and written in each bucket on each day of a week, of all projects

SELECT
  TIMESTAMP_TRUNC(t.timestamp, DAY) AS day,
  m.bucket,
  SUM(m.size) AS bytes,
  COUNT(*) AS count
FROM `storage.logs.prod.2` AS t
CROSS JOIN UNNEST(t.metadata) AS m
WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
GROUP BY day, m.bucket
ORDER BY day, m.bucket
