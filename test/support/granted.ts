import { equal } from 'node:assert/strict';
import type { Scope } from '../../src/access/grant.ts';
import type { HttpAnswer } from './http-client.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

/** What a token is asked for with. */
export type Order = {
  readonly scopes: readonly Scope[];
  readonly projects?: readonly string[];
  readonly sources?: readonly string[];
  readonly endpoints?: readonly string[];
  readonly default_source?: string;
  readonly expires_at?: string;
};

export const EDGE = 'cloudflare.logs.prod';
export const RELAY = 'deno-relay-logs';

/** One token of each kind, by name: what is bound, is bound to `alpha`, to the edge's source, or to `logs.all`. */
export const GRANTS = {
  'ingest, all': { scopes: ['ingest'] },
  'ingest, alpha': { scopes: ['ingest'], projects: ['alpha'] },
  'ingest, alpha and gamma': { scopes: ['ingest'], projects: ['alpha', 'gamma'] },
  'ingest, edge': { scopes: ['ingest'], sources: [EDGE] },
  'ingest, edge by default': { scopes: ['ingest'], default_source: EDGE },
  'query, all': { scopes: ['query'] },
  'query, alpha': { scopes: ['query'], projects: ['alpha'] },
  'query, alpha and gamma': { scopes: ['query'], projects: ['alpha', 'gamma'] },
  'query, edge': { scopes: ['query'], sources: [EDGE] },
  'query, logs.all': { scopes: ['query'], endpoints: ['logs.all'] },
  manage: { scopes: ['manage'] },
} as const satisfies Readonly<Record<string, Order>>;

export type GrantName = keyof typeof GRANTS;

/** A service and a token of each kind, made through its API. */
export class Granted {
  readonly #service: ServiceUnderTest;
  readonly #tokens: ReadonlyMap<string, string>;

  private constructor(service: ServiceUnderTest, tokens: ReadonlyMap<string, string>) {
    this.#service = service;
    this.#tokens = tokens;
  }

  static async of(service: ServiceUnderTest): Promise<Granted> {
    const tokens = new Map<string, string>();
    for (const [name, order] of Object.entries<Order>(GRANTS)) {
      tokens.set(name, (await makeToken(service, name.replaceAll(',', ''), order)).token);
    }
    return new Granted(service, tokens);
  }

  /** Asks with the token of this kind. */
  ask(
    name: GrantName,
    method: string,
    path: string,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpAnswer> {
    return this.#service.ask(method, path, body, { ...headers, 'X-API-KEY': this.token(name) });
  }

  token(name: GrantName): string {
    return this.#tokens.get(name)!;
  }
}

export async function makeToken(
  service: ServiceUnderTest,
  name: string,
  order: Order,
): Promise<{ readonly id: string; readonly token: string }> {
  const answer = await service.ask('POST', '/api/tokens', JSON.stringify({ name, ...order }));
  equal(answer.status, 201, answer.text);
  return (JSON.parse(answer.text) as { result: { id: string; token: string } }).result;
}
