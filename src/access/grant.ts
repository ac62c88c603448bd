import type { Reach } from '../../engine/plan/reach.ts';
import type { Source } from '../../ingest/source.ts';
import type { Definition } from '../definition/definition.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';

export const SCOPES = ['ingest', 'query', 'manage'] as const;

/** `ingest`: post logs. `query`: call endpoints. `manage`: see and change the service itself. */
export type Scope = (typeof SCOPES)[number];

/** All there are, or those of a list. */
type Allowed = 'all' | readonly string[];

/** What the bearer of a token may do. */
export type Grant = {
  /** Of the token; names may come again when it is gone. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Project keys that it reads and posts for. */
  readonly projects: Allowed;
  /** Names of the sources that it reads and posts to. */
  readonly sources: Allowed;
  /** Names or ids of the endpoints that it calls. */
  readonly endpoints: Allowed;
  /** Name of the source of posts that name none. */
  readonly defaultSource?: string | undefined;
  /** Milliseconds since the epoch, on the machine's clock. */
  readonly expiresMs?: number | undefined;
};

/** What the bearer of a token may read, whatever is asked. */
export function toReach({ projects, sources }: Grant): Reach {
  return { projects, sources };
}

/** @throws ServiceError when the token does not have the scope. */
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
 * `source` is what was found under the name that was called, if anything was. A token that is bound to sources gets
 * one answer for those of others and for those that do not exist, so that it does not learn which exist.
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
 * The source of posts that name none: its name is the operator's, and not told to a sender who may not use it.
 *
 * @throws ServiceError when the token is bound to other sources.
 */
export function authorizeDefaultSource(grant: Grant, source: Pick<Source, 'name'>): void {
  if (!mayUseSource(grant, source)) throw outOfReach(grant, 'the source of posts that name none');
}

/**
 * Events as they are stored, and not what an endpoint makes of them: a token that is narrowed to endpoints has
 * none of them.
 *
 * @throws ServiceError when the token is narrowed to other sources, or to endpoints.
 */
export function authorizeEvents(
  grant: Grant,
  called: string,
  source: Pick<Source, 'name'> | undefined,
): void {
  if (grant.endpoints !== 'all') {
    throw outOfReach(grant, 'events of sources, but for its endpoints');
  }
  authorizeSource(grant, called, source);
}

/** @throws ServiceError when the token is bound to other projects. */
export function authorizeProject(grant: Grant, project: string): void {
  if (grant.projects === 'all' || grant.projects.includes(project)) return;
  throw outOfReach(grant, `the project ${echo(project)}`);
}

/** Whether a token may be told names that it does not know: one that is bound to some must not learn others. */
export function mayLearnNames({ sources, endpoints }: Grant): boolean {
  return sources === 'all' && endpoints === 'all';
}

type Named = Pick<Definition, 'id' | 'name' | 'aliases'>;

export function mayCall({ endpoints }: Grant, { id, name, aliases }: Named): boolean {
  return endpoints === 'all' || [id, name, ...aliases].some((known) => endpoints.includes(known));
}

/**
 * `definition` is what was found under the name that was called. A narrowed token is told the same of what it may
 * not call and of what is not there, so that it does not learn what is.
 *
 * @throws ServiceError when the token is narrowed to other endpoints.
 */
export function authorizeCall(grant: Grant, called: string, definition: Named | undefined): void {
  if (grant.endpoints === 'all') return;
  if (definition !== undefined && mayCall(grant, definition)) return;
  throw outOfReach(grant, `the endpoint ${echo(called)}`);
}

function outOfReach({ name }: Grant, what: string): ServiceError {
  return new ServiceError('out_of_reach', `the token ${name} is not for ${what}`);
}
