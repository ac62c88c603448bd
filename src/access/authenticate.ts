import type { IncomingMessage } from 'node:http';
import type { ParameterTexts } from '../definition/parameters.ts';
import { ServiceError } from '../errors.ts';
import type { Grant, Scope, Tokens } from './tokens.ts';

const WAYS = 'in Authorization: Bearer, in X-API-KEY, or as api_key in the query string';
const WAYS_HEADERS = 'in Authorization: Bearer or in X-API-KEY';

/**
 * Basic authentication, whose name is not looked at, and Elasticsearch's own scheme, which is the same with an id
 * for a name: all that many senders know.
 */
const NAMED = /^(?:basic|apikey) +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/**
 * Who is calling. The first place that holds a token counts, even when the token in it is wrong.
 * `query` is that of the URL, where a token may stand there too.
 *
 * @throws ServiceError when there is no token, or one that is not known.
 */
export function authenticate(
  tokens: Tokens,
  request: IncomingMessage,
  query?: ParameterTexts | undefined,
): Grant {
  return mustKnow(tokens, findToken(request, query), query === undefined ? WAYS_HEADERS : WAYS);
}

/** The same of a sender, whose token may also be a password. @throws ServiceError likewise. */
export function authenticateSender(
  tokens: Tokens,
  request: IncomingMessage,
  query: ParameterTexts,
): Grant {
  const named = NAMED.exec(request.headers.authorization ?? '')?.[1];
  const token = findToken(request, query) ?? (named && behindName(named));
  return mustKnow(tokens, token, `${WAYS}, or as the password of Authorization: Basic`);
}

function mustKnow(tokens: Tokens, token: string | undefined, ways: string): Grant {
  const grant = token === undefined ? undefined : tokens.find(token);
  if (grant !== undefined) return grant;
  throw new ServiceError(
    'unauthorized',
    token === undefined
      ? `an access token must be given ${ways}; got none`
      : 'the access token is not known',
  );
}

/** @throws ServiceError when the token does not have the scope. */
export function authorize(grant: Grant, scope: Scope): void {
  if (grant.scopes.includes(scope)) return;
  throw new ServiceError(
    'forbidden',
    `this needs a token with the scope ${scope}; the token ${grant.name} has ${grant.scopes.join(', ')}`,
  );
}

function findToken(
  request: IncomingMessage,
  query: ParameterTexts | undefined,
): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const header = request.headers['x-api-key'];
  if (typeof header === 'string' && header.trim() !== '') return header.trim();
  const texts = query?.get('api_key') ?? [];
  if (texts.length > 1) {
    throw new ServiceError('repeated_parameter', 'api_key must be given once; got more');
  }
  return texts[0] === '' ? undefined : texts[0];
}

/** The token of `name:token` in base64; many senders know no other way to give one. */
function behindName(base64: string): string {
  const text = Buffer.from(base64, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}
