import { must } from '../../engine/assert.ts';
import { explainQuery, type QueryExplanation, WIDTH_MAX } from '../../engine/plan/explanation.ts';
import { treeLines } from '../../engine/plan/plan-text.ts';
import { type PreparedQuery, prepareQuery } from '../../engine/plan/prepared-query.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { type Catalogue, loadCatalogue } from '../../src/definition/catalogue.ts';
import type { Endpoint } from '../../src/definition/endpoint.ts';
import { toSqlType } from '../../src/definition/parameter-value.ts';

/** The clock of all plans: noon, so that no bound is at its own start by chance but those cut to be. */
export const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;

export type Parameters = Readonly<Record<string, string>>;

/** One text and the calls whose plans its golden file holds. */
export type GoldenText = {
  readonly name: string;
  readonly query: PreparedQuery;
  readonly rowsMax: number;
  readonly calls: readonly Parameters[];
  readonly valuesOf: (parameters: Parameters) => ReturnType<Endpoint['parameters']['parse']>;
};

/** Each interval, tier, window and function that makes a plan of another form. */
const CALLS: Readonly<Record<string, readonly Parameters[]>> = {
  'logs.all': [
    { project: 'alpha' },
    ...['FREE', 'PRO', 'PAYG', 'ENTERPRISE', 'pro'].map((tier) => ({
      project: 'alpha',
      project_tier: tier,
    })),
    { project: 'alpha', project_tier: 'PRO', iso_timestamp_start: '2026-01-14T00:00:00Z' },
    { project: 'alpha', project_tier: 'PRO', iso_timestamp_end: '2026-01-15T11:00:00Z' },
    {
      project: 'alpha',
      project_tier: 'PRO',
      iso_timestamp_start: '2026-01-01T00:00:00Z',
      iso_timestamp_end: '2026-01-15T11:00:00Z',
    },
  ],
  'functions.invocation-stats': [
    { project: 'alpha' },
    ...['5min', '15min', '1hr', '1day', '7day', 'frob'].map((interval) => ({
      project: 'alpha',
      interval,
    })),
    { project: 'alpha', interval: '7day', function_id: 'f' },
    { project: 'alpha', interval: '7day', function_id: '' },
  ],
  'usage.api-counts': [
    ...['hourly', 'daily', 'minutely'].map((interval) => ({ project: 'alpha', interval })),
    { project: '^https://(alpha|beta)[.]', interval: 'daily' },
  ],
};

/** What the three texts have no use for, each in a text of its own. */
const REWRITES: Readonly<Record<string, string>> = {
  'a condition that never holds':
    "SELECT lower(id) AS id FROM `postgres.logs` WHERE timestamp > '2026-01-01' AND 1 = 2",
  'a join with a list of times that has a gap': `SELECT t.id
    FROM UNNEST([TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-03']) AS day
    JOIN \`postgres.logs\` AS t ON TIMESTAMP_TRUNC(t.timestamp, DAY) = day`,
  'a list that WHERE looks in':
    "SELECT t.id FROM UNNEST(['a', 'b']) AS name, `postgres.logs` AS t WHERE t.project = name",
  'a setting computed from one row of constants': `WITH settings AS (SELECT 5 AS days)
    SELECT t.id FROM settings AS s, \`postgres.logs\` AS t
    WHERE t.timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL s.days DAY)`,
  'a condition on both sides of a join': `SELECT a.id FROM \`postgres.logs\` AS a
    JOIN \`gotrue.logs.prod\` AS b ON a.id = b.id WHERE a.project = 'x' AND b.timestamp > '2026-01-01'`,
  'a bound that a subquery of constants gives': `SELECT id FROM \`postgres.logs\`
    WHERE timestamp > (SELECT MAX(bound) FROM UNNEST([TIMESTAMP '2026-01-01', '2026-01-02']) AS bound)`,
  'a list that another source gives': `SELECT id FROM \`postgres.logs\`
    WHERE id IN (SELECT event_message FROM \`gotrue.logs.prod\` WHERE timestamp > '2026-01-01')`,
  'whether another source has a row like it': `SELECT id FROM \`postgres.logs\` AS t
    WHERE EXISTS(
      SELECT 1 FROM \`gotrue.logs.prod\` AS u WHERE u.id = t.id AND u.project = 'x' ORDER BY u.timestamp
    ) AND t.project = 'x'`,
  'an element of one source that is a column of another': `SELECT t.id
    FROM \`postgres.logs\` AS t, \`gotrue.logs.prod\` AS u, UNNEST(t.metadata) AS m, UNNEST(m.parsed) AS p
    WHERE p.session = u.id`,
  'what an event says in one of its own lists': `SELECT
      t.id,
      (SELECT h.value FROM UNNEST(m.headers) AS h WHERE h.name = 'host' LIMIT 1) AS host,
      ARRAY(SELECT c.code FROM UNNEST(m.codes) AS c ORDER BY c.at DESC) AS codes,
      (SELECT COUNT(*) FROM UNNEST(m.codes)) AS code_count
    FROM \`postgres.logs\` AS t, UNNEST(t.metadata) AS m`,
};

/** What readers of logs send over the tables of logs.all, one of each kind. */
const CALLERS: Readonly<Record<string, string>> = {
  'a page of the newest': `SELECT e.id, e.timestamp, e.event_message, req.method, res.status_code
    FROM edge_logs AS e
    CROSS JOIN UNNEST(e.metadata) AS meta
    CROSS JOIN UNNEST(meta.request) AS req
    CROSS JOIN UNNEST(meta.response) AS res
    WHERE res.status_code >= 500
    ORDER BY timestamp DESC LIMIT 25`,
  'a page in the order of its table': `SELECT id, meta.level, event_message FROM auth_logs
    CROSS JOIN UNNEST(metadata) AS meta LIMIT 25`,
  'a page of a log whose project stands in its metadata':
    'SELECT id, event_message FROM storage_logs ORDER BY timestamp DESC LIMIT 25',
  'a chart by minute': `SELECT TIMESTAMP_TRUNC(p.timestamp, MINUTE) AS timestamp, COUNT(*) AS entries,
      COUNT(CASE WHEN info.error_severity = 'ERROR' THEN 1 END) AS errors
    FROM postgres_logs AS p
    CROSS JOIN UNNEST(metadata) AS meta CROSS JOIN UNNEST(meta.parsed) AS info
    WHERE p.timestamp > '2026-01-15T06:00:00Z'
    GROUP BY timestamp ORDER BY timestamp`,
  'a count': 'SELECT COUNT(*) AS count FROM function_logs',
  'one entry': "SELECT id, timestamp, metadata FROM realtime_logs WHERE id = 'x' LIMIT 1",
};

export async function goldenTexts(): Promise<readonly GoldenText[]> {
  const catalogue = await builtInCatalogue();
  const saved = Object.entries(CALLS).map(([name, calls]): GoldenText => {
    const { query, definition, parameters: schema } = must(catalogue.find(name));
    const textsOf = (parameters: Parameters) =>
      new Map(Object.entries(parameters).map(([key, text]) => [key, [text]]));
    const valuesOf = (parameters: Parameters) => schema.parse(textsOf(parameters));
    return { name, query, rowsMax: definition.rowsMax, calls, valuesOf };
  });
  const environment = { sources: BUILT_IN_SOURCES, parameters: [] };
  const others = Object.entries(REWRITES).map(
    ([name, text]): GoldenText => ({
      name,
      query: prepareQuery(text, environment),
      rowsMax: 1000,
      calls: [{}],
      valuesOf: () => new Map(),
    }),
  );
  const { query, definition } = must(catalogue.find('logs.all'));
  const parameters = definition.parameters.map(({ name, type }) => ({
    name,
    type: toSqlType(type),
  }));
  const within = { sources: BUILT_IN_SOURCES, parameters, within: [query.commonTables] };
  const call = { project: 'alpha', project_tier: 'PRO' };
  const callers = Object.entries(CALLERS).map(
    ([name, text]): GoldenText => ({
      ...must(saved.find((each) => each.name === 'logs.all')),
      name,
      query: prepareQuery(text, within),
      calls: [call],
    }),
  );
  return [...saved, ...others, ...callers];
}

function builtInCatalogue(): Promise<Catalogue> {
  const sources = BUILT_IN_SOURCES;
  return loadCatalogue({
    folder: undefined,
    engine: { prepare: (text, parameters) => prepareQuery(text, { sources, parameters }) },
  });
}

/** How a call would be run, not run. */
export function planOf(golden: GoldenText, call: Parameters): QueryExplanation {
  return explainQuery(golden.query, {
    parameters: golden.valuesOf(call),
    nowUs: NOW_US,
    rowsMax: golden.rowsMax,
    sources: BUILT_IN_SOURCES,
  });
}

export function treeText(tree: QueryExplanation['logical']): string {
  return treeLines(tree, { widthMax: WIDTH_MAX }).join('\n');
}

/** What stands in the golden file of a text: the bound plan once, the others for each call. */
export function goldenText(golden: GoldenText): string {
  const plans = golden.calls.map((call) => ({ call, plan: planOf(golden, call) }));
  const [first] = plans;
  const ofCalls = plans.map(({ call, plan }) => {
    const words = Object.entries(call).map(([name, text]) => ` ${name}=${text}`);
    return [
      `=== ${golden.name}${words.join('')}`,
      `--- optimised\n${treeText(plan.optimized)}`,
      `--- physical\n${treeText(plan.physical)}`,
    ].join('\n');
  });
  const bound = `=== ${golden.name}, as bound\n${treeText(must(first).plan.logical)}`;
  return `${[bound, ...ofCalls].join('\n\n')}\n`;
}
