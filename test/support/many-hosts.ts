import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/**
 * From now on each look at the name of this host finds another. So no process can be looked for by its id: every lock
 * is one of another host, and is watched.
 */
export function liveOnManyHosts(): void {
  let count = 0;
  os.hostname = () => `host-${count++}`;
  syncBuiltinESMExports();
}
