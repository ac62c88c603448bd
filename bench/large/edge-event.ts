import type { Project } from '../../src/demo/traffic/log-event.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import { CITIES, type City } from './cities.ts';
import { drawClient } from './clients.ts';
import { drawRequest } from './edge-requests.ts';

/**
 * A request as the edge of a hosted platform logs it, with all that it knows of the client: some 3.7 KB of JSON.
 * Digests and random numbers of the TLS handshake, ids and addresses are new in each event.
 */
export function edgeEvent(random: Random, project: Project, timestampUs: number): string {
  const city = CITIES[random.zipf(CITIES.length)]!;
  const client = drawClient(random);
  const { method, path, search, body } = drawRequest(random);
  const host = `${project.ref}.supabase.co`;
  const url = `https://${host}${path}${search}`;
  const status = drawStatus(random);
  const ray = random.hex(16);
  const address = drawAddress(random);
  return JSON.stringify({
    id: random.uuid(),
    timestamp: timestampUs,
    event_message: `${method} | ${status} | ${address} | ${ray} | ${url} | ${client.userAgent}`,
    project: project.ref,
    metadata: {
      load_balancer_experimental_routing: null,
      load_balancer_geo_aware_info: [],
      load_balancer_redirect_identifier: null,
      logflare_worker: { worker_id: random.hex(6).toUpperCase() },
      network: null,
      request: {
        cf: edgeOf(random, city),
        headers: {
          accept: client.accept,
          cf_cache_gzip: null,
          cf_connecting_ip: address,
          cf_ipcountry: city.country,
          cf_ray: ray,
          content_length: body ? String(12 + random.below(9_000)) : null,
          content_type: body ? 'application/json' : null,
          date: null,
          host,
          prefer: body && random.below(3) > 0 ? 'return=representation' : null,
          range: null,
          referer: client.isBrowser ? `https://${project.ref.slice(3, 11)}.example.app/` : null,
          sb_gateway_mode: null,
          sb_gateway_version: null,
          user_agent: client.userAgent,
          x_client_info: client.library,
          x_forwarded_host: null,
          x_forwarded_proto: 'https',
          x_forwarded_user_agent: null,
          x_kong_proxy_latency: null,
          x_real_ip: address,
        },
        host,
        method,
        path,
        port: null,
        protocol: 'https:',
        sb: tokensOf(random, project, timestampUs),
        search: search === '' ? null : search,
        url,
      },
      response: responseOf(random, { status, ray, city, timestampUs }),
    },
  });
}

/** A request of the same kind with what is mostly counted of it alone: some 600 bytes of JSON. */
export function leanEdgeEvent(random: Random, project: Project, timestampUs: number): string {
  const { userAgent } = drawClient(random);
  const { method, path, search } = drawRequest(random);
  const url = `https://${project.ref}.supabase.co${path}${search}`;
  const status = drawStatus(random);
  return JSON.stringify({
    id: random.uuid(),
    timestamp: timestampUs,
    event_message: `${method} | ${status} | ${drawAddress(random)} | ${random.hex(16)} | ${url} | ${userAgent}`,
    project: project.ref,
    metadata: {
      request: { method, path, url },
      response: { origin_time: random.durationMs(38) + random.below(6), status_code: status },
    },
  });
}

function responseOf(
  random: Random,
  of: {
    readonly status: number;
    readonly ray: string;
    readonly city: City;
    readonly timestampUs: number;
  },
) {
  const originMs = random.durationMs(38);
  const isOfDatabase = random.below(2) === 0;
  return {
    headers: {
      cf_cache_status: random.pick(['DYNAMIC', 'DYNAMIC', 'DYNAMIC', 'HIT', 'MISS']),
      cf_ray: `${of.ray}-${of.city.airport}`,
      content_length: random.below(4) === 0 ? null : String(random.durationMs(900)),
      content_location: null,
      content_range: isOfDatabase ? `0-${random.below(100)}/*` : null,
      content_type: 'application/json; charset=utf-8',
      date: new Date(of.timestampUs / 1000).toUTCString(),
      proxy_status: of.status >= 500 ? 'PostgREST; error=57014' : null,
      sb_gateway_mode: 'direct',
      sb_gateway_version: '1',
      sb_project_ref: null,
      sb_request_id: random.uuid(),
      server_timing: isOfDatabase ? `db;dur=${(originMs / 2).toFixed(1)}` : null,
      transfer_encoding: null,
      x_envoy_upstream_service_time: isOfDatabase ? String(originMs - 1) : null,
      x_kong_proxy_latency: String(random.below(3)),
      x_kong_upstream_latency: String(originMs),
    },
    origin_time: originMs + random.below(6),
    status_code: of.status,
  };
}

function edgeOf(random: Random, city: City) {
  return {
    asOrganization: city.network,
    asn: city.asn,
    botManagement: {
      corporateProxy: false,
      detectionIds: random.below(20) === 0 ? [33_554_817] : [],
      ja3Hash: random.hex(32),
      ja4: `t13d${random.below(20)}h2_${random.hex(12)}_${random.hex(12)}`,
      ja4Signals: {
        browser_ratio_1h: random.below(1_000_000) / 1_000_000,
        h2h3_ratio_1h: random.below(1_000_000) / 1_000_000,
        ips_rank_1h: random.below(4_000),
        reqs_quantile_1h: random.below(1_000_000) / 1_000_000,
      },
      jsDetection: { passed: random.below(10) === 0 },
      score: 1 + random.below(99),
      staticResource: false,
      verifiedBot: random.below(200) === 0,
    },
    city: city.name,
    clientAcceptEncoding: random.pick(['gzip, deflate, br', 'gzip, deflate, br, zstd', 'gzip']),
    clientTcpRtt: 1 + random.below(280),
    clientTrustScore: 1 + random.below(99),
    colo: city.airport,
    continent: city.continent,
    country: city.country,
    edgeRequestKeepAliveStatus: random.below(2),
    httpProtocol: random.pick(['HTTP/2', 'HTTP/2', 'HTTP/2', 'HTTP/3', 'HTTP/1.1']),
    isEUCountry: city.continent === 'EU' ? '1' : null,
    latitude: city.latitude,
    longitude: city.longitude,
    metroCode: city.metroCode,
    postalCode: city.postalCode,
    region: city.region,
    regionCode: city.regionCode,
    requestPriority: random.pick(['weight=16;exclusive=0', 'weight=256;exclusive=1', null]),
    timezone: city.timezone,
    tlsCipher: random.pick(['AEAD-AES128-GCM-SHA256', 'AEAD-AES256-GCM-SHA384']),
    tlsClientAuth: { certPresented: '0', certRevoked: '0', certVerified: 'NONE' },
    tlsClientCiphersSha1: random.hex(28),
    tlsClientExtensionsSha1: random.hex(28),
    tlsClientHelloLength: String(300 + random.below(1_700)),
    tlsClientRandom: random.hex(44),
    tlsExportedAuthenticator: {
      clientFinished: random.hex(64),
      clientHandshake: random.hex(64),
      serverFinished: random.hex(64),
      serverHandshake: random.hex(64),
    },
    tlsVersion: 'TLSv1.3',
  };
}

/** What the tokens of a request say: none, the key of an application, or a user who has signed in. */
function tokensOf(random: Random, { ref }: Project, timestampUs: number) {
  const chance = random.next();
  if (chance < 0.2) return { apikey: null, auth_user: null, jwt: null };
  const expiresAt = Math.floor(timestampUs / 1_000_000) + random.below(3_600);
  const key = {
    algorithm: 'HS256',
    expires_at: 2_000_000_000 + random.below(9) * 31_536_000,
    issuer: 'supabase',
    role: chance < 0.3 ? 'service_role' : 'anon',
    signature_prefix: ref.slice(0, 6),
    subject: null,
  };
  if (chance < 0.55) {
    return { apikey: { invalid: null, payload: key }, auth_user: null, jwt: null };
  }
  const user = random.uuid();
  const payload = {
    algorithm: 'ES256',
    expires_at: expiresAt,
    issuer: `https://${ref}.supabase.co/auth/v1`,
    key_id: random.hex(8),
    role: 'authenticated',
    session_id: random.uuid(),
    signature_prefix: random.hex(6),
    subject: user,
  };
  return {
    apikey: { invalid: null, payload: key },
    auth_user: user,
    jwt: { authorization: { invalid: null, payload } },
  };
}

function drawStatus(random: Random): number {
  const chance = random.next();
  if (chance < 0.91) return random.pick([200, 200, 200, 200, 201, 204, 206, 304]);
  if (chance < 0.99) return random.pick([400, 401, 401, 403, 404, 406, 409, 422, 429]);
  return random.pick([500, 502, 503, 504, 520, 522, 544]);
}

/** One in four has an address of version 6. */
function drawAddress(random: Random): string {
  if (random.below(4) > 0) return random.ip();
  const digits = random.hex(24);
  return `2a0${digits.slice(0, 1)}:${digits.slice(1, 4)}:${digits.slice(4, 8)}:${digits.slice(8, 12)}:${digits.slice(12, 16)}::${digits.slice(16, 20)}`;
}
