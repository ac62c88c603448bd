import type { LogEvent, TrafficContext } from './log-event.ts';

/** Generates an event of each source except the edge, in the format of its service. */

export function functionInvocation(context: TrafficContext): LogEvent {
  const { random, project } = context;
  const functionId = project.functions[random.zipf(project.functions.length)] as string;
  const method = random.pick(['GET', 'POST', 'POST', 'OPTIONS']);
  const status = random.next() < 0.95 ? 200 : random.pick([400, 401, 404, 500, 504, 546]);
  const path = `/${random.pick(['hello', 'checkout', 'webhook'])}`;
  const version = String(1 + random.below(40));
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: `${method} | ${status} | https://${project.ref}.supabase.co/functions/v1${path}`,
    metadata: {
      deployment_id: `${project.ref}_${functionId}_${version}`,
      execution_id: random.uuid(),
      execution_time_ms: random.durationMs(60),
      function_id: functionId,
      project_ref: project.ref,
      request: {
        headers: {
          accept: '*/*',
          content_length: String(random.below(2000)),
          host: 'edge-runtime.supabase.com',
          user_agent: 'Deno/2.5 (variant; SupabaseEdgeRuntime)',
        },
        host: `${project.ref}.functions.supabase.co`,
        method,
        pathname: path,
        protocol: 'https:',
        url: `https://${project.ref}.functions.supabase.co${path}`,
      },
      response: {
        headers: {
          content_type: 'application/json',
          server: 'edge-runtime',
          vary: 'Accept-Encoding',
        },
        status_code: status,
      },
      version,
    },
  };
}

export function functionLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  const functionId = project.functions[random.zipf(project.functions.length)] as string;
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: random.pick(['booted', 'shutdown', `order ${random.hex(6)} accepted`]),
    metadata: {
      boot_time: random.next() < 0.3 ? random.durationMs(40) : null,
      deployment_id: `${project.ref}_${functionId}_3`,
      event_type: random.pick(['Log', 'Boot', 'Shutdown']),
      execution_id: random.uuid(),
      function_id: functionId,
      level: random.pick(['info', 'info', 'log', 'error']),
      project_ref: project.ref,
      region: random.pick(['eu-central-1', 'us-east-1']),
      timestamp: context.timestamp,
      version: '3',
    },
  };
}

export function databaseLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  const severity = random.pick(['LOG', 'LOG', 'LOG', 'WARNING', 'ERROR']);
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message:
      severity === 'ERROR'
        ? 'duplicate key value violates unique constraint "profiles_pkey"'
        : `connection authorized: user=authenticator database=postgres`,
    project: project.ref,
    metadata: {
      host: `db-${project.ref}`,
      parsed: {
        application_name: null,
        backend_type: 'client backend',
        command_tag: severity === 'ERROR' ? 'INSERT' : 'authentication',
        connection_from: `${random.ip()}:${1024 + random.below(60_000)}`,
        database_name: 'postgres',
        error_severity: severity,
        process_id: 1000 + random.below(60_000),
        query_id: severity === 'ERROR' ? random.below(2 ** 50) : 0,
        session_id: `${random.hex(8)}.${random.hex(4)}`,
        session_line_num: 1 + random.below(9),
        sql_state_code: severity === 'ERROR' ? '23505' : '00000',
        timestamp: context.timestamp,
        transaction_id: random.below(1_000_000),
        user_name: 'authenticator',
        virtual_transaction_id: `${random.below(99)}/${random.below(1_000_000)}`,
      },
    },
  };
}

export function authLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  const status = random.next() < 0.93 ? 200 : random.pick([400, 401, 422, 429]);
  const path = random.pick(['/token', '/user', '/signup', '/verify']);
  const metadata = {
    auth_event: {
      action: random.pick(['login', 'token_refreshed', 'logout']),
      actor_id: random.uuid(),
    },
    component: 'api',
    duration: random.below(90_000_000),
    host: `db-${project.ref}`,
    level: status === 200 ? 'info' : 'warning',
    method: 'POST',
    msg: 'request completed',
    path,
    remote_addr: random.ip(),
    request_id: random.uuid(),
    status,
    time: context.timestamp,
    timestamp: context.timestamp,
  };
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: JSON.stringify(metadata),
    project: project.ref,
    metadata,
  };
}

export function realtimeLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: random.pick(['Subscribed to channel', 'Tenant stopped', 'Client connected']),
    metadata: {
      context: {
        application: 'realtime',
        domain: ['elixir'],
        file: 'lib/realtime_web/channels/realtime_channel.ex',
        line: random.below(600),
        mfa: ['Elixir.RealtimeWeb.RealtimeChannel', 'handle_info', '2'],
        pid: `<0.${random.below(9000)}.0>`,
      },
      external_id: project.ref,
      level: random.pick(['info', 'info', 'error']),
      project: project.ref,
    },
  };
}

export function storageLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  return {
    id: random.uuid(),
    timestamp: context.timestampMs,
    event_message: `GET | 200 | ${random.ip()} | ${random.hex(16)} | /object/public/avatars/${random.hex(8)}.png`,
    metadata: {
      context: { host: `ip-10-0-${random.below(256)}-${random.below(256)}`, pid: 1 },
      level: 'info',
      project: project.ref,
      reqId: random.uuid(),
      res: { statusCode: random.pick([200, 200, 304, 404]) },
      responseTime: random.next() * 80,
      tenantId: project.ref,
    },
  };
}

export function restApiLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: random.pick(['Schema cache loaded', 'Connection successful', 'Config reloaded']),
    project: project.ref,
    metadata: { host: project.ref },
  };
}

export function poolerLog(context: TrafficContext): LogEvent {
  const { random, project } = context;
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: `C-0x${random.hex(12)}: postgres/authenticator@${random.ip()}: login attempt: db=postgres`,
    project: project.ref,
    metadata: { host: `db-${project.ref}` },
  };
}
