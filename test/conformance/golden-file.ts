import { readFileSync } from 'node:fs';
import { typeName } from '../../engine/column/type.ts';
import { pathInRepository } from '../support/source-files.ts';
import type { GoogleAnswer } from './google-sql.ts';
import { type GoogleValue, googleJson } from './google-value.ts';

/** What Google's engine answered to one case. */
export type Golden = {
  /** The key of the case. */
  readonly case: string;
  /** Whether the text itself is refused, or a value met at run time; not the words. */
  readonly error?: 'compile' | 'run';
  /** Names and types of the columns, and the values of the rows. */
  readonly columns?: readonly (readonly [name: string, type: string])[];
  readonly rows?: readonly (readonly GoogleValue[])[];
};

export function goldenOf(key: string, answer: GoogleAnswer): Golden {
  if (answer.error !== undefined) {
    const { phase, message } = answer.error;
    if (phase === 'unsupported') throw new Error(`Google's engine cannot run ${key}: ${message}`);
    return { case: key, error: phase };
  }
  return {
    case: key,
    columns: answer.columns.map(({ name, type }) => [name, typeName(type)]),
    rows: answer.rows,
  };
}

/** One line of a golden file: a case as one JSON object. */
export function goldenLine(golden: Golden): string {
  if (golden.error !== undefined) return JSON.stringify(golden);
  const [key, columns] = [JSON.stringify(golden.case), JSON.stringify(golden.columns)];
  return `{"case":${key},"columns":${columns},"rows":${googleJson(golden.rows!)}}`;
}

/** `golden/<name>.jsonl`: one JSON object to a line. */
export function goldenPath(name: string): string {
  return pathInRepository(`test/conformance/golden/${name}.jsonl`);
}

/** The answers of a golden file by the keys of their cases. */
export function readGoldens(name: string): ReadonlyMap<string, Golden> {
  const lines = readFileSync(goldenPath(name), 'utf8').trimEnd().split('\n');
  const goldens = lines.map((line) => JSON.parse(line) as Golden);
  return new Map(goldens.map((golden) => [golden.case, golden]));
}
