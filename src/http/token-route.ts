import type { Quotas } from '../access/quotas.ts';
import { toTenant } from '../access/tenant.ts';
import { parseQuotaChange, parseTokenOrder } from '../access/token-order.ts';
import type { KnownToken, Tokens } from '../access/tokens.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { listNames } from '../definition/definition.ts';
import { TOKEN_BODY_BYTES_MAX } from '../limits.ts';
import type { LogIntake } from '../store/log-intake.ts';
import type { BodyReader } from './body.ts';
import { readJsonBody } from './json-body.ts';
import { sendJson } from './response.ts';
import { type GuardedOperation, pathParameter } from './route.ts';

type Handle = GuardedOperation['handle'];

type Told = { readonly tokens: Tokens; readonly quotas?: Quotas | undefined };

/** Lists all tokens, without their secrets. */
export function tokenListHandler({ tokens, quotas }: Told): Handle {
  return (_request, response) => {
    sendJson(response, 200, { result: tokens.list().map((token) => withUse(token, quotas)) });
  };
}

export function tokenHandler({ tokens, quotas }: Told): Handle {
  return (request, response) => {
    const token = tokens.mustFindById(pathParameter(request));
    sendJson(response, 200, { result: withUse(token, quotas) });
  };
}

/** Answers with the grant of whoever calls. */
export const ownTokenHandler: Handle = (_request, response, { grant }) => {
  const { name, scopes, expiresMs } = grant;
  const bound = Object.entries({
    projects: grant.projects,
    sources: grant.sources,
    endpoints: grant.endpoints,
  }).filter(([, allowed]) => allowed !== 'all');
  const expires = expiresMs !== undefined && { expires_at: new Date(expiresMs).toISOString() };
  sendJson(response, 200, { result: { name, scopes, ...Object.fromEntries(bound), ...expires } });
};

/** Adds the use of the token's quotas, if it has any. */
function withUse(token: KnownToken, quotas: Quotas | undefined): object {
  if (quotas === undefined) return token;
  const { id, events_per_day, bytes_per_day, stored_bytes } = token;
  const isDaily = events_per_day !== undefined || bytes_per_day !== undefined;
  return {
    ...token,
    ...(isDaily && { used_today: quotas.usedByToken(id) }),
    ...(stored_bytes !== undefined && { used_stored_bytes: quotas.storedByToken(id) }),
  };
}

/** Changes the quota of a token. It applies from the next post on. */
export function tokenQuotaHandler({
  tokens,
  quotas,
  bodies,
}: Told & { readonly bodies: BodyReader }): Handle {
  return async (request, response, { grant }) => {
    const terms = { bytesMax: TOKEN_BODY_BYTES_MAX, tenant: toTenant(grant) };
    const change = parseQuotaChange(await readJsonBody(request, response, { bodies, terms }));
    const token = await tokens.changeQuota(pathParameter(request), change);
    sendJson(response, 200, { result: withUse(token, quotas) });
  };
}

/** Makes a token. Its text is in this answer only. */
export function tokenMakingHandler(options: {
  readonly tokens: Tokens;
  readonly bodies: BodyReader;
  readonly intake: LogIntake;
  readonly catalogue: Catalogue;
  readonly wallMs: () => number;
}): Handle {
  const { tokens, bodies, intake, catalogue, wallMs } = options;
  return async (request, response, { grant }) => {
    const terms = { bytesMax: TOKEN_BODY_BYTES_MAX, tenant: toTenant(grant) };
    const value = await readJsonBody(request, response, { bodies, terms });
    const order = parseTokenOrder(value, {
      nowMs: wallMs(),
      sources: intake.listSources().map(({ name }) => name),
      endpoints: catalogue
        .list()
        .flatMap(({ definition }) => [...listNames(definition), definition.id]),
      maker: grant,
    });
    const { id, token } = await tokens.create(order);
    response.setHeader('Location', `/api/tokens/${id}`);
    sendJson(response, 201, { result: { ...tokens.mustFindById(id), token } });
  };
}

/** Revokes a token. After the answer it is invalid, also after a crash. */
export function tokenRevokingHandler(tokens: Tokens): Handle {
  return async (request, response) => {
    await tokens.revoke(pathParameter(request));
    response.statusCode = 204;
    response.end();
  };
}
