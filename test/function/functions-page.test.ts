import { deepEqual, equal } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { aggregateFunctionNames } from '../../engine/aggregate/registry.ts';
import { isOperator, scalarFunctionNames } from '../../engine/function/registry.ts';
import { windowFunctionNames } from '../../engine/operator/window-functions.ts';
import { functionNames, SYNTAX_FORMS } from '../../engine/plan/binder/special-forms.ts';
import { engineJson, segmentsOfEvents } from '../random-sql/engine-answer.ts';
import { readText } from '../support/source-files.ts';
import { type FunctionEntry, functionFamilies, withFunctions } from './functions-page.ts';

const PATH = 'docs/sql-functions.md';

const ENTRIES = functionFamilies().flatMap(({ entries }) => entries);

test('docs/sql-functions.md has the functions as their entries have them', () => {
  const page = withFunctions(readText(PATH));
  if (process.env['WEIR_UPDATE_GOLDEN'] === '1') writeFileSync(PATH, page);
  equal(readText(PATH), page);
});

test('each function and operator is in one family, once', () => {
  const registered = [
    ...functionNames(),
    ...scalarFunctionNames().filter(isOperator),
    ...SYNTAX_FORMS.map(({ name }) => name),
  ];
  deepEqual(ENTRIES.map(({ name }) => name).sort(), registered.sort());
  const all = [...scalarFunctionNames(), ...aggregateFunctionNames(), ...windowFunctionNames()];
  deepEqual(
    all.filter((name) => !registered.includes(name)),
    [],
  );
});

test('each function has sentences of its own, and an example that calls it', () => {
  const sentences = ENTRIES.map(({ doc: [sentence] }) => sentence);
  deepEqual(
    sentences.filter((each, index) => !/^\S.*\.$/.test(each) || sentences.indexOf(each) < index),
    [],
  );
  const calls = ENTRIES.filter(({ name }) => functionNames().includes(name));
  deepEqual(
    calls.filter(({ name, doc: [, expression] }) => !expression.includes(`${name.toUpperCase()}(`)),
    [],
  );
});

test('each example has the value that stands beside it, as bound and as optimised', () => {
  const wrong = ENTRIES.flatMap((entry) => {
    const [, expression, value] = entry.doc;
    const wanted = literalOf(value, 'plain');
    return (['plain', 'optimized'] as const)
      .map((form) => literalOf(exampleOf(entry), form))
      .filter((got) => got === 'error' || got !== wanted)
      .map((got) => `${expression} is ${got}, not ${value}`);
  });
  deepEqual(wrong, []);
});

test('values of two types are told apart', () => {
  const texts = ['1', '1.0', "'1'", "JSON '1'", 'NULL', '[1]', 'TRUE', "b'1'"];
  const literals = texts.map((text) => literalOf(text, 'plain'));
  equal(new Set(literals).size, texts.length, literals.join(' '));
  equal(literalOf('1 / 0', 'plain'), 'error');
});

/** The example as one value, as `FunctionDoc` says. */
function exampleOf({ kind, doc: [, expression] }: FunctionEntry): string {
  return kind === 'window' ? `ARRAY(SELECT ${expression})` : `(SELECT ${expression})`;
}

const SEGMENTS = segmentsOfEvents([{ id: 'e', timestampUs: 0, metadata: { status: 200 } }], 0);

/** The value of an expression as a literal, which tells its type; `error` when it has none. */
function literalOf(expression: string, form: 'plain' | 'optimized'): string {
  return engineJson(`SELECT FORMAT('%T', ${expression}) AS literal`, SEGMENTS, form);
}
