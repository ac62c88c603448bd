import { readFileSync } from 'node:fs';
import type { Kind } from '../workload/workload.ts';
import type { Peer } from './peer.ts';
import type { AnswerRow } from './question.ts';
import type { Timing } from './timing.ts';

/** One question of one engine. */
export type MeasuredAnswer = {
  readonly name: string;
  /** `null` when the engine cannot be asked this. */
  readonly rows: readonly AnswerRow[] | null;
  /** `null` likewise, and where only first calls are timed and the question has none. */
  readonly timing: Timing | null;
  /** Milliseconds of each of the first calls, where these are timed. */
  readonly firstMs?: readonly number[];
};

/** All questions of one engine, as they are kept between the stages. */
export type MeasuredResult = {
  readonly name: string;
  readonly version: string;
  readonly quantiles: Peer['quantiles'];
  readonly counts: Readonly<Partial<Record<Kind, number>>>;
  readonly answers: readonly MeasuredAnswer[];
};

export function readResult(path: string): MeasuredResult {
  return JSON.parse(readFileSync(path, 'utf8')) as MeasuredResult;
}
