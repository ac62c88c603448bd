import type { LogEvent, TrafficContext } from './log-event.ts';
import type { Random } from './random.ts';

/** A request in the edge log of a hosted platform: about 3 KB of JSON, mostly about the client. */
export function edgeRequest(context: TrafficContext): LogEvent {
  const { random, project } = context;
  const route = random.pick(ROUTES);
  const client = random.pick(CLIENTS);
  const place = random.pick(PLACES);
  const status = chooseStatus(random);
  const host = `${project.ref}.supabase.co`;
  const path = route.path(random);
  const search = route.search(random);
  const url = `https://${host}${path}${search}`;
  const ray = random.hex(16);
  const address = random.ip();
  const method = random.pick(route.methods);
  return {
    id: random.uuid(),
    timestamp: context.timestamp,
    event_message: `${method} | ${status} | ${address} | ${ray} | ${url} | ${client}`,
    project: project.ref,
    metadata: {
      load_balancer_experimental_routing: null,
      load_balancer_geo_aware_info: [],
      load_balancer_redirect_identifier: null,
      logflare_worker: { worker_id: random.hex(6).toUpperCase() },
      request: {
        cf: cloudflare(random, place),
        headers: {
          accept: random.pick(ACCEPTS),
          cf_cache_gzip: null,
          cf_connecting_ip: address,
          cf_ipcountry: place.country,
          cf_ray: ray,
          content_length: method === 'POST' ? String(20 + random.below(4000)) : null,
          content_type: method === 'POST' ? 'application/json' : null,
          host,
          referer:
            random.next() < 0.6 ? `https://app-${project.ref.slice(0, 6)}.example.com/` : null,
          user_agent: client,
          x_client_info: random.pick(CLIENT_LIBRARIES),
          x_forwarded_proto: 'https',
          x_real_ip: address,
        },
        host,
        method,
        path,
        protocol: 'https:',
        sb: sessionToken(random, project.ref),
        search: search === '' ? null : search,
        url,
      },
      response: {
        headers: {
          cf_cache_status: random.pick(['DYNAMIC', 'HIT', 'MISS']),
          cf_ray: `${ray}-${place.colo}`,
          content_length: String(2 + random.below(60_000)),
          content_type: 'application/json; charset=utf-8',
          date: new Date(context.timestampMs).toUTCString(),
          sb_gateway_mode: null,
          sb_gateway_version: '1',
          server_timing: null,
          x_kong_proxy_latency: random.next() < 0.5 ? String(random.below(9)) : null,
          x_kong_upstream_latency: random.next() < 0.5 ? String(random.durationMs(20)) : null,
        },
        origin_time: random.durationMs(45),
        status_code: status,
      },
    },
  };
}

function chooseStatus(random: Random): number {
  const chance = random.next();
  if (chance < 0.9) return random.pick([200, 200, 200, 201, 204, 206, 304]);
  if (chance < 0.985) return random.pick([400, 401, 403, 404, 404, 409, 429]);
  return random.pick([500, 502, 503, 504]);
}

function cloudflare(random: Random, place: Place) {
  return {
    asOrganization: place.network,
    asn: place.asn,
    botManagement: {
      corporateProxy: false,
      detectionIds: [],
      ja3Hash: random.hex(32),
      jsDetection: { passed: false },
      score: 1 + random.below(99),
      staticResource: false,
      verifiedBot: false,
    },
    city: place.city,
    clientAcceptEncoding: 'gzip, deflate, br',
    clientTcpRtt: 1 + random.below(250),
    clientTrustScore: 1 + random.below(99),
    colo: place.colo,
    continent: place.continent,
    country: place.country,
    edgeRequestKeepAliveStatus: random.below(2),
    httpProtocol: random.pick(['HTTP/2', 'HTTP/2', 'HTTP/3', 'HTTP/1.1']),
    isEUCountry: place.continent === 'EU' ? '1' : null,
    latitude: place.latitude,
    longitude: place.longitude,
    metroCode: null,
    postalCode: place.postalCode,
    region: place.region,
    regionCode: place.regionCode,
    requestPriority: 'weight=256;exclusive=1',
    timezone: place.timezone,
    tlsCipher: 'AEAD-AES128-GCM-SHA256',
    tlsClientAuth: {
      certPresented: '0',
      certRevoked: '0',
      certVerified: 'NONE',
    },
    tlsClientExtensionsSha1: random.hex(40),
    tlsClientHelloLength: String(500 + random.below(1500)),
    tlsClientRandom: random.hex(64),
    tlsExportedAuthenticator: {
      clientFinished: random.hex(64),
      clientHandshake: random.hex(64),
      serverFinished: random.hex(64),
      serverHandshake: random.hex(64),
    },
    tlsVersion: 'TLSv1.3',
  };
}

function sessionToken(random: Random, ref: string) {
  if (random.next() < 0.35) return { jwt: null, apikey: null };
  const role = random.pick(['anon', 'authenticated', 'service_role']);
  const payload = { algorithm: 'HS256', issuer: 'supabase', role, subject: ref };
  return {
    apikey: [{ payload: { ...payload, signature_prefix: random.hex(6) } }],
    jwt: { apikey: { payload }, authorization: role === 'anon' ? null : { payload } },
  };
}

type Route = {
  readonly methods: readonly string[];
  readonly path: (random: Random) => string;
  readonly search: (random: Random) => string;
};

const TABLES = ['orders', 'profiles', 'messages', 'products', 'events', 'invoices', 'sessions'];

const ROUTES: readonly Route[] = [
  {
    methods: ['GET', 'GET', 'GET', 'PATCH', 'DELETE'],
    path: (random) => `/rest/v1/${random.pick(TABLES)}`,
    search: (random) => `?select=*&id=eq.${random.below(1_000_000)}&order=created_at.desc`,
  },
  {
    methods: ['POST'],
    path: (random) => `/rest/v1/rpc/${random.pick(['search', 'nearby', 'totals'])}`,
    search: () => '',
  },
  {
    methods: ['GET', 'POST'],
    path: (random) => `/storage/v1/object/public/avatars/${random.hex(12)}.png`,
    search: (random) => (random.next() < 0.5 ? `?width=${100 * (1 + random.below(12))}` : ''),
  },
  {
    methods: ['POST'],
    path: (random) => `/auth/v1/${random.pick(['token', 'user', 'signup', 'logout'])}`,
    search: (random) => (random.next() < 0.5 ? '?grant_type=refresh_token' : ''),
  },
  {
    methods: ['GET'],
    path: () => '/realtime/v1/websocket',
    search: (random) => `?apikey=${random.hex(20)}&vsn=1.0.0`,
  },
  {
    methods: ['POST'],
    path: (random) => `/functions/v1/${random.pick(['hello', 'checkout', 'webhook'])}`,
    search: () => '',
  },
];

const CLIENTS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'okhttp/5.1.0',
  'Dart/3.9 (dart:io)',
  'python-httpx/0.28.1',
  'curl/8.16.0',
];

const CLIENT_LIBRARIES = [
  'supabase-js/2.58.0',
  'supabase-flutter/2.10.0',
  'supabase-py/2.20.0',
  null,
];

const ACCEPTS = ['*/*', 'application/json', 'application/vnd.pgrst.object+json'];

type Place = (typeof PLACES)[number];

const PLACES = [
  {
    city: 'Berlin',
    region: 'Land Berlin',
    regionCode: 'BE',
    postalCode: '10115',
    country: 'DE',
    continent: 'EU',
    colo: 'TXL',
    latitude: '52.53480',
    longitude: '13.38170',
    timezone: 'Europe/Berlin',
    asn: 3320,
    network: 'Deutsche Telekom AG',
  },
  {
    city: 'Singapore',
    region: 'North West',
    regionCode: '03',
    postalCode: '179094',
    country: 'SG',
    continent: 'AS',
    colo: 'SIN',
    latitude: '1.28967',
    longitude: '103.85007',
    timezone: 'Asia/Singapore',
    asn: 16509,
    network: 'Amazon Technologies Inc.',
  },
  {
    city: 'São Paulo',
    region: 'São Paulo',
    regionCode: 'SP',
    postalCode: '01000',
    country: 'BR',
    continent: 'SA',
    colo: 'GRU',
    latitude: '-23.54750',
    longitude: '-46.63610',
    timezone: 'America/Sao_Paulo',
    asn: 26599,
    network: 'Telefonica Brasil S.A',
  },
  {
    city: 'Ashburn',
    region: 'Virginia',
    regionCode: 'VA',
    postalCode: '20147',
    country: 'US',
    continent: 'NA',
    colo: 'IAD',
    latitude: '39.04370',
    longitude: '-77.48750',
    timezone: 'America/New_York',
    asn: 14618,
    network: 'Amazon.com, Inc.',
  },
] as const;
