import type { JsonObject } from '../oracle/oracle.ts';
import { NOW } from '../scripts/script.ts';

/** One stack, and what its senders post: for each source its events, in the order they are posted. */
export type Stack = {
  readonly name: string;
  readonly project: string;
  readonly events: Readonly<Record<string, readonly JsonObject[]>>;
};

/** Entries of each log: more than one page of a hundred. */
const ENTRY_COUNT = 160;

const NOW_MS = Date.parse(NOW);

/** Texts with what has a meaning in patterns and in literals. */
const REMARKS = [
  "it's [1] of 50%",
  'a+b (c) "quoted" \\d',
  'über $1.00 | ^start',
  'first line\nsecond line',
  'LIKE _x%',
];

/** The element of a list that the entry of this index has; lists go round. */
function pick<T>(list: readonly T[], index: number): T {
  return list[index % list.length]!;
}

/**
 * When the entry of this index happened, in milliseconds: over two hours, not in the order of posting,
 * by threes at the same moment, and forty at once where the first page ends.
 */
function timeMs(index: number): number {
  const position = (index * 7) % ENTRY_COUNT;
  const newest = NOW_MS - 60_000 + 123;
  if (position < 90) return newest - Math.floor(position / 3) * 150_000;
  if (position < 130) return newest - 30 * 150_000;
  return newest - 31 * 150_000 - (position - 130) * 100_000;
}

/** As Vector writes times. */
function nanosecondText(index: number): string {
  return new Date(timeMs(index)).toISOString().replace('Z', '000000Z');
}

function remark(index: number): string {
  return `${pick(REMARKS, index)} #${index}`;
}

function entries(make: (index: number) => JsonObject): readonly JsonObject[] {
  return Array.from({ length: ENTRY_COUNT }, (_, index) => make(index));
}

const METHODS = ['GET', 'POST', 'GET', 'PATCH'];
const STATUSES = [200, 500, 201, 404, 200, 304, 401, 503, 200];
const PATHS = [
  '/rest/v1/orders',
  '/auth/v1/token',
  '/storage/v1/object/public/pictures/1.png',
  '/realtime/v1/websocket',
  '/functions/v1/hello',
  '/rest/v1/people',
  '/auth/v1/user',
];
const SEVERITIES = ['LOG', 'ERROR', 'LOG', 'WARNING', 'FATAL', 'NOTICE', 'PANIC'];
const ACTIONS = ['login', 'user_signedup', 'token_refreshed', 'user_recovery_requested', 'logout'];

/** What the auth service says of one request; its message is the JSON of it. */
function authFields(index: number): JsonObject {
  const status = pick([200, 400, 500, 422, 200], index);
  return {
    component: 'api',
    level: pick(['info', 'error', 'info', 'fatal', 'warning', 'info'], index),
    method: pick(METHODS, index),
    msg: remark(index),
    path: pick(['/token', '/signup', '/token', '/recover'], index),
    // Some versions write the status as a text.
    status: index % 11 === 0 ? String(status) : status,
    ...(status >= 400 ? { error: `${status}: no`, error_code: pick(['bad', 'late'], index) } : {}),
    duration: 1_000_000 * (1 + ((index * 13) % 90)),
    grant_type: pick(['password', 'refresh_token', 'pkce'], index),
    request_id: `ray-${index}`,
    ...(index % 4 === 3
      ? { action: 'login', user_id: `user-${index % 9}` }
      : { auth_event: { action: pick(ACTIONS, index), actor_id: `user-${index % 9}` } }),
    login_method: pick(['password', 'oauth'], index),
    metering: index % 3 === 0,
    provider: pick(['email', 'google', ''], index),
  };
}

/** The hosted platform: ids and times in milliseconds, records of many fields, some as lists of one. */
const HOSTED_PROJECT = 'abcdefghijklmnop';

function hosted(index: number, name: string, event: JsonObject): JsonObject {
  return { id: `${name}-${index}`, timestamp: timeMs(index), ...event };
}

function hostedEdge(index: number): JsonObject {
  const method = pick(METHODS, index);
  const path = pick(PATHS, index);
  const status = pick(STATUSES, index);
  const request = {
    cf: [{ country: pick(['DE', 'FR', 'JP'], index), asn: 64_500 + (index % 3) }],
    headers: [
      {
        content_length: String(index * 3),
        user_agent: pick(['node', 'curl/8', 'phone'], index),
        x_client_info: pick(['client-js/2.1.0', 'client-dart/1.0'], index),
        x_real_ip: `10.0.0.${index % 7}`,
      },
    ],
    method,
    path,
    sb: [{ auth_user: `user-${index % 9}`, jwt: [{ apikey: [{ payload: [{ role: 'anon' }] }] }] }],
    ...(index % 3 === 0 ? {} : { search: `?page=${index % 3}` }),
    url: `https://${HOSTED_PROJECT}.example.co${path}`,
  };
  const response = {
    headers: [
      {
        cf_cache_status: pick(['HIT', 'MISS', 'DYNAMIC', 'EXPIRED', 'HIT'], index),
        cf_ray: `ray-${index}`,
        content_length: index % 10 === 0 ? 'chunked' : String(100 + index),
        x_sb_error_code: pick([null, 'bad_jwt', null, 'over_limit'], index),
      },
    ],
    origin_time: 20 + ((index * 37) % 400),
    status_code: status,
  };
  return hosted(index, 'edge', {
    project: HOSTED_PROJECT,
    identifier: HOSTED_PROJECT,
    event_message: `${method} | ${status} | ${path} | ${remark(index)}`,
    metadata: [{ request: [request], response: [response] }],
  });
}

function hostedInvocation(index: number): JsonObject {
  const status = pick(STATUSES, index);
  return hosted(index, 'call', {
    event_message: `${pick(METHODS, index)} | ${status} | ${remark(index)}`,
    metadata: {
      project_ref: HOSTED_PROJECT,
      function_id: pick(['fn-hello', 'fn-mail'], index),
      execution_id: `run-${index % 50}`,
      execution_time_ms: 5 + ((index * 29) % 700),
      deployment_id: `deployment_${index % 4}`,
      version: String(index % 4),
      request: {
        headers: { host: 'functions.example.co', content_length: '0' },
        method: pick(METHODS, index),
        pathname: pick(['/hello', '/mail'], index),
        search: `?turn=${index % 2}`,
        url: `https://functions.example.co${pick(['/hello', '/mail'], index)}`,
      },
      response: {
        headers: { x_sb_edge_region: pick(['eu-central-1', 'us-east-1'], index) },
        status_code: status,
      },
    },
  });
}

function hostedFunctionEntry(index: number): JsonObject {
  return hosted(index, 'said', {
    event_message: remark(index),
    metadata: [
      {
        project_ref: HOSTED_PROJECT,
        function_id: pick(['fn-hello', 'fn-mail'], index),
        execution_id: `run-${index % 50}`,
        event_type: pick(['Log', 'Boot', 'Log', 'Shutdown'], index),
        level: pick(['info', 'error', 'warning', 'log'], index),
        region: 'eu-central-1',
        boot_time: index % 4 === 1 ? 20 + index : null,
        cpu_time_used: index % 4 === 3 ? 10 + (index % 50) : null,
        memory_used: index % 4 === 3 ? [{ heap: 1000 + index, external: index }] : null,
      },
    ],
  });
}

function hostedDatabaseEntry(index: number): JsonObject {
  const severity = pick(SEVERITIES, index);
  return hosted(index, 'db', {
    project: HOSTED_PROJECT,
    identifier: HOSTED_PROJECT,
    event_message: index % 9 === 0 ? `cron job ${index} starting` : remark(index),
    metadata: [
      {
        host: `db-${HOSTED_PROJECT}`,
        parsed: [
          {
            error_severity: severity,
            sql_state_code: severity === 'LOG' ? '00000' : '42P01',
            user_name: pick(['authenticator', 'postgres'], index),
            application_name: index % 5 === 0 ? 'pg_cron' : 'PostgREST',
            backend_type: 'client backend',
            // Beyond what a double holds exactly.
            query_id: -8_123_456_789_012_345_678n - BigInt(index),
            ...(severity === 'LOG' ? {} : { detail: `detail ${index}`, query: 'select 1' }),
            hint: index % 2 === 0 ? null : 'try again',
          },
        ],
      },
    ],
  });
}

const HOSTED: Stack = {
  name: 'the hosted platform',
  project: HOSTED_PROJECT,
  events: {
    'cloudflare.logs.prod': entries(hostedEdge),
    'postgres.logs': entries(hostedDatabaseEntry),
    'deno-relay-logs': entries(hostedInvocation),
    'deno-subhosting-events': entries(hostedFunctionEntry),
    'gotrue.logs.prod': entries((index) =>
      hosted(index, 'auth', {
        project: HOSTED_PROJECT,
        event_message: JSON.stringify(authFields(index)),
        metadata: [authFields(index)],
      }),
    ),
    'realtime.logs.prod': entries((index) =>
      hosted(index, 'realtime', {
        event_message: remark(index),
        metadata: {
          project: HOSTED_PROJECT,
          external_id: HOSTED_PROJECT,
          level: pick(['info', 'error', 'warning'], index),
          context: { module: 'Channel', line: index, mfa: ['Channel', 'join', '3'] },
          measurements: { connected: index % 20, limit: 200 },
        },
      }),
    ),
    'storage.logs.prod.2': entries((index) =>
      hosted(index, 'storage', {
        event_message: `${pick(METHODS, index)} | ${remark(index)}`,
        metadata: {
          project: HOSTED_PROJECT,
          tenantId: HOSTED_PROJECT,
          level: pick(['info', 'error', 'warn'], index),
          context: [{ host: 'ip-10-0-0-1', pid: index % 4 }],
          req: [{ method: pick(METHODS, index), url: `/object/${index % 6}` }],
          res: [{ statusCode: pick(STATUSES, index) }],
          responseTime: 1.5 * (index % 40),
        },
      }),
    ),
    'postgREST.logs.prod': entries((index) =>
      hosted(index, 'rest', {
        project: HOSTED_PROJECT,
        identifier: HOSTED_PROJECT,
        event_message: remark(index),
        metadata: [{ host: pick(['rest-1', 'rest-2'], index) }],
      }),
    ),
    'pgbouncer.logs.prod': entries((index) =>
      hosted(index, 'pool', {
        project: HOSTED_PROJECT,
        event_message: `C-0x${index.toString(16)}: ${remark(index)}`,
        metadata: [{ host: pick(['pool-1', 'pool-2'], index) }],
      }),
    ),
  },
};

/** A stack on one's own machine: no ids, times with nine digits, maps of few fields, some lines bare. */
const OWN_PROJECT = 'default';

function vector(index: number, appname: string, event: JsonObject): JsonObject {
  return { appname, ...event, timestamp: nanosecondText(index) };
}

function gatewayRequest(index: number): JsonObject {
  const method = pick(METHODS, index);
  const path = `${pick(PATHS, index)}${index % 3 === 0 ? '' : `?page=${index % 3}`}`;
  const status = pick(STATUSES, index);
  const request = {
    headers: {
      cf_connecting_ip: `10.1.0.${index % 7}`,
      referer: index % 2 === 0 ? null : 'http://localhost:3000/',
      user_agent: pick(['node', 'curl/8'], index),
    },
    method,
    path,
    protocol: 'HTTP/1.1',
  };
  // A line of the gateway's error log has no answer.
  const response = index % 20 === 19 ? {} : { response: { status_code: status } };
  return vector(index, 'gateway', {
    event_message: `10.1.0.9 - "${method} ${path} HTTP/1.1" ${status} ${remark(index)}`,
    metadata: { request, ...response },
    project: OWN_PROJECT,
  });
}

/** A line that is no JSON has no metadata. */
function ownAuthEntry(index: number): JsonObject {
  const fields = authFields(index);
  const isBare = index % 16 === 15;
  return vector(index, 'auth', {
    event_message: isBare ? remark(index) : JSON.stringify(fields),
    ...(isBare ? {} : { metadata: fields }),
    project: OWN_PROJECT,
  });
}

const SELF_HOSTED: Stack = {
  name: 'a self-hosted stack',
  project: OWN_PROJECT,
  events: {
    'cloudflare.logs.prod': entries(gatewayRequest),
    'postgres.logs': entries((index) =>
      vector(index, 'db', {
        event_message: index % 9 === 0 ? `LOG:  cron job ${index} starting` : remark(index),
        metadata: {
          host: 'db-default',
          parsed: { error_severity: pick(SEVERITIES, index), timestamp: nanosecondText(index) },
        },
        project: OWN_PROJECT,
      }),
    ),
    'deno-relay-logs': entries((index) =>
      vector(index, 'functions', {
        event_message: remark(index),
        metadata: { project_ref: OWN_PROJECT },
      }),
    ),
    'deno-subhosting-events': entries((index) =>
      vector(index, 'functions', {
        event_message: remark(index),
        metadata: { project_ref: OWN_PROJECT, level: pick(['info', 'error'], index) },
      }),
    ),
    'gotrue.logs.prod': entries(ownAuthEntry),
    'realtime.logs.prod': entries((index) =>
      vector(index, 'realtime', {
        event_message: remark(index),
        metadata: {
          external_id: OWN_PROJECT,
          // Of the further lines of one entry only the first has a level.
          ...(index % 4 === 0 ? {} : { level: pick(['info', 'error'], index) }),
          project: OWN_PROJECT,
        },
      }),
    ),
    'storage.logs.prod.2': entries((index) =>
      vector(index, 'storage', {
        event_message: remark(index),
        metadata: {
          context: [{ host: 'container', pid: 1 }],
          ...(index % 8 === 0 ? {} : { level: pick(['info', 'error', 'warn'], index) }),
          project: OWN_PROJECT,
          tenantId: OWN_PROJECT,
        },
      }),
    ),
    'postgREST.logs.prod': entries((index) =>
      vector(index, 'rest', {
        event_message: remark(index),
        // What is no line of the usual form has no metadata.
        ...(index % 5 === 4 ? {} : { metadata: { host: 'default' } }),
        project: OWN_PROJECT,
      }),
    ),
    'pgbouncer.logs.prod': entries((index) =>
      vector(index, 'pooler', {
        event_message: remark(index),
        metadata: { host: 'pooler' },
        project: OWN_PROJECT,
      }),
    ),
  },
};

export const STACKS: readonly Stack[] = [SELF_HOSTED, HOSTED];
