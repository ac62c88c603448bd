/** Why the service cannot start, as the person who starts it is told. */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}

/** What to do about an error of the system, by its code. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space, then start again'],
  ['EDQUOT', 'The disk quota is used up: free some space, then start again'],
  [
    'EMFILE',
    'The process may not open more files: raise its limit (ulimit -n, or LimitNOFILE of systemd), then start again',
  ],
  [
    'ENFILE',
    'The system has too many files open: close some or raise its limit (fs.file-max), then start again',
  ],
]);

/** A sentence with what to do about an error of the system; `undefined` where nothing is known. */
export function findAdvice(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ADVICE.get(code);
}

/** A start that an error of the system ended, with the reason and what to do; any other error as it is. */
export function asStartError(error: unknown, dataDir: string): unknown {
  const advice = error instanceof StartError ? undefined : findAdvice(error);
  if (advice === undefined || !(error instanceof Error)) return error;
  return new StartError(`DATA_DIR ${dataDir}: ${error.message}. ${advice}`, error);
}
