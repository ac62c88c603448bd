import { must } from '../../engine/assert.ts';
import { NOW_US } from '../workload/clock.ts';
import type { Bind, Dialect } from './peer-sql.ts';
import { UNIT_US } from './window.ts';

type Context = {
  readonly dialect: Dialect;
  readonly bind: Bind;
  readonly project: string | undefined;
};

/** The definitions of `bench/peers/definitions` as other engines are asked them, by their names. */
export const DEFINITIONS: ReadonlyMap<string, (context: Context) => string> = new Map([
  [
    'auth-errors',
    ({ bind, project }: Context) => `SELECT ${bucket('hour')}, login_method, count(*),
        count(*) FILTER (WHERE status >= 400)
      FROM auth WHERE project = ${bind(must(project, OF_ONE))} AND timestamp >= ${bind(daysAgo(1))}
      GROUP BY bucket, login_method ORDER BY bucket, login_method`,
  ],
  [
    'auth-users',
    ({ bind }: Context) => `SELECT ${bucket('day')}, count(DISTINCT actor_id)
      FROM auth WHERE timestamp >= ${bind(daysAgo(7))} GROUP BY bucket ORDER BY bucket`,
  ],
  [
    'storage-slow-paths',
    ({ dialect, bind, project }: Context) => `SELECT path, count(*) AS requests,
        ${dialect.float('avg(responseTime)')} AS mean, max(responseTime) AS slowest
      FROM storage WHERE project = ${bind(must(project, OF_ONE))} AND timestamp >= ${bind(daysAgo(7))}
      GROUP BY path ORDER BY slowest DESC, path LIMIT 20`,
  ],
  [
    'storage-bytes',
    ({ dialect, bind }: Context) => `SELECT ${bucket('day')}, bucket_name,
        ${dialect.float('sum(size)')}, count(*)
      FROM storage WHERE timestamp >= ${bind(daysAgo(7))}
      GROUP BY bucket, bucket_name ORDER BY bucket, bucket_name`,
  ],
  [
    'function-regions',
    ({ dialect, bind }: Context) => `SELECT region, count(*),
        ${dialect.percentile99('execution_time_ms')}
      FROM invocations WHERE timestamp >= ${bind(daysAgo(1))} GROUP BY region ORDER BY region`,
  ],
  [
    'edge-top-tables',
    ({ bind, project }: Context) => `SELECT path, count(*) AS requests
      FROM edge WHERE project = ${bind(must(project, OF_ONE))} AND timestamp >= ${bind(daysAgo(7))}
        AND path LIKE '/rest/v1/%'
      GROUP BY path ORDER BY requests DESC, path LIMIT 20`,
  ],
  [
    'edge-error-ratio',
    ({ dialect, bind }: Context) => `SELECT ${bucket('minute')}, count(*),
        count(*) FILTER (WHERE status_code >= 500),
        ${dialect.float('avg(CASE WHEN status_code >= 500 THEN 1.0 ELSE 0.0 END)')}
      FROM edge WHERE timestamp >= ${bind(NOW_US - UNIT_US.hour)}
      GROUP BY bucket ORDER BY bucket`,
  ],
  [
    'pooler-logins',
    ({ dialect, bind }: Context) => `SELECT ${bucket('hour')}, pool,
        count(*) FILTER (WHERE action = 'login'), max(wait_us), ${dialect.float('avg(wait_us)')}
      FROM pooler WHERE timestamp >= ${bind(daysAgo(1))}
      GROUP BY bucket, pool ORDER BY bucket, pool`,
  ],
  [
    'postgres-errors',
    ({ bind, project }: Context) => `SELECT ${bucket('hour')}, error_severity, count(*),
        count(DISTINCT sql_state_code)
      FROM postgres WHERE project = ${bind(must(project, OF_ONE))} AND timestamp >= ${bind(daysAgo(7))}
      GROUP BY bucket, error_severity ORDER BY bucket, error_severity`,
  ],
  [
    'edge-status-classes',
    ({ dialect, bind }: Context) => `SELECT method, status_code - status_code % 100 AS class,
        count(*), ${dialect.float('avg(origin_time)')}
      FROM edge WHERE timestamp >= ${bind(daysAgo(7))}
      GROUP BY method, class ORDER BY method, class`,
  ],
]);

const OF_ONE = 'the definition is of one project';

function bucket(unit: keyof typeof UNIT_US): string {
  return `timestamp - timestamp % ${UNIT_US[unit]} AS bucket`;
}

function daysAgo(days: number): number {
  return NOW_US - days * UNIT_US.day;
}
