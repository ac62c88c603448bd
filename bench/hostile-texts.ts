/**
 * How long does one step of the main thread take, at most, over SQL texts that a caller sends to hold it up? Part of
 * `hostile.ts`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CALLER_SQL_LENGTH_MAX } from '../src/limits.ts';
import { largestAllowed } from '../test/hostile/text-work.ts';
import { HOSTILE_SANDBOX, HOSTILE_TEXTS, largestText } from '../test/hostile/texts.ts';
import { pathInRepository } from '../test/support/source-files.ts';
import { barText } from './measure.ts';
import { ServiceProcess } from './service-process.ts';

const STEP_MS_MAX = 50;

/** So many of the worst texts are told. */
const TOLD_COUNT = 10;

/** Each text so often: bound, then planned twice, as what comes again is planned to be remembered. */
const CALLS = 3;

/** A text with a step that took too long is tried so often, and the median counts. */
const ROUNDS = 5;

/** With room for the blanks that make a text another one. */
const LENGTH_MAX = CALLER_SQL_LENGTH_MAX - ROUNDS;

/** How long a caller waits who then leaves: what a worker does is not what is measured. */
const PATIENCE_MS = 500;

/** As `step-meter.mjs` writes them. */
type Steps = { readonly longest: readonly { readonly ms: number; readonly isStolen: boolean }[] };

type Measured = {
  readonly name: string;
  readonly length: number;
  readonly ms: number;
  readonly outcome: string;
};

/** Prints the longest step over the texts, every so manieth of them, and the worst of them. */
export async function measureTexts(command: readonly string[], every: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-hostile-texts-'));
  const stepsTo = join(folder, 'steps.json');
  writeFileSync(join(folder, 'any.sql'), HOSTILE_SANDBOX);
  const hooked = ['--import', pathInRepository('bench/step-meter.mjs'), ...command];
  const environment = { ENDPOINTS_DIR: folder, WORKERS: '1', CACHE_LIMIT: '0', STEPS_TO: stepsTo };
  const service = await ServiceProcess.start(hooked, environment);
  try {
    const texts = HOSTILE_TEXTS.filter((_, index) => index % every === 0);
    // Code that is not compiled yet takes ten times as long.
    for (const { withCount } of texts) await call(service, withCount(50));
    const measured: Measured[] = [];
    for (const text of texts) {
      const { name } = text;
      const allowed = largestAllowed(text, LENGTH_MAX);
      for (const sql of new Set([allowed, largestText(text, LENGTH_MAX)])) {
        measured.push({ name, length: sql.length, ...(await measure(service, sql, stepsTo)) });
      }
    }
    tell(measured);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The longest step of a text; the median of several rounds where it took too long in the first. */
async function measure(
  service: ServiceProcess,
  sql: string,
  stepsTo: string,
): Promise<Pick<Measured, 'ms' | 'outcome'>> {
  const first = await measureOnce(service, sql, stepsTo);
  if (first.ms <= STEP_MS_MAX) return first;
  const rounds = [first];
  for (let round = 1; round < ROUNDS; round++) {
    // Another text, byte for byte: what is remembered of the last one takes no time.
    rounds.push(await measureOnce(service, ' '.repeat(round) + sql, stepsTo));
  }
  rounds.sort((left, right) => left.ms - right.ms);
  return rounds[ROUNDS >> 1]!;
}

/** The longest step while a text was called, but for those in which the host took a processor away. */
async function measureOnce(
  service: ServiceProcess,
  sql: string,
  stepsTo: string,
): Promise<Pick<Measured, 'ms' | 'outcome'>> {
  rmSync(stepsTo, { force: true });
  service.signal('SIGUSR2');
  let outcome = '';
  for (let count = 0; count < CALLS; count++) outcome = await call(service, sql);
  service.signal('SIGUSR2');
  const { longest } = await written(stepsTo);
  const ms = Math.max(0, ...longest.filter(({ isStolen }) => !isStolen).map((step) => step.ms));
  return { ms, outcome };
}

/** How it ended. */
async function call({ url, token }: ServiceProcess, sql: string): Promise<string> {
  try {
    const response = await fetch(`${url}/api/endpoints/hostile.any`, {
      method: 'POST',
      headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const { error } = (await response.json()) as { error?: { code?: string } };
    return `${response.status} ${error?.code ?? ''}`.trim();
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
    return 'its caller left';
  }
}

/** The file is there once the service has handled the signal. */
async function written(path: string): Promise<Steps> {
  for (let look = 0; look < 1000; look++) {
    await wait(10);
    try {
      return JSON.parse(readFileSync(path, 'utf8')) as Steps;
    } catch {
      // Not there yet, or not all of it.
    }
  }
  throw new Error('the service has not told its steps');
}

function tell(measured: readonly Measured[]): void {
  const worst = measured.toSorted((left, right) => right.ms - left.ms);
  for (const { name, length, ms, outcome } of worst.slice(0, TOLD_COUNT)) {
    console.log(`${ms.toFixed(1)} ms: ${name}, ${length} characters: ${outcome}`);
  }
  const max = worst[0]?.ms ?? 0;
  const bar = barText(`<= ${STEP_MS_MAX} ms`, max <= STEP_MS_MAX);
  console.log(
    `${measured.length} SQL texts: a step of the main thread takes at most ${max.toFixed(1)} ms ${bar}`,
  );
}
