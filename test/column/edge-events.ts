import type { TestEvent } from './batch-of.ts';

/** A small generator of numbers: the same seed, the same events. */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const HEX_DIGITS = '0123456789abcdef';
const CITIES = ['Berlin', 'Lisbon', 'Oslo', 'Osaka', 'Lima', 'Austin', 'Perth', 'Turin'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE'];
const AREAS = ['rest/v1', 'auth/v1', 'storage/v1/object', 'realtime/v1'];

/**
 * Full edge requests as a proxy reports them: some 70 leaves and 3.2 KB of compact JSON, with
 * random fingerprints, ray ids, addresses and URLs. Some 20 projects, timestamps over one day.
 */
export function edgeEvents(count: number, seed: number): TestEvent[] {
  const random = randomOf(seed);
  const hex = (length: number): string => {
    let text = '';
    for (let digit = 0; digit < length; digit++) text += HEX_DIGITS[random(16)];
    return text;
  };
  const agents = Array.from(
    { length: 300 },
    (_, index) =>
      `Mozilla/5.0 (X11; Linux x86_64; rv:${90 + (index % 40)}.0) AppleWebKit/537.${index} (KHTML, like Gecko) Chrome/${80 + (index % 50)}.0.${index * 7}.0 Safari/537.36`,
  );
  const startUs = Date.UTC(2026, 0, 15) * 1000;
  return Array.from({ length: count }, (_, index) => {
    const timestampUs = startUs + Math.floor((index * 86_000_000_000) / count);
    return edgeEvent({ random, hex, agents, timestampUs });
  });
}

type Dice = {
  readonly random: (below: number) => number;
  readonly hex: (length: number) => string;
  readonly agents: readonly string[];
  readonly timestampUs: number;
};

function edgeEvent({ random, hex, agents, timestampUs }: Dice): TestEvent {
  const project = `project${String(random(20)).padStart(13, '0')}`;
  const place = random(CITIES.length);
  const agent = agents[random(agents.length)]!;
  const address = `${random(256)}.${random(256)}.${random(256)}.${random(256)}`;
  const ray = hex(16);
  const method = METHODS[random(METHODS.length)]!;
  const status = [200, 200, 200, 201, 304, 404, 500][random(7)]!;
  const host = `${project}.example.co`;
  const path = `/${AREAS[random(4)]}/table_${random(40)}`;
  const search = `?select=id,name,created_at&owner=eq.${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}&limit=${random(100)}`;
  const url = `https://${host}${path}${search}`;
  return {
    id: `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    timestampUs: timestampUs + random(1000),
    event_message: `${method} | ${status} | ${address} | ${ray} | ${url} | ${agent}`,
    project,
    metadata: {
      worker: { worker_id: hex(6).toUpperCase() },
      request: {
        cf: networkFacts(random, hex, place),
        headers: {
          accept: 'application/json',
          accept_encoding: 'gzip, br',
          cf_connecting_ip: address,
          cf_ipcountry: ['DE', 'PT', 'NO', 'JP', 'PE', 'US', 'AU', 'IT'][place]!,
          cf_ray: ray,
          host,
          referer: `https://app${random(50)}.example.com/`,
          user_agent: agent,
          x_client_info: `client-js/2.${random(40)}.0`,
          x_forwarded_proto: 'https',
          x_real_ip: address,
        },
        host,
        method,
        path,
        protocol: 'https:',
        search,
        url,
      },
      response: {
        headers: {
          cf_cache_status: ['HIT', 'MISS', 'DYNAMIC'][random(3)]!,
          cf_ray: `${ray}-${CITIES[place]!.slice(0, 3).toUpperCase()}`,
          content_length: String(random(50_000)),
          content_location: path,
          content_range: `0-${random(100)}/*`,
          content_type: 'application/json; charset=utf-8',
          date: new Date(timestampUs / 1000).toUTCString(),
          gateway_version: '1',
          transfer_encoding: 'chunked',
        },
        origin_time: random(900),
        status_code: status,
      },
    },
  };
}

function networkFacts(
  random: (below: number) => number,
  hex: (length: number) => string,
  place: number,
): {
  readonly [key: string]:
    | string
    | number
    | boolean
    | { readonly [key: string]: string | number | boolean };
} {
  return {
    asOrganization: `Carrier number ${random(200)}`,
    asn: 1000 + random(200),
    botManagement: {
      corporateProxy: random(10) === 0,
      ja3Hash: hex(32),
      score: random(100),
      staticResource: random(2) === 0,
      verifiedBot: false,
    },
    city: CITIES[place]!,
    clientAcceptEncoding: 'gzip, deflate, br',
    clientTcpRtt: random(200),
    clientTrustScore: random(100),
    colo: CITIES[place]!.slice(0, 3).toUpperCase(),
    continent: ['EU', 'EU', 'EU', 'AS', 'SA', 'NA', 'OC', 'EU'][place]!,
    country: ['DE', 'PT', 'NO', 'JP', 'PE', 'US', 'AU', 'IT'][place]!,
    edgeRequestKeepAliveStatus: 1,
    httpProtocol: ['HTTP/2', 'HTTP/3'][random(2)]!,
    isEUCountry: '1',
    latitude: String(random(9000) / 100),
    longitude: String(random(18000) / 100),
    metroCode: String(500 + random(100)),
    postalCode: String(10000 + random(5000)),
    region: `Region ${place}`,
    regionCode: CITIES[place]!.slice(0, 2).toUpperCase(),
    requestPriority: 'weight=256;exclusive=1',
    timezone: `Zone/${CITIES[place]}`,
    tlsCipher: 'AEAD-AES128-GCM-SHA256',
    tlsClientAuth: {
      certIssuerDN: '',
      certPresented: '0',
      certRevoked: '0',
      certSerial: '',
      certVerified: 'NONE',
    },
    tlsClientExtensionsSha1: hex(40),
    tlsClientHelloLength: String(500 + random(1500)),
    tlsClientRandom: hex(64),
    tlsExportedAuthenticator: {
      clientFinished: hex(64),
      clientHandshake: hex(64),
      serverFinished: hex(64),
      serverHandshake: hex(64),
    },
    tlsVersion: 'TLSv1.3',
  };
}
