import type { Request, Response } from 'express';
import { hint } from '../../engine/columns.ts';
import type { Tenant } from '../../engine/index.ts';
import { authorize, authorizeCall, type Grant, mayLearnNames, toReach } from '../access/grant.ts';
import { toTenant } from '../access/tenant.ts';
import { JSON_FORMAT } from '../call/answer-format.ts';
import { findCalled } from '../call/called-endpoint.ts';
import { findCallerSql, SQL_PARAMETER } from '../call/caller-sql.ts';
import type { Catalogue } from '../definition/catalogue.ts';
import { listNames } from '../definition/definition.ts';
import type { Endpoint } from '../definition/endpoint.ts';
import type { ParameterTexts } from '../definition/parameters.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { CALL_BODY_BYTES_MAX } from '../limits.ts';
import { type BodyReader, hasBody, skipBody } from './body.ts';
import { isAsked } from './explain-route.ts';
import { parseJsonObject, textOfBody } from './json-body.ts';
import { readMediaType } from './media-type.ts';
import { answerCall, type CallParts, chooseFormat } from './read-call.ts';
import { type GuardedOperation, pathParameter } from './route.ts';

/** Calls an endpoint. The path's parameter is its id or one of its names. */
export function callHandler(
  options: CallParts & { readonly catalogue: Catalogue; readonly bodies: BodyReader },
): GuardedOperation['handle'] {
  const { catalogue, bodies, clock } = options;
  return async (request, response, { grant, query }) => {
    const called = pathParameter(request);
    const found = findCalled(catalogue, called);
    authorizeCall(grant, called, found?.endpoint.definition);
    if (found === undefined) throw unknownEndpoint(called, catalogue, grant);
    const { endpoint, format: pathFormat } = found;
    const isExplained = isAsked('explain', query, endpoint.parameters);
    if (isExplained) authorize(grant, 'manage');
    const hasColumns = isAsked('columns', query, endpoint.parameters);
    const format = isExplained
      ? JSON_FORMAT
      : chooseFormat(request, response, { pathFormat, hasColumns });
    const { texts, emptyNames }: GivenTexts = hasBody(request)
      ? await addBody(query, { request, response, bodies, endpoint, tenant: toTenant(grant) })
      : { texts: query };
    const receivedMs = clock.monotonicMs();
    const parameters = endpoint.parameters.parse(texts, emptyNames);
    const sql = findCallerSql(texts, endpoint);
    await answerCall(request, response, options, {
      ...{ grant, isExplained, format, receivedMs },
      name: endpoint.definition.name,
      cacheS: endpoint.definition.cacheS,
      text: sql === undefined ? undefined : { sql, tables: endpoint },
      create: (callerQuery) => ({ endpoint, parameters, callerQuery, reach: toReach(grant) }),
    });
  };
}

/** The error for a missing endpoint, with similar names. */
export function unknownEndpoint(
  idOrName: string,
  catalogue: Catalogue,
  grant: Grant,
): ServiceError {
  const known = mayLearnNames(grant) ? catalogue.list() : [];
  const names = known.flatMap(({ definition }) => listNames(definition));
  return new ServiceError(
    'unknown_endpoint',
    `there is no saved query ${echo(idOrName)}${hint(idOrName, names)}`,
  );
}

type GivenTexts = {
  readonly texts: ParameterTexts;
  /** Names to which a JSON body gives an empty text. */
  readonly emptyNames?: ReadonlySet<string>;
};

/**
 * Merges the parameters of the query string and of a JSON body. A parameter in both counts as given
 * twice and is refused. Parameters that the endpoint does not use may have any value. A text body
 * is the caller's SQL, if the endpoint takes that.
 */
async function addBody(
  query: ParameterTexts,
  call: {
    readonly request: Request;
    readonly response: Response;
    readonly bodies: BodyReader;
    readonly tenant: Tenant;
    readonly endpoint: Endpoint;
  },
): Promise<GivenTexts> {
  const { request, response, bodies, endpoint, tenant } = call;
  const terms = { bytesMax: CALL_BODY_BYTES_MAX, tenant };
  const { isSandboxed } = endpoint.definition;
  const type = parseBodyType(request, isSandboxed ? [JSON_TYPE, ...SQL_TYPES] : [JSON_TYPE]);
  if (type === 'ignored') {
    await skipBody(request);
    return { texts: query };
  }
  const body = await bodies.use(request, response, terms, async (pieces) => {
    const text = textOfBody(Buffer.concat(pieces));
    return type === JSON_TYPE ? parseJsonObject(text) : ([[SQL_PARAMETER, text]] as const);
  });
  const texts = new Map(query);
  const emptyNames = new Set<string>();
  for (const [name, value] of body) {
    const isRead = endpoint.parameters.reads(name) || (isSandboxed && name === SQL_PARAMETER);
    if (!isRead) continue;
    const text = toText(name, value);
    if (text === '') emptyNames.add(name);
    if (text !== undefined) texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  return { texts, emptyNames };
}

const JSON_TYPE = 'application/json';

/** Media types of bodies that are one SQL text. */
const SQL_TYPES = ['application/sql', 'text/plain'] as const;

type BodyType = typeof JSON_TYPE | (typeof SQL_TYPES)[number];

/**
 * Parses the body's type; a body without one is JSON. The body of a GET is ignored if it has
 * another type.
 *
 * @throws ServiceError for a POST of another type.
 */
function parseBodyType(request: Request, allowed: readonly BodyType[]): BodyType | 'ignored' {
  try {
    return readMediaType(request.headers['content-type'], allowed) ?? JSON_TYPE;
  } catch (error) {
    if (request.method !== 'POST') return 'ignored';
    throw error;
  }
}

/** The text of a parameter; `undefined` for null, which counts as absent. */
function toText(name: string, value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value === null) return undefined;
  const isExact =
    typeof value === 'number' && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (typeof value === 'boolean' || isExact) return String(value);
  const reason =
    typeof value === 'number'
      ? 'got a number that loses digits in JSON; write it as a string'
      : `got a ${Array.isArray(value) ? 'list' : 'map'}`;
  throw new ServiceError(
    'invalid_parameter',
    `${name} must be a string, a number or a boolean; ${reason}`,
    { parameter: name },
  );
}
