import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { aggregateFunctionNames } from '../../engine/aggregate/registry.ts';
import { isOperator, SAFE_PREFIX, scalarFunctionNames } from '../../engine/function/registry.ts';
import { filesBelow } from '../support/source-files.ts';

const NAMES: readonly string[] = [
  ...scalarFunctionNames().filter((name) => !isOperator(name)),
  ...aggregateFunctionNames(),
];

/** Whether a text is the name of a function, or what some names begin with. */
function isNameOrStart(word: string): boolean {
  if (word === SAFE_PREFIX) return true;
  return NAMES.some((name) => name === word || (/^\w+[_.]$/.test(word) && name.startsWith(word)));
}

/** Words of other vocabularies that happen to be names of functions, by what they are compared with. */
const OTHER_WORDS: readonly (readonly [subject: RegExp, words: readonly string[]])[] = [
  [/^typeof /, ['string']],
  // Kinds of values, tokens, joins, packings and encodings.
  [/\bkind$/, ['string', 'left', 'right', 'split']],
  [/\bjoin$/, ['left', 'right']],
  [/\bencoding$/, ['float64']],
  // Fields of events, in which column they are.
  [/\b(?:field|column|fields\[column\])$/, ['timestamp']],
  [/\bextreme$/, ['min', 'max']],
  [/\bmode$/, ['safe_']],
];

/** Words in arrays that are none: kinds of joins, the modifiers of `*`, facts of an explanation. */
const OTHER_ARRAYS: ReadonlySet<string> = new Set([
  "engine/sql/query-parser.ts 'left'",
  "engine/sql/query-parser.ts 'right'",
  "engine/plan/optimize/push-filters.ts 'left'",
  "engine/plan/optimize/push-filters.ts 'right'",
  "engine/sql/query-parser.ts 'replace'",
  "engine/plan/explanation.ts 'floor'",
]);

/** A name of a function and what code compares with it, `[` for an element of an array. */
type Place = { readonly line: number; readonly subject: string; readonly word: string };

/** Where code asks whether something is such a name: by a comparison, a case, or an array, of which sets are made. */
function placesOf(text: string): readonly Place[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  );
  const places: Place[] = [];
  for (const { 0: quoted, 1: word, index } of code.matchAll(/'([^'\n]+)'/g)) {
    if (word === undefined || !isNameOrStart(word)) continue;
    const before = code.slice(0, index);
    const subject = subjectOf(before, code.slice(index + quoted.length));
    if (subject === undefined) continue;
    if (OTHER_WORDS.some(([other, words]) => other.test(subject) && words.includes(word))) continue;
    places.push({ line: before.split('\n').length, subject, word });
  }
  return places;
}

/** `undefined` where a text is not compared. */
function subjectOf(before: string, after: string): string | undefined {
  const near = before.slice(-200);
  const compared =
    /((?:typeof )?[\w.?![\]]+)\s*[!=]==\s*(?:\([^()]*\?\s*)?$/.exec(near)?.[1] ??
    /^\s*[!=]==\s*([\w.?![\]]+)/.exec(after)?.[1] ??
    /([\w.?![\]]+)\.(?:startsWith|endsWith)\($/.exec(near)?.[1];
  if (compared !== undefined) return compared;
  const label = /\n( *)case $/.exec(near);
  if (label !== null) {
    const opened = before.lastIndexOf(`\n${label[1]!.slice(2)}switch (`);
    return /switch \((.*)\) \{/.exec(before.slice(opened))?.[1];
  }
  return isElement(before) && /^\s*[,\]]/.test(after) ? '[' : undefined;
}

/** Whether the bracket that is open last is that of an array. */
function isElement(before: string): boolean {
  let closed = 0;
  for (let index = before.length - 1; index >= 0; index--) {
    const character = before[index]!;
    if (')]}'.includes(character)) closed++;
    else if ('([{'.includes(character) && --closed < 0) return character === '[';
    else if (character === ';' && closed === 0) return false;
  }
  return false;
}

test('no scalar function and no aggregate is recognised by its name outside of the folders of functions', () => {
  const found = filesBelow('engine', '.ts')
    .filter(({ path }) => !/^engine\/(function|aggregate)\//.test(path))
    .flatMap(({ path, text }) =>
      placesOf(text)
        .filter(({ subject, word }) => subject !== '[' || !OTHER_ARRAYS.has(`${path} '${word}'`))
        .map(({ line, subject, word }) => `${path}:${line} ${subject} '${word}'`),
    );
  deepEqual(found, []);
});

test('a name is found in whatever way it is asked for', () => {
  for (const code of [
    "  if (call.name === 'lower') return;",
    "  if (call?.name !== (isLast ? 'max' : 'min')) return;",
    "  if ('lower' === name) return;",
    "  switch (call.name) {\n    case 'date':\n    case 'lower':\n      return;\n  }",
    "const NAMES = new Set(['=', 'lower']);",
    "const NAMES = new Set([\n  ...['lower', 'upper'],\n]);",
    "const NAMES = new Map([['lower', 1]]);",
    "  return call.name.startsWith('regexp_') ? 1 : 0;",
  ]) {
    ok(placesOf(`\n${code}`).length > 0, code);
  }
  for (const code of [
    "  if (call.name === 'and') return;",
    "  if (join.kind === 'left') return;",
    "  return call('timestamp_trunc', [time, part]);",
    "  if (typeof value === 'string') return;",
    "  // call.name === 'lower'",
  ]) {
    deepEqual(placesOf(`\n${code}`), [], code);
  }
});
