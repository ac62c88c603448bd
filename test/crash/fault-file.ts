import { readFileSync, writeFileSync } from 'node:fs';

/** What a file says is wrong with a service. */
export type FileFault = 'none' | 'full backlog' | 'full disk' | 'slow disk';

/** How long a sync waits on a slow disk: longer than any sync of a test machine that works. */
export const SLOW_SYNC_MS = 400;

export function writeFault(path: string, fault: FileFault): void {
  writeFileSync(path, fault);
}

/** What the file says; nothing is wrong while it is written. */
export function faultIn(path: string): string {
  return readFileSync(path, 'utf8');
}
