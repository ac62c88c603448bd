import { showProgress } from '../../src/command/progress.ts';
import { figuresOf, hashOf } from '../measure.ts';
import type { AnswerRow, Question } from '../peers/question.ts';
import { digestOf } from './answer-digest.ts';
import type { CallGroup } from './calls.ts';

/** An engine that answers one question after another. */
export interface AskedEngine {
  readonly name: string;
  /**
   * Resolves once the answer is there; this is timed. What it resolves to reads the rows of it, at once; `undefined`
   * where the engine gave up the call, for its time or its memory.
   */
  ask(question: Question): Promise<(() => readonly AnswerRow[]) | undefined>;
  /** Bytes that its process has read so far, of files in memory too. */
  readBytes(): number;
}

/** One group of calls; arrays have a value for each call. */
export type GroupResult = {
  readonly name: string;
  readonly ms: readonly number[];
  readonly readBytes: readonly number[];
  readonly rowCounts: readonly number[];
  /** `undefined` for a call that was given up. */
  readonly digests: readonly (string | undefined)[];
};

/** Asks each question once. `beforeGroup` is called before each group. */
export async function askGroups(
  asked: AskedEngine,
  groups: readonly CallGroup[],
  beforeGroup: () => void,
): Promise<readonly GroupResult[]> {
  const results: GroupResult[] = [];
  for (const { name, questions } of groups) {
    showProgress(`${asked.name}: ${name}`);
    beforeGroup();
    const calls: Call[] = [];
    for (const question of questions) calls.push(await askOnce(asked, question));
    const result = {
      name,
      ms: calls.map(({ ms }) => ms),
      readBytes: calls.map(({ readBytes }) => readBytes),
      rowCounts: calls.map(({ rowCount }) => rowCount),
      digests: calls.map(({ digest }) => digest),
    };
    showProgress('');
    console.log(`${asked.name}: ${name}: ${timesOf(result)} ms; ${readOf(result)} MB read`);
    results.push(result);
  }
  return results;
}

type Call = {
  readonly ms: number;
  readonly readBytes: number;
  readonly rowCount: number;
  readonly digest: string | undefined;
};

async function askOnce(asked: AskedEngine, question: Question): Promise<Call> {
  const readBefore = asked.readBytes();
  const fromMs = performance.now();
  const readRows = await asked.ask(question);
  const ms = performance.now() - fromMs;
  const readBytes = asked.readBytes() - readBefore;
  if (readRows === undefined) return { ms, readBytes, rowCount: 0, digest: undefined };
  const rows = readRows();
  return { ms, readBytes, rowCount: rows.length, digest: digestOf(question, rows) };
}

/** p50, p99 and the longest, and how many calls were given up. */
export function timesOf({ ms, digests }: GroupResult): string {
  const { p50, p99 } = figuresOf(ms);
  const texts = [p50, p99, Math.max(...ms)].map((value) => value.toFixed(value < 100 ? 1 : 0));
  const givenUpCount = digests.filter((digest) => digest === undefined).length;
  return `${texts.join(' / ')}${givenUpCount === 0 ? '' : ` (${givenUpCount} given up)`}`;
}

/** Megabytes: p50 and the most. */
export function readOf({ readBytes }: GroupResult): string {
  const { p50 } = figuresOf(readBytes);
  return [p50, Math.max(...readBytes)].map((bytes) => (bytes / 1e6).toFixed(2)).join(' / ');
}

/** Asks these in turns for so long. */
export async function warmUp(
  asked: AskedEngine,
  questions: readonly Question[],
  forMs: number,
): Promise<void> {
  const endMs = performance.now() + forMs;
  for (let call = 0; performance.now() < endMs; call++) {
    showProgress(`${asked.name}: warming up`);
    await asked.ask(questions[call % questions.length]!);
  }
}

/** Twelve digits for all answers of a run. */
export function resultHash(groups: readonly GroupResult[]): string {
  return hashOf(groups.flatMap(({ digests }) => digests).join());
}
