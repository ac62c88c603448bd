import { tenantOf } from '../access/tenant.ts';
import { parseTokenOrder } from '../access/token-order.ts';
import type { Tokens } from '../access/tokens.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { TOKEN_BODY_BYTES_MAX } from '../limits.ts';
import type { LogIntake } from '../store/log-intake.ts';
import type { BodyReader } from './body.ts';
import { readJsonBody } from './json-body.ts';
import { sendJson } from './response.ts';
import { type GuardedOperation, pathParameter } from './route.ts';

type Handle = GuardedOperation['handle'];

/** All tokens, without what would open anything. */
export function tokenListHandler(tokens: Tokens): Handle {
  return (_request, response) => {
    sendJson(response, 200, { result: tokens.list() });
  };
}

export function tokenHandler(tokens: Tokens): Handle {
  return (request, response) => {
    sendJson(response, 200, { result: tokens.mustFindById(pathParameter(request)) });
  };
}

/** Makes a token, and tells its text: this once. */
export function tokenMakingHandler(options: {
  readonly tokens: Tokens;
  readonly bodies: BodyReader;
  readonly intake: LogIntake;
  readonly catalogue: Catalogue;
  readonly wallMs: () => number;
}): Handle {
  const { tokens, bodies, intake, catalogue, wallMs } = options;
  return async (request, response, { grant }) => {
    const terms = { bytesMax: TOKEN_BODY_BYTES_MAX, tenant: tenantOf(grant) };
    const value = await readJsonBody(request, response, { bodies, terms });
    const order = parseTokenOrder(value, {
      nowMs: wallMs(),
      hasSource: (name) => intake.listSources().some((source) => source.name === name),
      hasEndpoint: (idOrName) => catalogue.find(idOrName) !== undefined,
      maker: grant,
    });
    const { id, token } = await tokens.create(order);
    response.setHeader('Location', `/api/tokens/${id}`);
    sendJson(response, 201, { result: { ...tokens.mustFindById(id), token } });
  };
}

/** When it has answered the token opens nothing any more, also after a crash. */
export function tokenRevokingHandler(tokens: Tokens): Handle {
  return async (request, response) => {
    await tokens.revoke(pathParameter(request));
    response.statusCode = 204;
    response.end();
  };
}
