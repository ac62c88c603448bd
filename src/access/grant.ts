import type { Reach } from '../../engine/index.ts';
import type { Source } from '../../ingest/source.ts';
import type { Definition } from '../definition/definition.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';

export const SCOPES = ['ingest', 'query', 'explore', 'manage'] as const;

/**
 * `ingest`: post logs. `query`: call endpoints. `explore`: run SQL of one's own. `manage`: see and change the service
 * itself, which includes `explore`.
 */
export type Scope = (typeof SCOPES)[number];

/** All, or only the names in a list. */
type Allowed = 'all' | readonly string[];

/** What a token allows. */
export type Grant = {
  /** The id of the token. Unlike a name, it is never reused. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Projects that it may read and post for. */
  readonly projects: Allowed;
  /** Names of the sources that it may read and post to. */
  readonly sources: Allowed;
  /** Names or ids of the endpoints that it may call. */
  readonly endpoints: Allowed;
  /** The source of posts that name none. */
  readonly defaultSource?: string | undefined;
  /** Expiry in milliseconds since the epoch, on the machine's clock. */
  readonly expiresMs?: number | undefined;
};

/** The reach of a token's queries. */
export function toReach({ projects, sources }: Grant): Reach {
  return { projects, sources };
}

/** @throws ServiceError when the token lacks the scope. */
export function authorize(grant: Grant, scope: Scope): void {
  if (grant.scopes.includes(scope)) return;
  throw new ServiceError(
    'forbidden',
    `this needs a token with the scope ${scope}; the token ${grant.name} has ${grant.scopes.join(', ')}`,
  );
}

export function mayUseSource({ sources }: Grant, { name }: Pick<Source, 'name'>): boolean {
  return sources === 'all' || sources.includes(name);
}

/**
 * `source` is the source of the called name, if it exists. A token that is bound to sources gets
 * the same answer for other sources and for missing ones, so that it cannot learn which exist.
 *
 * @throws ServiceError when the token is bound to other sources.
 */
export function authorizeSource(
  grant: Grant,
  called: string,
  source: Pick<Source, 'name'> | undefined,
): void {
  if (grant.sources === 'all') return;
  if (source !== undefined && mayUseSource(grant, source)) return;
  throw outOfReach(grant, `the source ${echo(called)}`);
}

/**
 * Checks the source of posts that name none. The error hides its name, which the operator chose,
 * from senders that may not use it.
 *
 * @throws ServiceError when the token is bound to other sources.
 */
export function authorizeDefaultSource(grant: Grant, source: Pick<Source, 'name'>): void {
  if (!mayUseSource(grant, source)) throw outOfReach(grant, 'the source of posts that name none');
}

/**
 * Checks access to stored events. A token that is bound to endpoints has none, because it may read
 * only their answers.
 *
 * @throws ServiceError when the token is bound to other sources, or to endpoints.
 */
export function authorizeEvents(
  grant: Grant,
  called: string,
  source: Pick<Source, 'name'> | undefined,
): void {
  if (grant.endpoints !== 'all') {
    throw outOfReach(grant, 'events of sources, only for its endpoints');
  }
  authorizeSource(grant, called, source);
}

/**
 * Checks that the token may see how a query is answered. A plan shows what is inside of the saved
 * queries that it reads.
 *
 * @throws ServiceError when the token is bound to endpoints.
 */
export function authorizePlan(grant: Grant): void {
  if (grant.endpoints !== 'all') throw outOfReach(grant, 'plans of queries');
}

/** @throws ServiceError when the token is bound to other projects. */
export function authorizeProject(grant: Grant, project: string): void {
  if (grant.projects === 'all' || grant.projects.includes(project)) return;
  throw outOfReach(grant, `the project ${echo(project)}`);
}

/**
 * Whether error messages may suggest names to a token. One that is bound to some names must not
 * learn others.
 */
export function mayLearnNames({ sources, endpoints }: Grant): boolean {
  return sources === 'all' && endpoints === 'all';
}

type Named = Pick<Definition, 'id' | 'name' | 'aliases'>;

export function mayCall({ endpoints }: Grant, { id, name, aliases }: Named): boolean {
  return endpoints === 'all' || [id, name, ...aliases].some((known) => endpoints.includes(known));
}

/**
 * `definition` is the definition of the called name, if it exists. A bound token gets the same
 * answer for forbidden definitions and for missing ones, so that it cannot learn which exist.
 *
 * @throws ServiceError when the token is bound to other endpoints.
 */
export function authorizeCall(grant: Grant, called: string, definition: Named | undefined): void {
  if (grant.endpoints === 'all') return;
  if (definition !== undefined && mayCall(grant, definition)) return;
  throw outOfReach(grant, `the endpoint ${echo(called)}`);
}

function outOfReach({ name }: Grant, what: string): ServiceError {
  return new ServiceError('out_of_reach', `the token ${name} is not for ${what}`);
}
