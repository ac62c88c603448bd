import type { Random } from '../../src/demo/traffic/random.ts';

/** What is asked for; `body`: whether the request brings one. */
export type EdgeRequest = {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly body: boolean;
};

const TABLES = [
  ...['profiles', 'orders', 'messages', 'products', 'events', 'invoices', 'sessions', 'teams'],
  ...['comments', 'bookings', 'devices', 'likes', 'carts', 'reviews', 'audit_log', 'chat_rooms'],
];
const COLUMNS = ['id', 'user_id', 'created_at', 'status', 'team_id', 'slug', 'updated_at'];
const PROCEDURES = ['search', 'nearby', 'totals', 'match_documents', 'is_member', 'next_slot'];
const BUCKETS = ['avatars', 'uploads', 'public-assets', 'documents', 'videos'];
const ENDINGS = ['png', 'jpg', 'webp', 'pdf', 'mp4'];
const FUNCTIONS = ['checkout', 'webhook', 'send-email', 'embed', 'og-image', 'sync-calendar'];
const AUTH_PATHS = ['user', 'logout', 'otp', 'verify', 'signup'];
const PROVIDERS = ['google', 'github', 'apple', 'azure'];

/** A request of one of the platform's services: most are of tables, and each brings its own values. */
export function drawRequest(random: Random): EdgeRequest {
  return ROUTES[random.zipf(ROUTES.length)]!(random);
}

/** By how often they come, the most frequent first. */
const ROUTES: readonly ((random: Random) => EdgeRequest)[] = [
  (random) => read(random, `?select=*&${random.pick(COLUMNS)}=eq.${random.uuid()}`),
  (random) =>
    read(
      random,
      `?select=id%2C${random.pick(COLUMNS)}%2C${random.pick(TABLES)}%28*%29&order=${random.pick(COLUMNS)}.desc&limit=${10 * (1 + random.below(10))}&offset=${10 * random.zipf(200)}`,
    ),
  (random) =>
    post(
      '/auth/v1/token',
      random.below(5) === 0 ? '?grant_type=password' : '?grant_type=refresh_token',
    ),
  (random) => post(tableOf(random), random.below(2) === 0 ? '' : '?select=*'),
  (random) => ({
    method: random.pick(['PATCH', 'PATCH', 'DELETE']),
    path: tableOf(random),
    search: `?id=eq.${1 + random.below(4_000_000)}`,
    body: true,
  }),
  (random) =>
    get(
      `/storage/v1/object/public/${random.pick(BUCKETS)}/${random.uuid()}/${random.hex(10)}.${random.pick(ENDINGS)}`,
      '',
    ),
  (random) => get('/realtime/v1/websocket', `?apikey=${random.hex(24)}&vsn=1.0.0`),
  (random) => post(`/rest/v1/rpc/${random.pick(PROCEDURES)}`, ''),
  (random) => get(`/auth/v1/${random.pick(AUTH_PATHS)}`, ''),
  (random) =>
    post(
      `/functions/v1/${random.pick(FUNCTIONS)}`,
      random.below(3) === 0 ? `?trace=${random.hex(12)}` : '',
    ),
  (random) =>
    get(
      `/storage/v1/render/image/public/${random.pick(BUCKETS)}/${random.hex(12)}.jpg`,
      `?width=${80 * (1 + random.below(20))}&quality=${20 + random.below(80)}`,
    ),
  (random) =>
    get(
      '/auth/v1/authorize',
      `?provider=${random.pick(PROVIDERS)}&code_challenge=${random.hex(32)}&code_challenge_method=s256`,
    ),
  () => post('/graphql/v1', ''),
  (random) =>
    get(
      `/storage/v1/object/sign/${random.pick(BUCKETS)}/${random.below(90_000)}.pdf`,
      `?token=${random.hex(48)}`,
    ),
];

function read(random: Random, search: string): EdgeRequest {
  return get(tableOf(random), search);
}

function get(path: string, search: string): EdgeRequest {
  return { method: 'GET', path, search, body: false };
}

function post(path: string, search: string): EdgeRequest {
  return { method: 'POST', path, search, body: true };
}

function tableOf(random: Random): string {
  return `/rest/v1/${TABLES[random.zipf(TABLES.length)]}`;
}
