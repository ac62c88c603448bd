import { DiskError } from '../ingest/disk/disk.ts';
import { systemCode, systemReason } from '../ingest/system-reason.ts';

/** Why the service cannot start, as the person who starts it is told. */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}

/** What to do about an error of the system, by its code. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'Free some space, then start again'],
  ['EDQUOT', 'Free some space, then start again'],
  [
    'EMFILE',
    'Raise the limit of open files (ulimit -n, or LimitNOFILE of systemd), then start again',
  ],
  ['ENFILE', 'Close some or raise the limit of the system (fs.file-max), then start again'],
]);

/** A sentence with what to do about an error of the system; `undefined` where nothing is known. */
export function findAdvice(error: unknown): string | undefined {
  return ADVICE.get(systemCode(error) ?? '');
}

/** What an error of the system says, in words: what it is of, and why. */
export function systemSentence(error: Error): string {
  if (error instanceof DiskError || systemCode(error) === undefined) return error.message;
  const path = 'path' in error ? `${String(error.path)} cannot be used: ` : '';
  return path + systemReason(error);
}

/** A start that an error of the system ended, with the reason and what to do; any other error as it is. */
export function asStartError(error: unknown, dataDir: string): unknown {
  const advice = error instanceof StartError ? undefined : findAdvice(error);
  if (advice === undefined || !(error instanceof Error)) return error;
  return new StartError(`DATA_DIR ${dataDir}: ${systemSentence(error)}. ${advice}`, error);
}
