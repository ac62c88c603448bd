/**
 * What do those cost the others who ask for too much?
 *
 *   npm run bench:hostile
 *   node --import tsx bench/hostile.ts --size small --uncompiled   as the tests run it
 *
 * Patterns that hold up one kind of engine or another, each compiled and tried on texts of 100 KB: how long until there is
 * an answer or a refusal. Then SQL texts that take long to bind and to plan (`hostile-texts.ts`). Then a service with one
 * thread: queries that are stopped at a limit, or whose caller leaves, over HTTP; and how long a usual query takes before
 * and after each, median of several. Then posts of all formats (`workload/hostile-posts.ts`): how long is the longest
 * step of the main thread.
 *
 *   npm run bench:hostile -- --only posts      or patterns, texts, bombs
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileRegex } from '../engine/function/text/regular-expression.ts';
import { QueryError } from '../engine/query-error.ts';
import { measurePosts } from './hostile-steps.ts';
import { measureTexts } from './hostile-texts.ts';
import { barText, environmentLine, figuresOf } from './measure.ts';
import { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { evilPatterns, evilTexts } from './workload/evil-patterns.ts';
import { ENDLESS, rows, STOPPED } from './workload/query-bombs.ts';

type Size = {
  /** Each so manieth pattern and bomb is tried. */
  readonly every: number;
  /** Usual queries before and after each bomb. */
  readonly usualCount: number;
  /** Bytes of each hostile post. */
  readonly bodySize: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { every: 12, usualCount: 3, bodySize: 50_000 }],
  ['medium', { every: 1, usualCount: 7, bodySize: 1_000_000 }],
  ['large', { every: 1, usualCount: 31, bodySize: 11_900_000 }],
]);

const PATTERN_MS_MAX = 50;

/** As fast as before, for a machine that others use, too. */
const SLOWER_MAX = 1.5;

/** Takes any query of its callers. */
const ANY = `-- id: 00000000-0000-4000-8000-000000000000
-- name: bench.any
-- sandbox: enabled
WITH one AS (SELECT 1 AS a) SELECT a FROM one
`;

/** How long a caller waits who then leaves. */
const PATIENCE_MS = 500;

/** Too long for the main thread, so that the one worker answers it. */
const USUAL = `SELECT MOD(a, 7) AS b, COUNT(*) AS n, SUM(a) AS sum FROM ${rows(200_000)} AS a GROUP BY b ORDER BY b`;

await main();

async function main(): Promise<void> {
  const { size, command, own } = readSizeOptions(SIZES, ['only']);
  console.log(environmentLine());
  const isAsked = (part: string): boolean => (own['only'] ?? part) === part;
  if (isAsked('patterns')) measurePatterns(size);
  if (isAsked('texts')) await measureTexts(command, size.every);
  if (isAsked('bombs')) await measureBombs(command, size);
  if (isAsked('posts')) await measurePosts(command, size);
}

function measurePatterns({ every }: Size): void {
  const patterns = evilPatterns().filter((_, index) => index % every === 0);
  const texts = evilTexts();
  // What a thread has compiled before is not what is measured.
  for (const text of texts) compileRegex('(a|b)*c?!').test(text);
  const took: number[] = [];
  let refusedCount = 0;
  let slowest = '';
  for (const pattern of patterns) {
    for (const text of texts) {
      const startMs = performance.now();
      if (!isAnswered(pattern, text)) refusedCount += 1;
      const ms = performance.now() - startMs;
      if (took.every((other) => other < ms)) slowest = pattern;
      took.push(ms);
    }
  }
  const { p50, p99 } = figuresOf(took);
  const max = Math.max(...took);
  const bar = barText(`<= ${PATTERN_MS_MAX} ms`, max <= PATTERN_MS_MAX);
  console.log(
    `${patterns.length} patterns, ${texts.length} texts: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, at most ${max.toFixed(1)} ms ${bar}, by ${slowest.slice(0, 60)}; ${refusedCount} refused`,
  );
}

/** False where a limit refuses it. */
function isAnswered(pattern: string, text: string): boolean {
  try {
    compileRegex(pattern).test(text);
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

async function measureBombs(
  command: readonly string[],
  { every, usualCount }: Size,
): Promise<void> {
  const bombs = [...STOPPED, ...ENDLESS.map(([name, text]) => ({ name, text }))].filter(
    (_, index) => index % every === 0,
  );
  const folder = mkdtempSync(join(tmpdir(), 'weir-hostile-'));
  writeFileSync(join(folder, 'any.sql'), ANY);
  const service = await ServiceProcess.start(command, {
    ENDPOINTS_DIR: folder,
    WORKERS: '1',
    CACHE_LIMIT: '0',
  });
  try {
    const ratios: number[] = [];
    for (const { name, text } of bombs) {
      const before = await usualMs(service, usualCount);
      const outcome = await throwBomb(service, text);
      const after = await usualMs(service, usualCount);
      ratios.push(after / before);
      console.log(`${name}: ${outcome}; then ${after.toFixed(1)} ms, before ${before.toFixed(1)}`);
    }
    const { p50 } = figuresOf(ratios);
    const max = Math.max(...ratios);
    const bar = barText(`<= ${SLOWER_MAX}`, max <= SLOWER_MAX);
    console.log(
      `after ÷ before, of ${ratios.length} bombs: median ${p50.toFixed(2)}, at most ${max.toFixed(2)} ${bar}`,
    );
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** What a usual query takes, median of several; a thread that starts anew counts. */
async function usualMs(service: ServiceProcess, count: number): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const startMs = performance.now();
    const response = await ask(service, USUAL);
    const body = await response.text();
    if (response.status !== 200) throw new Error(`a usual query was answered with ${body}`);
    took.push(performance.now() - startMs);
  }
  return figuresOf(took).p50;
}

/** How it ended, and after how long. */
async function throwBomb(service: ServiceProcess, text: string): Promise<string> {
  const startMs = performance.now();
  const tookText = (): string => `${(performance.now() - startMs).toFixed(0)} ms`;
  try {
    const response = await ask(service, text, AbortSignal.timeout(PATIENCE_MS));
    const { error } = (await response.json()) as { error?: { code?: string } };
    return `${response.status} ${error?.code ?? ''} after ${tookText()}`;
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
    return `its caller left after ${tookText()}`;
  }
}

function ask({ url, token }: ServiceProcess, sql: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/api/endpoints/bench.any`, {
    method: 'POST',
    headers: { 'X-API-KEY': token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ sql }),
    ...(signal && { signal }),
  });
}
