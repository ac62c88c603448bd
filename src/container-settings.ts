import { VARIABLES_READ } from './setting-table.ts';
import type { Environment } from './settings.ts';

/** Prefixes of the variables that the analytics container reads for itself and its database. */
const PREFIXES = ['LOGFLARE_', 'PHX_', 'DB_', 'POSTGRES_BACKEND_', 'GOOGLE_', 'LIBCLUSTER_'];

/**
 * Lists the container's variables in this environment that weir ignores, because it has no
 * database.
 */
export function unneededSettings(environment: Environment): readonly string[] {
  return Object.keys(environment)
    .filter(
      (name) =>
        PREFIXES.some((prefix) => name.startsWith(prefix)) && !VARIABLES_READ.includes(name),
    )
    .sort();
}
