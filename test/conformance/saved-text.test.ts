import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf } from './comparison.ts';
import { readGoldens } from './golden-file.ts';
import { type GoogleValue, googleJson } from './google-value.ts';
import { definitionText, type SavedDataSet, savedDataSets } from './saved-text.ts';
import { type WeirAnswer, WeirUnderTest, waysOf } from './weir-answer.ts';

const GOLDENS = readGoldens('saved-texts');

test('the built-in definitions answer as they do in Google’s engine, over random rows', () => {
  deepEqual(savedDataSets().flatMap(differences), []);
});

function differences({ nowUs, tables, calls }: SavedDataSet): readonly string[] {
  const weir = new WeirUnderTest(tables);
  return calls.flatMap(({ key, definition, parameters }, number) =>
    waysOf(number).flatMap((way) => {
      const query = { sql: definitionText(definition), parameters, nowUs };
      const answer = withoutMetadata(weir.answer(query, way));
      const difference = differenceOf(answer, GOLDENS.get(key)!);
      return difference === undefined ? [] : [`${key} (${JSON.stringify(way)}): ${difference}`];
    }),
  );
}

/** Rows stand in the order of the text, whether or not its outermost query says so. */
function withoutMetadata(answer: WeirAnswer): WeirAnswer {
  if (answer.error !== undefined) return answer;
  const kept = answer.columns.flatMap(({ name }, index) => (name === 'metadata' ? [] : [index]));
  const rows = answer.rows.map((row) => {
    const values = JSON.parse(row) as readonly GoogleValue[];
    return googleJson(kept.map((index) => values[index]!));
  });
  return { ...answer, columns: kept.map((index) => answer.columns[index]!), rows, isOrdered: true };
}

test('the golden answers of the definitions are not all empty and belong to these calls', () => {
  const keys = savedDataSets().flatMap(({ calls }) => calls.map(({ key }) => key));
  deepEqual([...GOLDENS.keys()], keys);
  for (const definition of ['logs.all', 'functions.invocation-stats', 'usage.api-counts']) {
    const goldens = [...GOLDENS.values()].filter((golden) => golden.case.includes(definition));
    const filled = goldens.filter(({ rows }) => rows !== undefined && rows.length > 1);
    ok(filled.length > goldens.length / 2, `${definition}: ${filled.length} of ${goldens.length}`);
  }
});
