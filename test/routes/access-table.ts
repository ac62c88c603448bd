import type { TokenPlaces } from '../../src/access/authenticate.ts';
import type { Scope } from '../../src/access/grant.ts';

/**
 * Who may do what, written down by hand: what the guard does is held against this, and not this made of
 * what the guard does.
 */
export type AccessRow = {
  /** Method and path, as the list of routes has them. */
  readonly route: string;
  /** Everyone; everyone, but nobody with a wrong token; any token; or one with this scope. */
  readonly needs: 'nothing' | 'no wrong token' | 'any token' | Scope;
  /** Where the token may stand. */
  readonly tokenIn: TokenPlaces;
  /** What is asked, and how whoever may is answered. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly type?: string;
  readonly status: number;
  /** Whether there is another row of the same meaning: this one has a name where that has an id. */
  readonly isByName?: boolean;
  /** Whether failures are told in the words of a protocol, whatever the profile. */
  readonly hasOwnWords?: boolean;
  /** The status of the answer to a wrong token, and to none; 401 by default. */
  readonly wrongTokenStatus?: number;
  readonly noTokenStatus?: number;
  /** The status of the answer to a token that is bound to other sources; 403 by default. */
  readonly otherSourceStatus?: number;
  /** The status of the answer to OPTIONS; 204 by default. */
  readonly optionsStatus?: 200;
  /** Whether there is nothing at the path for other methods. */
  readonly isElsewhereNothing?: boolean;
};

const LOGS_ALL = '2034724d-89c8-43a9-aabc-52f7404f4bdd';
const PARAMETERS = 'project=alpha&project_tier=PRO';

/** Paths by which an endpoint is called, of the route and as asked for. */
const CALLS: readonly (readonly [string, string])[] = [
  ['/api/endpoints/:idOrName', '/api/endpoints/logs.all'],
  ['/api/endpoints/query/:idOrName', `/api/endpoints/query/${LOGS_ALL}`],
  ['/api/endpoints/query/name/:name', '/api/endpoints/query/name/logs.all'],
  ['/endpoints/query/:idOrName', '/endpoints/query/logs.all'],
];

/** Below each path of the JSON door: a body of each format. */
const LOG_DOORS: readonly (readonly [string, string, string])[] = [
  ['/json', 'application/json', '{}'],
  ['/vector', 'application/json', '{}'],
  ['/typecasts', 'application/json', '{"batch":[]}'],
  ['/elixir/logger', 'application/json', '{"batch":[]}'],
  [
    '/cloud-event',
    'application/cloudevents+json',
    '{"specversion":"1.0","id":"1","source":"/a","type":"b"}',
  ],
  ['/cloudflare', 'text/plain', '{}\n'],
  ['/logplex', 'text/plain', '<13>1 - - - - - - a\n'],
  ['/syslog', 'text/plain', '<13>1 - - - - - - a\n'],
  ['/syslogs', 'text/plain', '<13>1 - - - - - - a\n'],
];

const BULK = '{"index":{}}\n{}\n';
const SOURCE = '?source_name=postgres.logs';

/** What clients of Elasticsearch ask, with the methods beside GET; nothing comes of it. */
const ELASTICSEARCH_ASKED: readonly (readonly [path: string, ...methods: string[]])[] = [
  ['/_cluster/health'],
  ['/_cat/health'],
  ['/_license'],
  ['/_xpack'],
  ['/_nodes'],
  ['/_nodes/:name'],
  ['/_nodes/:group/:name'],
  ['/_refresh', 'POST'],
  ['/:name/_refresh', 'POST'],
  ['/_index_template/:name', 'PUT', 'POST'],
  ['/_component_template/:name', 'PUT', 'POST'],
  ['/_template/:name', 'PUT', 'POST'],
  ['/_ilm/policy'],
  ['/_ilm/policy/:name', 'PUT'],
  ['/_data_stream/:name', 'PUT'],
  ['/_alias/:name'],
  ['/_ingest/pipeline/:name', 'PUT'],
];

function posting(path: string, body: string, type: string, of: Partial<AccessRow> = {}): AccessRow {
  return {
    route: `POST ${path}`,
    needs: 'ingest',
    tokenIn: 'password',
    path: `${path}${SOURCE}`,
    body,
    type,
    status: 200,
    ...of,
  };
}

function managing(route: string, path: string, of: Partial<AccessRow> = {}): AccessRow {
  return { route, needs: 'manage', tokenIn: 'headers', path, status: 200, ...of };
}

function bulks(base: string): readonly AccessRow[] {
  const rows = [
    ...['POST /_bulk', 'PUT /_bulk', 'POST /:index/_bulk', 'PUT /:index/_bulk'].map(
      (route) => [route, BULK, 'application/x-ndjson', 200] as const,
    ),
    ...[
      'POST /:index/_doc',
      ...['POST /:index/_doc/:id', 'PUT /:index/_doc/:id'],
      ...['POST /:index/_create/:id', 'PUT /:index/_create/:id'],
    ].map((route) => [route, '{}', 'application/json', 201] as const),
  ];
  return rows.map(([route, body, type, status]) => {
    const [method, path] = route.split(' ') as [string, string];
    return posting(`${base}${path}`, body, type, {
      route: `${method} ${base}${path}`,
      path: `${base}${path.replace(':index', 'postgres.logs').replace(':id', 'one')}`,
      status,
      hasOwnWords: true,
    });
  });
}

function elasticsearchAsked(base: string): readonly AccessRow[] {
  const of = { needs: 'any token', tokenIn: 'password' } as const;
  const index = managing(`HEAD ${base}/:index`, `${base}/logs-2026`, {
    ...of,
    isElsewhereNothing: true,
  });
  const rows = ELASTICSEARCH_ASKED.flatMap(([path, ...methods]) =>
    ['GET', ...methods].map((method) =>
      managing(`${method} ${base}${path}`, `${base}${path.replaceAll(/:\w+/g, 'any')}`, of),
    ),
  );
  return [index, ...rows];
}

/** What Splunk's senders post to, and what they ask before and after. */
function splunk(): readonly AccessRow[] {
  const base = '/services/collector';
  const own = { hasOwnWords: true, wrongTokenStatus: 403 } as const;
  const post = { ...own, optionsStatus: 200, otherSourceStatus: 400 } as const;
  return [
    ...['', '/event', '/event/1.0'].map((path) =>
      posting(`${base}${path}`, '{"event":"a"}', 'application/json', post),
    ),
    ...['/raw', '/raw/1.0'].map((path) => posting(`${base}${path}`, 'a', 'text/plain', post)),
    posting(`${base}/ack`, '{"acks":[1]}', 'application/json', {
      ...own,
      // It is about no source.
      otherSourceStatus: 200,
    }),
    ...['/health', '/health/1.0'].map((path) =>
      managing(`GET ${base}${path}`, `${base}${path}`, { needs: 'nothing' }),
    ),
  ];
}

/** What Datadog's senders post to, and what they ask before. */
function datadog(): readonly AccessRow[] {
  const own = { hasOwnWords: true, wrongTokenStatus: 403 } as const;
  return [
    posting('/api/v2/logs', '[]', 'application/json', { ...own, status: 202 }),
    posting('/v1/input', '[]', 'application/json', own),
    posting('/v1/input/:token', '[]', 'application/json', {
      ...own,
      // What is in the path is a wrong token, if there is no other.
      noTokenStatus: 403,
      path: '/v1/input/none-such',
    }),
    managing('GET /api/v1/validate', '/api/v1/validate', {
      ...own,
      needs: 'any token',
      tokenIn: 'password',
    }),
  ];
}

/** Every route by every method that it takes; a row for each meaning of a path that has two. */
export const ACCESS_TABLE: readonly AccessRow[] = [
  ...CALLS.flatMap(([path, asked]) =>
    ['GET', 'POST'].map(
      (method): AccessRow => ({
        route: `${method} ${path}`,
        needs: 'query',
        tokenIn: 'url',
        path: `${asked}?${PARAMETERS}`,
        status: 200,
      }),
    ),
  ),
  managing('GET /api/endpoints', '/api/endpoints'),
  managing('GET /api/endpoints/:idOrName', `/api/endpoints/${LOGS_ALL}`),
  ...[
    managing('POST /api/endpoints', '/api/endpoints', { body: '{}', status: 400 }),
    ...['PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      [LOGS_ALL, 'logs.all'].map((idOrName) =>
        managing(`${method} /api/endpoints/:idOrName`, `/api/endpoints/${idOrName}`, {
          // What is built in is not changed, whoever asks.
          ...{
            body: method === 'DELETE' ? undefined : '{"name":"a","query":"SELECT 1"}',
            status: 409,
          },
          isByName: idOrName !== LOGS_ALL,
        }),
      ),
    ),
  ].map((row) => ({ ...row, type: 'application/json' })),
  ...['', '.json', '.csv', '.ndjson'].map((ending) =>
    managing(`POST /api/query${ending}`, `/api/query${ending}`, {
      needs: 'explore',
      body: 'SELECT 1 AS one',
      type: 'application/sql',
    }),
  ),
  managing('POST /api/explore', '/api/explore', {
    needs: 'explore',
    body: '{"source":"cloudflare.logs.prod"}',
    type: 'application/json',
  }),
  managing('GET /api/sources/:idOrName/fields', '/api/sources/cloudflare.logs.prod/fields', {
    needs: 'explore',
  }),
  ...['GET', 'DELETE'].map((method) =>
    managing(`${method} /api/query/runs/:id`, '/api/query/runs/none-such', {
      needs: 'any token',
      status: 404,
    }),
  ),
  managing('POST /api/query/tickets', '/api/query/tickets', {
    needs: 'explore',
    body: '{"sql":"SELECT 1 AS one","format":"csv"}',
    type: 'application/json',
    status: 201,
  }),
  // The id of a ticket is all that a download needs.
  managing('GET /api/query/tickets/:id', '/api/query/tickets/none-such', {
    needs: 'nothing',
    status: 404,
  }),
  managing('GET /metrics', '/metrics'),
  managing('GET /api/posts', '/api/posts'),
  managing('GET /api/service', '/api/service'),
  managing('GET /api/token', '/api/token', { needs: 'any token' }),
  managing('GET /api/tokens', '/api/tokens'),
  managing('POST /api/tokens', '/api/tokens', {
    body: '{}',
    type: 'application/json',
    status: 400,
  }),
  managing('GET /api/tokens/:id', '/api/tokens/none', { status: 404 }),
  managing('PATCH /api/tokens/:id', '/api/tokens/none', {
    body: '{"events_per_day":1}',
    type: 'application/json',
    status: 404,
  }),
  managing('DELETE /api/tokens/:id', '/api/tokens/none', { status: 404 }),
  managing('GET /api/sources', '/api/sources', { needs: 'any token' }),
  managing('PUT /api/sources/:name', '/api/sources/postgres.logs', {
    body: '{}',
    type: 'application/json',
  }),
  {
    route: 'GET /api/sources/:idOrName/tail',
    needs: 'query',
    tokenIn: 'url',
    // Who may is told what is wrong, and not held by a stream.
    path: '/api/sources/postgres.logs/tail?last=none',
    status: 400,
  },
  managing('GET /api/openapi.json', '/api/openapi.json', { needs: 'no wrong token' }),
  managing('GET /health', '/health', { needs: 'nothing' }),
  managing('GET /ready', '/ready', { needs: 'nothing' }),
  managing('GET /', '/', { needs: 'nothing' }),
  managing('GET /console/:file', '/console/none.js', { needs: 'nothing', status: 404 }),
  managing('GET /elasticsearch', '/elasticsearch', { needs: 'nothing' }),
  ...['/api/logs', '/logs', '/api/events'].flatMap((base) => [
    posting(base, '{}', 'application/json', { tokenIn: 'url' }),
    ...LOG_DOORS.map(([path, type, body]) => posting(`${base}${path}`, body, type)),
    posting(`${base}/vercel`, '[]', 'application/json'),
    managing(`GET ${base}/vercel`, `${base}/vercel`, { needs: 'any token', tokenIn: 'password' }),
  ]),
  ...['/v1/logs', '/v1/traces', '/v1/metrics'].map((path) =>
    posting(path, '{}', 'application/json', { hasOwnWords: true }),
  ),
  posting('/loki/api/v1/push', '{"streams":[]}', 'application/json', { status: 204 }),
  posting('/firehose', '{"records":[]}', 'application/json', { hasOwnWords: true }),
  posting('/gelf', '{"short_message":"a"}', 'application/json', { status: 202 }),
  posting('/upload', 'MESSAGE=a\n', 'application/vnd.fdo.journal', {
    status: 202,
    hasOwnWords: true,
  }),
  ...bulks(''),
  ...bulks('/elasticsearch'),
  ...splunk(),
  ...elasticsearchAsked(''),
  ...elasticsearchAsked('/elasticsearch'),
  ...datadog(),
];
