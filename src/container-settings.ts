import { VARIABLES_READ } from './setting-table.ts';
import type { Environment } from './settings.ts';

/** How the names begin of what the analytics container reads, itself and for its database. */
const PREFIXES = ['LOGFLARE_', 'PHX_', 'DB_', 'POSTGRES_BACKEND_', 'GOOGLE_', 'LIBCLUSTER_'];

/** The container's settings in an environment that mean nothing to weir: it has no database. */
export function unneededSettings(environment: Environment): readonly string[] {
  return Object.keys(environment)
    .filter(
      (name) =>
        PREFIXES.some((prefix) => name.startsWith(prefix)) && !VARIABLES_READ.includes(name),
    )
    .sort();
}
