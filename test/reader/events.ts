import type { JsonObject } from '../oracle/oracle.ts';

/** Events of one source, of which the first comment line of each tells what a text can find in it. */
type Events = Readonly<Record<string, readonly JsonObject[]>>;

/** On January 15th, 2026; `time` is hours, minutes and seconds. */
function at(time: string): string {
  return `2026-01-15T${time}Z`;
}

/** An edge request as the hosted platform sends it: lists of records, headers of both sides, a place. */
function hostedRequest(
  id: string,
  time: string,
  request: JsonObject,
  response: JsonObject,
): JsonObject {
  const { method, path } = request;
  return {
    id,
    timestamp: at(time),
    project: 'shop',
    identifier: 'shop-1',
    event_message: `${method} | ${response['status_code']} | ${path}`,
    metadata: [{ request: [request], response: [response] }],
  };
}

/** What a function said about itself, as the hosted platform sends it. */
function functionEntry(id: string, time: string, metadata: JsonObject): JsonObject {
  return {
    id,
    timestamp: at(time),
    event_message: `said ${id}`,
    metadata: { project_ref: 'shop', event_type: 'Log', ...metadata },
  };
}

/** An entry of the auth service: its message is the JSON of its fields, which metadata has too. */
function authEntry(id: string, time: string, fields: JsonObject): JsonObject {
  return {
    id,
    timestamp: at(time),
    project: 'shop',
    event_message: JSON.stringify(fields),
    metadata: fields,
  };
}

/** As a hosted platform's senders post them. */
const HOSTED: Events = {
  'cloudflare.logs.prod': [
    hostedRequest(
      'e1',
      '11:00:10',
      {
        method: 'GET',
        path: '/rest/v1/orders',
        search: '?select=id',
        headers: [{ x_real_ip: '10.0.0.1' }],
        cf: [{ country: 'DE' }],
      },
      {
        status_code: 200,
        origin_time: 120,
        headers: [{ cf_cache_status: 'HIT', cf_ray: 'ray-1' }],
      },
    ),
    hostedRequest(
      'e2',
      '11:00:40',
      { method: 'POST', path: '/rest/v1/orders', headers: [{}], cf: [{ country: 'DE' }] },
      { status_code: 500, origin_time: 80, headers: [{ cf_ray: 'ray-2' }] },
    ),
    hostedRequest(
      'e3',
      '11:01:05',
      {
        method: 'GET',
        path: '/storage/v1/object/a.png',
        search: '?t=1',
        headers: [{ x_real_ip: '10.0.0.3' }],
        cf: [{ country: 'FR' }],
      },
      {
        status_code: 404,
        origin_time: 40,
        headers: [{ cf_cache_status: 'MISS', cf_ray: 'ray-3' }],
      },
    ),
    hostedRequest(
      'e4',
      '10:59:00',
      { method: 'POST', path: '/auth/v1/token', search: '?grant_type=password', headers: [{}] },
      { status_code: 400, origin_time: 20, headers: [{ cf_ray: 'ray-4' }] },
    ),
  ],
  'postgres.logs': [
    {
      id: 'p1',
      timestamp: at('11:00:30'),
      project: 'shop',
      event_message: 'relation "orders" does not exist',
      metadata: [
        {
          parsed: [
            {
              error_severity: 'ERROR',
              sql_state_code: '42P01',
              detail: 'no such table',
              application_name: 'pg_cron',
              query: 'select 1 from orders',
            },
          ],
        },
      ],
    },
  ],
  'deno-relay-logs': [
    {
      id: 'f1',
      timestamp: at('11:10:00'),
      event_message: 'GET | 200 | /hello',
      metadata: {
        project_ref: 'shop',
        function_id: 'fn-a',
        execution_id: 'x-1',
        execution_time_ms: 9,
        request: { method: 'GET', pathname: '/hello', search: '?a=1', headers: { host: 'h' } },
        response: { status_code: 200, headers: { x_sb_edge_region: 'eu-central-1' } },
      },
    },
    {
      id: 'f2',
      timestamp: at('11:10:20'),
      event_message: 'POST | 503 | /bye',
      metadata: {
        project_ref: 'shop',
        function_id: 'fn-b',
        execution_id: 'x-2',
        execution_time_ms: 31,
        request: { method: 'POST', pathname: '/bye', headers: { host: 'h' } },
        response: { status_code: 503, headers: { x_sb_edge_region: 'us-east-1' } },
      },
    },
  ],
  'deno-subhosting-events': [
    functionEntry('l1', '11:10:01', { execution_id: 'x-1', level: 'info' }),
    functionEntry('l2', '11:10:02', { execution_id: 'x-1', level: 'error' }),
    functionEntry('l3', '11:10:03', { level: 'info' }),
  ],
  'gotrue.logs.prod': [
    authEntry('a1', '11:20:00', {
      path: '/token',
      level: 'info',
      status: 200,
      msg: 'request completed',
      grant_type: 'password',
      duration: 40_000_000,
      request_id: 'ray-1',
      metering: true,
      provider: 'email',
      login_method: 'password',
      auth_event: { action: 'login', actor_id: 'u-1' },
    }),
    authEntry('a2', '11:20:30', {
      path: '/token',
      level: 'error',
      status: 500,
      grant_type: 'password',
      duration: 60_000_000,
      error: 'no database',
      auth_event: { action: 'login', actor_id: 'u-1' },
    }),
    authEntry('a3', '10:20:00', {
      path: '/recover',
      level: 'info',
      status: '200',
      auth_event: { action: 'user_recovery_requested', actor_id: 'u-2' },
    }),
  ],
  'storage.logs.prod.2': [
    {
      id: 's1',
      timestamp: at('11:30:00'),
      event_message: "it's in [1] bucket",
      metadata: { project: 'shop', level: 'info', context: [{ pid: 1 }] },
    },
  ],
};

/** As Vector posts them in a stack on one's own machine: maps, and little of what is above. */
const VECTOR: Events = {
  'cloudflare.logs.prod': [
    {
      id: 'v1',
      timestamp: at('11:03:00'),
      project: 'shop',
      appname: 'gateway',
      event_message: '10.1.0.1 "GET /rest/v1/items HTTP/1.1" 200',
      metadata: {
        request: {
          headers: { cf_connecting_ip: '10.1.0.1' },
          method: 'GET',
          path: '/rest/v1/items',
          protocol: 'HTTP/1.1',
        },
        response: { status_code: 200 },
      },
    },
  ],
  'postgres.logs': [
    {
      id: 'p2',
      timestamp: at('11:00:50'),
      project: 'shop',
      appname: 'db',
      event_message: 'LOG:  cron job 3 starting',
      metadata: { host: 'db', parsed: { error_severity: 'LOG' } },
    },
    {
      id: 'p3',
      timestamp: at('11:01:50'),
      project: 'shop',
      appname: 'db',
      event_message: 'WARNING:  connection from host received',
      metadata: { host: 'db', parsed: { error_severity: 'WARNING' } },
    },
    { id: 'p4', timestamp: at('11:02:00'), project: 'shop', event_message: 'no metadata at all' },
  ],
  'deno-relay-logs': [
    {
      id: 'f3',
      timestamp: at('11:10:30'),
      appname: 'functions',
      event_message: 'serving the request',
      metadata: { project_ref: 'shop' },
    },
  ],
  'storage.logs.prod.2': [
    {
      id: 's2',
      timestamp: at('11:31:00'),
      appname: 'storage',
      event_message: 'GET | 404 | /object/a.png',
      metadata: { project: 'shop', context: [{ pid: 2 }] },
    },
  ],
};

/** One of each log, of a project that no text may see. */
const FOREIGN: Events = {
  'cloudflare.logs.prod': [{ ...VECTOR['cloudflare.logs.prod']![0], id: 'x', project: 'other' }],
  'postgres.logs': [{ ...VECTOR['postgres.logs']![0], id: 'x', project: 'other' }],
  'deno-relay-logs': [{ id: 'x', timestamp: at('11:10:00'), metadata: { project_ref: 'other' } }],
  'gotrue.logs.prod': [{ ...HOSTED['gotrue.logs.prod']![0], id: 'x', project: 'other' }],
  'storage.logs.prod.2': [{ id: 'x', timestamp: at('11:30:00'), metadata: { project: 'other' } }],
};

export const READER_EVENTS: readonly Events[] = [HOSTED, VECTOR, FOREIGN];
