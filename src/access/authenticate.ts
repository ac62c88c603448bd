import type { IncomingHttpHeaders } from 'node:http';
import type { ParameterTexts } from '../definition/parameters.ts';
import { TOKEN_PARAMETER } from '../definition/token-parameter.ts';
import { ServiceError } from '../errors.ts';
import type { Grant } from './grant.ts';
import { isMistyped } from './token-text.ts';
import type { Tokens } from './tokens.ts';

/**
 * Where a token may be: in headers only; also in the URL; or also in the password of Basic
 * authentication and in the schemes of other products, for senders that know nothing else.
 */
export type TokenPlaces = 'headers' | 'url' | 'password';

/** Headers that may hold a token. Answers that depend on the token vary by these. */
export const TOKEN_HEADERS = 'Authorization, X-API-KEY';

const WAYS: Readonly<Record<TokenPlaces, string>> = {
  headers: 'in Authorization: Bearer or in X-API-KEY',
  url: 'in Authorization: Bearer, in X-API-KEY, or as api_key in the query string',
  password:
    'in Authorization: Bearer, in X-API-KEY, as api_key in the query string, as the password of Authorization: Basic, in Authorization: Splunk, or in DD-API-KEY',
};

/**
 * Basic authentication, whose user name is ignored, and Elasticsearch's scheme, which has an id
 * instead of the name. Many senders know only these.
 */
const NAMED = /^(?:basic|apikey) +([A-Za-z0-9+/_-]+={0,2}) *$/i;

/** Headers for the token of senders that can set no other header. */
const SENDER_HEADERS = ['x-amz-firehose-access-key', 'dd-api-key'] as const;

/** The scheme of Splunk's HTTP Event Collector, with the token itself. */
const SPLUNK = /^splunk +(\S+) *$/i;

/** The parameter of Datadog's senders in browsers. */
export const DATADOG_PARAMETER = 'dd-api-key';

/** Why a token is refused: it is missing, unknown or expired. */
export const TOKEN_REFUSALS = ['missing', 'unknown', 'expired'] as const;

export type TokenRefusal = (typeof TOKEN_REFUSALS)[number];

/** The error for a request without a valid token. */
export class TokenError extends ServiceError {
  readonly reason: TokenRefusal;

  constructor(reason: TokenRefusal, message: string) {
    super('unauthorized', message);
    this.reason = reason;
  }
}

/** A request, of which only the headers are read. */
type Headed = { readonly headers: IncomingHttpHeaders };

/** Where a request may have its token. */
export type TokenSearch = {
  readonly query: ParameterTexts;
  readonly tokenIn: TokenPlaces;
  readonly pathToken?: string | undefined;
};

/**
 * Finds the grant of the caller. The first place that holds a token counts, even if that token is
 * wrong. `query` is the query string of the URL, `pathToken` the part of a path that is for a token.
 *
 * @throws TokenError when the token is missing, unknown or expired.
 */
export function authenticate(tokens: Tokens, request: Headed, places: TokenSearch): Grant {
  const { query, tokenIn } = places;
  let token = findInHeaders(request);
  if (tokenIn !== 'headers') token ??= findInUrl(query, TOKEN_PARAMETER);
  if (tokenIn === 'password') token ??= findOfSender(request, places);
  if (token === undefined) {
    const got =
      request.headers.authorization === undefined
        ? 'none'
        : 'an Authorization header of another form';
    throw new TokenError('missing', `an access token must be given ${WAYS[tokenIn]}; got ${got}`);
  }
  const grant = tokens.find(token);
  if (grant === 'expired') throw new TokenError('expired', 'the access token has expired');
  if (grant !== undefined) return grant;
  throw new TokenError(
    'unknown',
    isMistyped(token)
      ? 'the access token is not whole: its last characters do not fit the others'
      : 'the access token is not known',
  );
}

/** Whether a header holds a token, valid or not. */
export function bringsToken(request: Headed): boolean {
  return findInHeaders(request) !== undefined;
}

function findInHeaders({ headers }: Headed): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const header = headers['x-api-key'];
  return typeof header === 'string' && header.trim() !== '' ? header.trim() : undefined;
}

function findInUrl(query: ParameterTexts, name: string): string | undefined {
  const texts = query.get(name) ?? [];
  if (texts.length > 1) {
    throw new ServiceError('repeated_parameter', `${name} must be given once; got more`);
  }
  return texts[0] === '' ? undefined : texts[0];
}

/** Finds the token where only senders of other products put it. */
function findOfSender(request: Headed, { query, pathToken }: TokenSearch): string | undefined {
  const { authorization = '' } = request.headers;
  return (
    SPLUNK.exec(authorization)?.[1] ??
    findPassword(authorization) ??
    findInSenderHeader(request) ??
    findInUrl(query, DATADOG_PARAMETER) ??
    pathToken
  );
}

/** Decodes the token of `name:token` in base64. */
function findPassword(authorization: string): string | undefined {
  const named = NAMED.exec(authorization)?.[1];
  if (named === undefined) return undefined;
  const text = Buffer.from(named, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

function findInSenderHeader({ headers }: Headed): string | undefined {
  const texts = SENDER_HEADERS.map((name) => headers[name]);
  return texts.find((text): text is string => typeof text === 'string' && text !== '');
}
