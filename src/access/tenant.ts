import type { Tenant } from '../../engine/index.ts';
import type { Grant } from './grant.ts';

/** The tenant of a grant: the unit of fair sharing is everything sent with one token. */
export function toTenant(grant: Grant): Tenant {
  return grant.id;
}
