import type { Random } from '../../src/demo/traffic/random.ts';
import { randomQuery } from '../random-sql/random-query.ts';
import { render } from '../random-sql/render.ts';
import type { Tenant } from './tenant-events.ts';

/** What a caller asks: an endpoint, its parameters, and perhaps a text of its own. */
export type TenantCall = {
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly sql?: string;
  /** Whether it may be asked for all projects, too: it takes no product of all rows. */
  readonly isLinear: boolean;
  /** Whether the text is no endpoint's, and selects from sources themselves. */
  readonly isExplored?: boolean;
};

const COLUMNS = 'id, timestamp, event_message, project, metadata';

/** Whole sources, without a word about projects. */
const WILD_TABLES = `WITH logs AS (SELECT ${COLUMNS} FROM \`logs\`),
edge AS (SELECT ${COLUMNS} FROM \`cloudflare.logs.prod\`),
relay AS (SELECT ${COLUMNS} FROM \`deno-relay-logs\`),
realtime AS (SELECT ${COLUMNS} FROM \`realtime.logs.prod\`),
everything AS (
  SELECT 'logs' AS source, id, timestamp, event_message, project, metadata FROM \`logs\`
  UNION ALL SELECT 'edge', id, timestamp, event_message, project, metadata FROM \`cloudflare.logs.prod\`
  UNION ALL SELECT 'relay', id, timestamp, event_message, project, metadata FROM \`deno-relay-logs\`
)
`;

/**
 * A definition whose tables are whole sources, without a word about projects, and over which a caller may ask
 * anything. `cache`: a line of the header.
 */
export function wildDefinition(name: string, id: string, cache: string): string {
  return `-- id: ${id}
-- name: ${name}
-- max_rows: 100000
-- sandbox: enabled
${cache}
${WILD_TABLES}SELECT id FROM everything
`;
}

/** In the place of OTHER stands a project that is not the caller's. */
const TEXTS: readonly string[] = [
  'SELECT id, timestamp, event_message, project, metadata FROM logs',
  'SELECT id, timestamp, event_message, project, metadata FROM edge ORDER BY timestamp DESC LIMIT 5',
  'SELECT source, id, event_message FROM everything ORDER BY timestamp DESC, id LIMIT 3',
  'SELECT id FROM everything LIMIT 1',
  'SELECT id FROM realtime ORDER BY timestamp LIMIT 2 OFFSET 1',
  'SELECT COUNT(*) AS n FROM logs',
  'SELECT COUNT(*) AS n, MIN(timestamp) AS first, MAX(timestamp) AS last FROM edge',
  'SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids, COUNT(metadata) AS records FROM relay',
  'SELECT project, COUNT(*) AS n FROM everything GROUP BY project',
  'SELECT project, COUNT(*) AS n FROM edge GROUP BY project HAVING n > 0 ORDER BY n DESC',
  "SELECT id FROM logs WHERE project = 'OTHER'",
  "SELECT id FROM logs WHERE project = 'OTHER' OR TRUE",
  "SELECT id FROM edge WHERE project != 'OTHER'",
  "SELECT id FROM edge WHERE project IN ('OTHER', 'a', 'A')",
  "SELECT id FROM edge WHERE project LIKE '%' AND event_message LIKE '%zqx%'",
  "SELECT id FROM everything WHERE REGEXP_CONTAINS(TO_JSON_STRING(metadata), 'zqx[0-9]+xqz')",
  "SELECT COUNT(*) AS n FROM relay, UNNEST(metadata) AS m WHERE m.project_ref = 'OTHER'",
  "SELECT id FROM relay, UNNEST(metadata) AS m WHERE m.project_ref != 'OTHER'",
  'SELECT id, m.mark FROM realtime, UNNEST(metadata) AS m',
  'SELECT id FROM realtime, UNNEST(metadata) AS m WHERE m.project IS NULL',
  'SELECT id FROM logs WHERE project IS NULL',
  'SELECT ARRAY_AGG(id) AS ids FROM logs',
  'SELECT STRING_AGG(event_message) AS texts FROM edge',
  'SELECT STRING_AGG(DISTINCT project ORDER BY project) AS projects FROM everything',
  'SELECT ANY_VALUE(id) AS id, MAX(id) AS last, MIN(event_message) AS first FROM everything',
  'SELECT APPROX_TOP_COUNT(project, 100) AS top FROM edge',
  'SELECT APPROX_COUNT_DISTINCT(id) AS n, APPROX_COUNT_DISTINCT(project) AS projects FROM edge',
  'SELECT APPROX_QUANTILES(m.execution_time_ms, 4) AS q FROM relay, UNNEST(metadata) AS m',
  'SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS hour, COUNT(*) AS n FROM edge GROUP BY hour ORDER BY hour',
  'SELECT DATE(timestamp) AS day, COUNT(*) AS n, SUM(1) AS s FROM logs GROUP BY day',
  "SELECT COUNT(*) AS n FROM edge WHERE timestamp >= TIMESTAMP '2026-01-15 00:00:00'",
  'SELECT m.deployment, SUM(m.execution_time_ms) AS ms FROM relay, UNNEST(metadata) AS m GROUP BY m.deployment',
  'SELECT DISTINCT project FROM everything',
  'SELECT COUNTIF(REGEXP_CONTAINS(m.request.url, "zqx")) AS n FROM edge, UNNEST(metadata) AS m',
  'SELECT COUNTIF(m.request.url LIKE "%rest%") AS n, COUNT(*) AS all_rows FROM edge, UNNEST(metadata) AS m',
  'SELECT (SELECT COUNT(*) FROM edge) AS n, (SELECT MAX(id) FROM logs) AS id',
  'SELECT id, (SELECT COUNT(*) FROM logs AS o WHERE o.timestamp = l.timestamp) AS n FROM logs AS l',
  'SELECT id FROM logs AS l WHERE EXISTS(SELECT 1 FROM logs AS o WHERE o.id != l.id)',
  'SELECT id FROM edge WHERE id NOT IN (SELECT id FROM logs)',
  'SELECT ARRAY(SELECT id FROM edge ORDER BY id) AS ids',
  'SELECT l.id, o.id AS other FROM logs AS l JOIN edge AS o ON l.project = o.project',
  'SELECT l.id, o.id AS other FROM logs AS l LEFT JOIN relay AS o ON l.project = o.project',
  'SELECT l.id, o.id AS other FROM realtime AS l FULL JOIN edge AS o ON l.project = o.project',
  'SELECT l.id, o.id AS other FROM realtime AS l CROSS JOIN edge AS o',
  'SELECT id FROM logs UNION ALL SELECT id FROM edge UNION ALL SELECT id FROM realtime',
  'SELECT project FROM logs UNION DISTINCT SELECT project FROM edge',
  'SELECT id FROM everything EXCEPT DISTINCT SELECT id FROM logs',
  'SELECT project FROM edge INTERSECT DISTINCT SELECT project FROM logs',
  'SELECT id, ROW_NUMBER() OVER (ORDER BY timestamp, id) AS n FROM logs',
  'SELECT id, COUNT(*) OVER () AS n, LAG(id) OVER (ORDER BY timestamp, id) AS before FROM edge',
  'SELECT id, SUM(1) OVER (PARTITION BY project ORDER BY timestamp, id) AS n FROM everything',
  'WITH a AS (SELECT id FROM logs), b AS (SELECT COUNT(*) AS n FROM a) SELECT n FROM b',
  'WITH logs AS (SELECT id, project FROM edge) SELECT project, COUNT(*) AS n FROM logs GROUP BY 1',
  'SELECT CAST(id AS INT64) AS n FROM logs',
  'SELECT CAST(event_message AS INT64) AS n FROM everything',
  'SELECT 1 / (LENGTH(project) - LENGTH(project)) AS n FROM edge',
  'SELECT ERROR(CONCAT("not for others: ", id)) AS e FROM edge ORDER BY timestamp DESC LIMIT 1',
  'SELECT IF(project = "OTHER", ERROR(id), "mine") AS e FROM everything',
  'SELECT COUNT(*) AS n FROM logs WHERE CAST(id AS INT64) > 0',
  'SELECT PARSE_TIMESTAMP("%Y", id) AS t FROM relay',
  'SELECT TO_JSON_STRING(metadata) AS text FROM realtime ORDER BY id',
  'SELECT SUM(FARM_FINGERPRINT(id)) AS print, BIT_XOR(FARM_FINGERPRINT(id)) AS bits FROM logs',
  'SELECT AVG(m.n) AS mean, STDDEV(m.n) AS deviation, CORR(m.n, m.f) AS c FROM logs, UNNEST(metadata) AS m',
];

/** Texts of this many random queries come again, from one tenant and from others. */
const RANDOM_TEXTS = 40;

/** Makes calls as a caller would who tries to see what others have. */
export class HostileCalls {
  readonly #random: Random;
  readonly #tenants: readonly Tenant[];
  readonly #texts: readonly string[];

  constructor(random: Random, tenants: readonly Tenant[]) {
    this.#random = random;
    this.#tenants = tenants;
    this.#texts = Array.from({ length: RANDOM_TEXTS }, () => render(randomQuery(random)));
  }

  next(own: Tenant): TenantCall {
    const random = this.#random;
    const kind = random.below(10);
    if (kind < 3) return this.#builtIn(own);
    const called = { endpoint: random.pick(['wild.kept', 'wild.run']), parameters: {} };
    if (random.below(3) === 0) return { ...called, ...this.#explored() };
    if (kind < 7) {
      return { ...called, sql: this.#knownText(), isLinear: true };
    }
    const sql = kind < 9 ? random.pick(this.#texts) : render(randomQuery(random));
    return { ...called, sql, isLinear: false };
  }

  /** A text over sources themselves, or over the tables of a saved query. */
  #explored(): Pick<TenantCall, 'sql' | 'isLinear' | 'isExplored'> {
    const random = this.#random;
    const own = `${WILD_TABLES}SELECT * FROM (${this.#knownText()})`;
    const sql = random.pick([
      own,
      own,
      'SELECT COUNT(*) AS n FROM wild.run',
      'SELECT id FROM wild.kept',
    ]);
    return { sql, isLinear: true, isExplored: true };
  }

  #knownText(): string {
    const other = this.#other().key.replaceAll("'", "\\'");
    return this.#random.pick(TEXTS).replaceAll('OTHER', other);
  }

  #builtIn(own: Tenant): TenantCall {
    const random = this.#random;
    const project = random.pick([own.key, this.#other().key, '.*', 'zqx', '']);
    const named = project === '' ? 'nobody' : project;
    return random.pick<() => TenantCall>([
      () => ({
        endpoint: 'logs.all',
        parameters: { project: named, project_tier: random.pick(['FREE', 'ENTERPRISE']) },
        isLinear: true,
      }),
      () => ({
        endpoint: 'functions.invocation-stats',
        parameters: { project: named, interval: random.pick(['1hr', '1day', '7day']) },
        isLinear: true,
      }),
      () => ({
        endpoint: 'usage.api-counts',
        parameters: { project: named, interval: random.pick(['hourly', 'daily']) },
        isLinear: true,
      }),
    ])();
  }

  #other(): Tenant {
    return this.#random.pick(this.#tenants);
  }
}
