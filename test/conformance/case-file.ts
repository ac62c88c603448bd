import {
  BOOL,
  DATETIME,
  FLOAT64,
  INT64,
  type SqlType,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import type { SqlValue } from '../../engine/column/value.ts';
import { filesBelow, type SourceFile } from '../support/source-files.ts';

/**
 * One query and what it is about. Cases stand in `cases/*.sql`, in this form:
 *
 *     -- tests: LIMIT, OFFSET
 *     SELECT id FROM logs ORDER BY id LIMIT 2;
 *     -- @count INT64 = 2
 *     SELECT id FROM logs ORDER BY id LIMIT @count;
 *
 * A statement ends with a semicolon at the end of a line. `tests:` names, until the next one, the
 * clauses and functions under test, as CONFORMANCE.md lists them; functions and operators by their
 * names in the engine's registries. A line `-- @name TYPE = value` gives the next statement a
 * parameter, the value as JSON (TIMESTAMP and DATETIME in microseconds). Other comments at the
 * start of a line are for readers. The tables are those of `data-tables.ts`. A function that the recorded engine lacks has no
 * case but an entry in `NOT_RECORDED` (`conformance-page.ts`).
 */
export type ConformanceCase = {
  /** File and line, for messages. */
  readonly place: string;
  readonly tags: readonly string[];
  readonly sql: string;
  readonly parameters: readonly CaseParameter[];
};

export type CaseParameter = {
  readonly name: string;
  readonly type: SqlType;
  readonly value: SqlValue;
};

const TYPES: ReadonlyMap<string, SqlType> = new Map(
  [BOOL, INT64, FLOAT64, STRING, TIMESTAMP, DATETIME].map((type) => [type.kind, type]),
);

const CASE_FILES: readonly SourceFile[] = filesBelow('test/conformance/cases', '.sql');

/** All cases, in the order of files and lines; no two have the same text and parameters. */
export function readCases(files: readonly SourceFile[] = CASE_FILES): readonly ConformanceCase[] {
  const cases = files.flatMap(casesOf);
  const places = new Map<string, string>();
  for (const each of cases) {
    const earlier = places.get(caseKey(each));
    if (earlier !== undefined) throw new Error(`${each.place} is the same as ${earlier}`);
    places.set(caseKey(each), each.place);
  }
  return cases;
}

/** What tells a case from all others: its text, and the parameters if it has any. */
export function caseKey({ sql, parameters }: ConformanceCase): string {
  const values = parameters.map(({ name, type, value }) => `@${name} ${type.kind} = ${value}`);
  return [...values, sql].join('; ');
}

function casesOf({ path, text }: SourceFile): readonly ConformanceCase[] {
  const cases: ConformanceCase[] = [];
  let tags: readonly string[] = [];
  let parameters: CaseParameter[] = [];
  let lines: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const place = `${path}:${index + 1}`;
    const comment = lines.length === 0 ? /^--\s*(.*)$/.exec(line)?.[1] : undefined;
    if (comment !== undefined) {
      if (comment.startsWith('tests:')) tags = tagsOf(comment.slice('tests:'.length));
      else if (comment.startsWith('@')) parameters.push(parameterOf(comment, place));
      continue;
    }
    if (line.trim() === '' && lines.length === 0) continue;
    lines.push(line);
    if (!line.trimEnd().endsWith(';')) continue;
    if (tags.length === 0) throw new Error(`${place}: a case needs a line "-- tests:" above it`);
    const sql = lines.join('\n').trimEnd().slice(0, -1);
    cases.push({ place, tags, sql, parameters });
    lines = [];
    parameters = [];
  }
  if (lines.length > 0) throw new Error(`${path}: the last statement has no semicolon at its end`);
  return cases;
}

/** Names with commas and blanks between them. */
function tagsOf(text: string): readonly string[] {
  return text
    .split(/,\s+/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

function parameterOf(comment: string, place: string): CaseParameter {
  const [, name, kind, json] = /^@(\w+) (\w+) = (.*)$/.exec(comment) ?? [];
  const type = TYPES.get(kind ?? '');
  if (name === undefined || type === undefined) {
    throw new Error(`${place}: a parameter is written "-- @name TYPE = value"; got "${comment}"`);
  }
  return { name, type, value: JSON.parse(json!) as SqlValue };
}
