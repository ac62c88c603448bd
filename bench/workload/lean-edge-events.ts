import type { Project } from '../../src/demo/traffic/log-event.ts';
import { Draw } from './draw.ts';
import type { EventMaker } from './event-maker.ts';
import type { Tenants } from './tenants.ts';

/** Of all URLs, those that carry the reference of another project than their host's. */
const REDIRECT_SHARE = 0.007;

/** Requests as an edge logs them, without all that it knows of the client: some 310 bytes each. */
export class LeanEdgeEvents implements EventMaker {
  readonly #draw: Draw;

  constructor(of: { readonly tenants: Tenants; readonly eventCount: number }) {
    this.#draw = new Draw(1, of);
  }

  next(): string {
    const draw = this.#draw;
    const { random } = draw;
    const { project, id, timestamp } = draw.event();
    const chance = random.next();
    const route =
      chance < REDIRECT_SHARE
        ? redirect(draw, project)
        : ROUTES[Math.floor(((chance - REDIRECT_SHARE) / (1 - REDIRECT_SHARE)) * ROUTES.length)]!(
            draw,
            project,
          );
    const { method, path, search } = route;
    const status = statusOf(draw);
    return `{"id":"${id}","timestamp":${timestamp},"event_message":"${method} | ${status}","project":"${project.ref}","metadata":{"request":{"method":"${method}","url":"https://${project.ref}.supabase.co${path}${search}","path":"${path}"},"response":{"status_code":${status},"origin_time":${random.durationMs(45)}}}}`;
  }
}

/** `path` and `search` hold nothing that JSON would escape. */
type Request = { readonly method: string; readonly path: string; readonly search: string };

type Route = (draw: Draw, project: Project) => Request;

const TABLES = [
  ...['orders', 'profiles', 'messages', 'products', 'events', 'invoices', 'sessions', 'posts'],
  ...['comments', 'likes', 'teams', 'members', 'tasks', 'projects', 'audit_log', 'payments'],
  ...['customers', 'subscriptions', 'line_items', 'carts', 'reviews', 'tags', 'post_tags', 'files'],
];
const FUNCTIONS = ['search', 'nearby', 'totals', 'match_documents', 'get_feed', 'increment_views'];
const EDGE_FUNCTIONS = ['hello', 'checkout', 'webhook', 'send-email', 'stripe-hook', 'og-image'];
const BUCKETS = ['avatars', 'public', 'images', 'attachments', 'exports'];
const COLUMNS = ['id', 'user_id', 'created_at', 'status', 'title', 'amount', 'email', 'updated_at'];
const SELECTS = ['*', 'id', 'id,title', 'id,status,created_at', '*,author:profiles(id,username)'];
const STATES = ['open', 'paid', 'pending', 'archived', 'draft'];
const PROVIDERS = ['google', 'github', 'apple', 'azure'];
const EXTENSIONS = ['png', 'jpg', 'webp', 'pdf'];

const read: Route = (draw) => ({
  method: draw.random.next() < 0.9 ? 'GET' : 'HEAD',
  path: `/rest/v1/${draw.skewed(TABLES)}`,
  search: `?select=${draw.skewed(SELECTS)}&id=eq.${draw.random.below(1_000_000)}`,
});

const readOfUser: Route = (draw) => ({
  method: 'GET',
  path: `/rest/v1/${draw.skewed(TABLES)}`,
  search: `?select=${draw.skewed(SELECTS)}&user_id=eq.${draw.uuid()}&order=${draw.random.pick(COLUMNS)}.desc`,
});

const readPage: Route = (draw) => ({
  method: 'GET',
  path: `/rest/v1/${draw.skewed(TABLES)}`,
  search: `?select=${draw.skewed(SELECTS)}&status=in.(${draw.random.pick(STATES)},${draw.random.pick(STATES)})&order=created_at.desc&offset=${20 * draw.random.below(50)}&limit=20`,
});

const write: Route = (draw) => {
  const isNew = draw.random.next() < 0.5;
  return {
    method: isNew ? 'POST' : draw.random.next() < 0.8 ? 'PATCH' : 'DELETE',
    path: `/rest/v1/${draw.skewed(TABLES)}`,
    search: isNew ? '' : `?id=eq.${draw.random.below(1_000_000)}`,
  };
};

const call: Route = (draw) => ({
  method: 'POST',
  path: `/rest/v1/rpc/${draw.skewed(FUNCTIONS)}`,
  search: '',
});

const refresh: Route = (draw) => ({
  method: 'POST',
  path: '/auth/v1/token',
  search: draw.random.next() < 0.7 ? '?grant_type=refresh_token' : '?grant_type=password',
});

const user: Route = (draw) => ({
  method: draw.random.next() < 0.9 ? 'GET' : 'PUT',
  path: draw.random.next() < 0.95 ? '/auth/v1/user' : `/auth/v1/admin/users/${draw.uuid()}`,
  search: '',
});

const signIn: Route = (draw, project) => ({
  method: 'GET',
  path: '/auth/v1/authorize',
  search: `?provider=${draw.random.pick(PROVIDERS)}&redirect_to=https%3A%2F%2Fapp-${project.ref.slice(0, 6)}.example.com%2Fcallback&code_challenge=${draw.hex8()}${draw.hex8()}&code_challenge_method=s256`,
});

const file: Route = (draw) => ({
  method: 'GET',
  path: `/storage/v1/object/public/${draw.skewed(BUCKETS)}/${draw.uuid()}.${draw.skewed(EXTENSIONS)}`,
  search: '',
});

const image: Route = (draw) => ({
  method: 'GET',
  path: `/storage/v1/render/image/public/${draw.skewed(BUCKETS)}/${draw.uuid()}.jpg`,
  search: `?width=${100 * (1 + draw.random.below(12))}&quality=${10 * (1 + draw.random.below(10))}`,
});

const signedFile: Route = (draw) => ({
  method: 'GET',
  path: `/storage/v1/object/sign/${draw.skewed(BUCKETS)}/${draw.random.below(100_000)}/report.pdf`,
  search: `?token=${draw.hex8()}${draw.hex8()}${draw.hex8()}`,
});

const socket: Route = (draw) => ({
  method: 'GET',
  path: '/realtime/v1/websocket',
  search: `?apikey=${draw.hex8()}${draw.hex8()}${draw.hex8()}&vsn=1.0.0`,
});

const edgeFunction: Route = (draw) => ({
  method: 'POST',
  path: `/functions/v1/${draw.skewed(EDGE_FUNCTIONS)}`,
  search: draw.random.next() < 0.3 ? `?trace=${draw.hex8()}` : '',
});

const graph: Route = () => ({ method: 'POST', path: '/graphql/v1', search: '' });

/** Each as likely as the others. */
const ROUTES: readonly Route[] = [
  ...[read, read, read, read, readOfUser, readOfUser, readPage, readPage, write, write, call],
  ...[refresh, refresh, user, signIn, file, file, image, signedFile],
  ...[socket, edgeFunction, edgeFunction, graph],
];

/** Signing in at one project and being sent to another. */
function redirect(draw: Draw, project: Project): Request {
  let other = draw.project();
  while (other === project) other = draw.project();
  return {
    method: 'GET',
    path: '/auth/v1/authorize',
    search: `?provider=${draw.random.pick(PROVIDERS)}&redirect_to=https://${other.ref}.supabase.co/auth/v1/callback`,
  };
}

function statusOf({ random }: Draw): number {
  const chance = random.next();
  if (chance < 0.9) return random.pick([200, 200, 200, 200, 201, 204, 206, 304]);
  if (chance < 0.985) return random.pick([400, 401, 403, 404, 404, 409, 429]);
  return random.pick([500, 502, 503, 504]);
}
