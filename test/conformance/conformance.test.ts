import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression } from '../../engine/plan/expression.ts';
import { readText } from '../support/source-files.ts';
import { type ConformanceCase, caseKey, readCases } from './case-file.ts';
import { differenceOf } from './comparison.ts';
import { conformancePage, NOT_RECORDED, registeredNames } from './conformance-page.ts';
import { DATA_TABLES, NOW_US } from './data-tables.ts';
import { DIFFERENCES } from './differences.ts';
import { readGoldens } from './golden-file.ts';
import { WEIR_WAYS, WeirUnderTest, waysOf } from './weir-answer.ts';

const CASES = readCases();
const GOLDENS = readGoldens('cases');
const BY_KEY = new Map(CASES.map((each) => [caseKey(each), each]));
const WAYS = new Map(CASES.map((each, number) => [caseKey(each), waysOf(number)]));
const LISTED = new Set(DIFFERENCES.flatMap((difference) => difference.cases));
const weir = new WeirUnderTest(DATA_TABLES);

/** How weir, run the ways that this case is run, differs from Google's answer. */
function differences(each: ConformanceCase): readonly string[] {
  const golden = GOLDENS.get(caseKey(each))!;
  return WAYS.get(caseKey(each))!.flatMap((way) => {
    const difference = differenceOf(weir.answer({ ...each, nowUs: NOW_US }, way), golden);
    if (difference === undefined) return [];
    const how = `${way.optimized ? 'optimised' : 'as bound'}, ${way.sealed ? 'sealed' : 'open'}`;
    return [`${each.place} (${how}): ${each.sql}\n    ${difference}`];
  });
}

test('every case has a golden answer, and every golden answer a case', () => {
  deepEqual(
    CASES.filter((each) => !GOLDENS.has(caseKey(each))).map(({ place }) => place),
    [],
  );
  deepEqual(
    [...GOLDENS.keys()].filter((key) => !BY_KEY.has(key)),
    [],
  );
});

test('every case has Google’s answer, as bound and optimised, open and sealed', () => {
  const cases = CASES.filter((each) => !LISTED.has(caseKey(each)));
  deepEqual(cases.flatMap(differences), []);
});

test('every listed difference still exists, in every way of running it', () => {
  const agreeing = [...LISTED].filter((key) => {
    const each = BY_KEY.get(key);
    return each === undefined || differences(each).length < WAYS.get(key)!.length;
  });
  deepEqual(agreeing, []);
});

test('every unsupported case is refused before or during the run, and no other is', () => {
  const wrong = DIFFERENCES.flatMap(({ kind, cases }) =>
    cases.filter((key) => {
      const each = BY_KEY.get(key)!;
      const { error } = weir.answer({ ...each, nowUs: NOW_US }, WEIR_WAYS[0]!);
      return kind === 'unsupported' && error === undefined;
    }),
  );
  deepEqual(wrong, []);
});

test('every function and operator of the registries is tested by a case that calls it', () => {
  const called = new Set<string>();
  for (const each of CASES) {
    // What another case has called already need not be looked for again.
    if (each.tags.every((tag) => called.has(tag))) continue;
    for (const name of calledBy(each)) called.add(name);
  }
  const untested = registeredNames().filter((name) => !called.has(name) && !NOT_RECORDED.has(name));
  deepEqual(untested, []);
});

test('CONFORMANCE.md is up to date with the cases', () => {
  equal(readText('test/conformance/CONFORMANCE.md'), conformancePage(CASES, GOLDENS));
});

/** Functions that a case is tagged with and that its plan does call. */
function calledBy(each: ConformanceCase): ReadonlySet<string> {
  const { error } = weir.answer({ ...each, nowUs: NOW_US }, WEIR_WAYS[0]!);
  if (error !== undefined) return new Set();
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== 'object' || node === null) return;
    const { op, name } = node as Partial<Expression> & { readonly name?: unknown };
    const isAggregate = 'distinct' in node && 'constants' in node;
    if ((op === 'call' || isAggregate) && typeof name === 'string') names.add(name);
    Object.values(node).forEach(visit);
  };
  visit(weir.bind(each.sql, each.parameters).plan);
  return new Set(each.tags.filter((tag) => names.has(tag)));
}
