import { DiskError } from '../ingest/disk/disk.ts';
import { systemCode, systemReason } from '../ingest/system-reason.ts';

/** Why the service cannot start, for the person who starts it. */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}

/** What to do about an operating-system error, by its code. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'Free some space, then start again'],
  ['EDQUOT', 'Free some space, then start again'],
  [
    'EMFILE',
    'Raise the limit of open files (ulimit -n, or LimitNOFILE of systemd), then start again',
  ],
  ['ENFILE', 'Close some or raise the limit of the system (fs.file-max), then start again'],
]);

/** A sentence with what to do about an operating-system error; `undefined` if none is known. */
export function findAdvice(error: unknown): string | undefined {
  return ADVICE.get(systemCode(error) ?? '');
}

/** Describes an operating-system error in words: the file and the reason. */
export function systemSentence(error: Error): string {
  if (error instanceof DiskError || systemCode(error) === undefined) return error.message;
  const path = 'path' in error ? `${String(error.path)} cannot be used: ` : '';
  return path + systemReason(error);
}

/**
 * Turns an operating-system error that ended a start into a StartError with the reason and what to
 * do. Returns any other error unchanged.
 */
export function asStartError(error: unknown, dataDir: string): unknown {
  const advice = error instanceof StartError ? undefined : findAdvice(error);
  if (advice === undefined || !(error instanceof Error)) return error;
  return new StartError(`DATA_DIR ${dataDir}: ${systemSentence(error)}. ${advice}`, error);
}
