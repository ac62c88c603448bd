import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkReach,
  EVERYTHING,
  NOTHING,
  reachText,
  withinReach,
} from '../../engine/plan/reach.ts';
import { QueryError } from '../../engine/query-error.ts';

const NAMES = fc.oneof(
  fc.constant('all' as const),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'a b', '"a"', 'all', '["a"]', ''), { maxLength: 4 }),
);
const REACH = fc.record({ projects: NAMES, sources: NAMES });

test('reaches have the same text just when they hold the same', () => {
  const content = (names: 'all' | readonly string[]) => (names === 'all' ? 'all' : new Set(names));
  fc.assert(
    fc.property(REACH, REACH, (left, right) => {
      const contents = [left, right].map(({ projects, sources }) => ({
        projects: content(projects),
        sources: content(sources),
      }));
      let isSame = true;
      try {
        deepEqual(contents[0], contents[1]);
      } catch {
        isSame = false;
      }
      equal(reachText(left) === reachText(right), isSame);
    }),
    { numRuns: 2_000 },
  );
});

test('a scan reads what is asked for and in reach, and nothing else', () => {
  const reach = { projects: ['a', 'b'], sources: 'all' as const };
  deepEqual(withinReach('a', EVERYTHING), { projectKey: 'a', reach: undefined });
  deepEqual(withinReach(undefined, EVERYTHING), { projectKey: undefined, reach: undefined });
  deepEqual(withinReach('a', reach), { projectKey: 'a', reach: ['a'] });
  deepEqual(withinReach('c', reach), { projectKey: 'c', reach: [] });
  deepEqual(withinReach(undefined, reach), { projectKey: undefined, reach: ['a', 'b'] });
  deepEqual(withinReach(undefined, { ...reach, projects: ['a'] }), {
    projectKey: 'a',
    reach: ['a'],
  });
  deepEqual(withinReach('a', NOTHING), { projectKey: 'a', reach: [] });
  deepEqual(withinReach(undefined, NOTHING), { projectKey: undefined, reach: [] });
});

test('a plan that reads a source out of reach is refused with what may be read, and not with its name', () => {
  const scans = [
    { source: 'x', reach: [] },
    { source: 'y', reach: [] },
  ];
  checkReach(scans, EVERYTHING);
  checkReach(scans, { projects: [], sources: ['y', 'x'] });
  checkReach([], NOTHING);
  const refused = (sources: readonly string[]) => () =>
    checkReach(scans, { projects: 'all', sources });
  const error = (message: string) => (thrown: unknown) =>
    thrown instanceof QueryError && thrown.code === 'out_of_reach' && thrown.message === message;
  const got = 'the query reads a source that its caller may not read; its caller may read';
  throws(refused(['x', 'z']), error(`${got} x, z`));
  throws(refused([]), error(`${got} no source`));
});

test('a plan that asks for projects out of reach and nothing else is refused', () => {
  const reach = { projects: ['a', 'b'], sources: 'all' as const };
  const scanOf = (projectKey: string | undefined) => ({
    source: 'x',
    ...withinReach(projectKey, reach),
  });
  throws(() => checkReach([scanOf('c'), scanOf('"'), scanOf('c')], reach), {
    code: 'out_of_reach',
    message: 'the query asks for the project "c", "\\""; its caller may read "a", "b"',
  });
  for (const other of ['a', undefined]) checkReach([scanOf('c'), scanOf(other)], reach);
  checkReach([scanOf('c')], EVERYTHING);
});
