import type { Tenant } from '../../engine/pool/tenant-sets.ts';
import type { Grant } from './grant.ts';

/** Who shares fairly with others: all that is sent with one token. */
export function toTenant(grant: Grant): Tenant {
  return grant.id;
}
