import { z } from 'zod';
import { hint } from '../../engine/columns.ts';
import { isUuid } from '../../ingest/source.ts';
import { parseIsoTimestampUs } from '../definition/iso-timestamp.ts';
import { echo, echoValue, formatChoices } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { NAME_LENGTH_MAX, NARROWED_NAMES_MAX, PROJECT_LENGTH_MAX } from '../limits.ts';
import { type Grant, SCOPES } from './grant.ts';
import { NARROWING, QUOTA, type TokenRecord } from './token-record.ts';

/** A request for a new token. */
export type TokenOrder = Omit<TokenRecord, 'id' | 'sha256' | 'created_at'>;

/** What a request is checked against. */
export type OrderContext = {
  readonly nowMs: number;
  /** Names of all sources. */
  readonly sources: readonly string[];
  /** Names, aliases and ids of all endpoints; absent if they are unknown. */
  readonly endpoints?: readonly string[];
  /** The grant of the requester; absent for the owner of the folder. */
  readonly maker?: Grant;
};

const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._:@/-]*$/;

const ORDER = z.strictObject({
  name: z
    .string(`name must be a string of at most ${NAME_LENGTH_MAX} characters`)
    .max(NAME_LENGTH_MAX, `name may have at most ${NAME_LENGTH_MAX} characters`)
    .regex(
      TOKEN_NAME,
      'name must be letters, digits, spaces and any of . _ : @ / -, and begin with a letter or digit',
    ),
  scopes: z
    .array(z.enum(SCOPES, { error: scopesError }), { error: scopesError })
    .min(1, `scopes must have at least one of ${formatChoices(SCOPES)}`),
  projects: NARROWING.projects.optional(),
  sources: NARROWING.sources.optional(),
  endpoints: NARROWING.endpoints.optional(),
  default_source: z.string('default_source must be the name of a source').optional(),
  ...QUOTA,
  expires_at: z.string('expires_at must be an ISO 8601 time').optional(),
});

function scopesError({ input }: { readonly input?: unknown }): string {
  return `scopes must be a list of any of ${formatChoices(SCOPES)}; got ${echoValue(input)}`;
}

/** What the lists of a request may contain, for its errors. */
const LISTS: ReadonlyMap<unknown, string> = new Map([
  ['projects', `project keys of 1 to ${PROJECT_LENGTH_MAX} characters`],
  ['sources', 'names of sources'],
  ['endpoints', 'names or ids of endpoints'],
]);

/**
 * Parses a request for a token from JSON. A token that may manage cannot be bound to anything,
 * because it makes and revokes tokens and sees the whole service. A token cannot make one that may
 * do more than itself or that outlives it.
 *
 * @throws ServiceError `invalid_body` for an invalid request, `forbidden` for one that exceeds the
 * requester's grant.
 */
export function parseTokenOrder(value: unknown, context: OrderContext): TokenOrder {
  const parsed = ORDER.safeParse(value);
  if (!parsed.success) throw invalid(issueSentence(parsed.error.issues[0]));
  const { expires_at, ...order } = parsed.data;
  const found = combinationError(order) ?? unknownName(order, context);
  if (found !== undefined) throw invalid(found);
  const expiresMs = expires_at === undefined ? undefined : parseExpiry(expires_at, context.nowMs);
  if (context.maker !== undefined) checkMaker(context.maker, order, expiresMs);
  return {
    ...order,
    scopes: SCOPES.filter((scope) => order.scopes.includes(scope)),
    ...(expiresMs === undefined ? {} : { expires_at: new Date(expiresMs).toISOString() }),
  };
}

const QUOTA_CHANGE = z.strictObject({
  events_per_day: QUOTA.events_per_day.nullable(),
  bytes_per_day: QUOTA.bytes_per_day.nullable(),
  stored_bytes: QUOTA.stored_bytes.nullable(),
});

/** A change of a token's quota: a missing kind stays, null removes it. */
export type QuotaChange = z.infer<typeof QUOTA_CHANGE>;

/** @throws ServiceError `invalid_body` for an invalid change. */
export function parseQuotaChange(value: unknown): QuotaChange {
  const parsed = QUOTA_CHANGE.safeParse(value);
  if (parsed.success) return parsed.data;
  const names = formatChoices(Object.keys(QUOTA));
  throw invalid(
    `a change of a token may have only ${names}, each a whole number from 1, or null for none`,
  );
}

type Order = Omit<z.infer<typeof ORDER>, 'expires_at'>;

function issueSentence(issue: z.core.$ZodIssue | undefined): string {
  const [name] = issue?.path ?? [];
  const list = LISTS.get(name);
  if (list !== undefined) {
    return `${String(name)} must be a list of 1 to ${NARROWED_NAMES_MAX} ${list}; leave it out for all`;
  }
  if (issue?.code === 'unrecognized_keys') {
    const known = Object.keys(ORDER.shape);
    return `a token must be described by ${formatChoices(known)}; got ${issue.keys.map(echo).join(', ')}`;
  }
  if (typeof name === 'string' && name in QUOTA) return `${name} must be a whole number from 1`;
  return name === undefined ? 'a token must be described by a JSON object' : (issue?.message ?? '');
}

function combinationError(order: Order): string | undefined {
  const { scopes, projects, sources, endpoints, default_source } = order;
  const isBound = projects !== undefined || sources !== undefined || endpoints !== undefined;
  if (scopes.includes('manage') && isBound) {
    return 'a token with the scope manage sees all of the service: it cannot be bound to projects, sources or endpoints';
  }
  const readsEndpoints = scopes.includes('query') || scopes.includes('explore');
  if (endpoints !== undefined && !readsEndpoints) {
    return 'endpoints are for tokens with the scope query or explore';
  }
  const isLimited = Object.keys(QUOTA).some((name) => name in order);
  if (isLimited && !scopes.includes('ingest')) {
    return `${formatChoices(Object.keys(QUOTA))} are for tokens with the scope ingest`;
  }
  if (default_source === undefined) return undefined;
  if (!scopes.includes('ingest')) return 'default_source is for tokens with the scope ingest';
  if (sources?.includes(default_source) === false) {
    return `default_source must be one of sources, ${sources.join(', ')}; got ${echo(default_source)}`;
  }
  return undefined;
}

function unknownName(order: Order, known: OrderContext): string | undefined {
  const { sources = [], default_source, endpoints = [] } = order;
  const named = default_source === undefined ? sources : [...sources, default_source];
  const source = named.find((name) => !known.sources.includes(name));
  if (source !== undefined)
    return `there is no source ${echo(source)}${hint(source, known.sources)}`;
  const endpointsKnown = known.endpoints;
  if (endpointsKnown === undefined) return undefined;
  const endpoint = endpoints.find(
    (name) => !endpointsKnown.includes(isUuid(name) ? name.toLowerCase() : name),
  );
  if (endpoint === undefined) return undefined;
  return `there is no saved query ${echo(endpoint)}${hint(endpoint, endpointsKnown)}`;
}

function parseExpiry(text: string, nowMs: number): number {
  const us = parseIsoTimestampUs(text);
  if (us === undefined) throw invalid(`expires_at must be an ISO 8601 time; got ${echo(text)}`);
  const expiresMs = Math.floor(Number(us) / 1000);
  if (expiresMs > nowMs) return expiresMs;
  const now = new Date(nowMs).toISOString();
  throw invalid(`expires_at must be in the future, after ${now}; got ${echo(text)}`);
}

function checkMaker(maker: Grant, order: Order, expiresMs: number | undefined): void {
  const missing = order.scopes.find((scope) => !maker.scopes.includes(scope));
  if (missing !== undefined) {
    throw new ServiceError(
      'forbidden',
      `the token ${maker.name} does not have the scope ${missing}, and cannot give it`,
    );
  }
  if (maker.expiresMs === undefined || (expiresMs ?? Infinity) <= maker.expiresMs) return;
  const end = new Date(maker.expiresMs).toISOString();
  throw new ServiceError(
    'forbidden',
    `the token ${maker.name} expires at ${end}: a token that it makes must have an expires_at no later than that`,
  );
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_body', message);
}
