import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { decodeWtf8, encodeWtf8 } from '../../engine/column/wtf8.ts';
import { byteProgramOf, runeProgramOf } from '../../engine/function/regex/byte-program.ts';
import {
  GroupFinder,
  type GroupFinderLimits,
  REGEX_GROUP_BYTES_MAX,
} from '../../engine/function/regex/text-matcher.ts';
import { budgetOf } from '../support/budget.ts';
import { pattern, text } from '../support/random-patterns.ts';

/** `undefined` for a pattern with too many classes of too many characters. */
function finderOf(
  source: string,
  group: number,
  limits?: GroupFinderLimits,
): GroupFinder | undefined {
  const runes = runeProgramOf(RE2JS.compile(source));
  const bytes = runes && byteProgramOf(runes);
  return bytes && new GroupFinder(bytes, group, limits);
}

/** The text of the group; null where it took no part, `'no match'` and `'not known'`. */
function found(finder: GroupFinder, whole: string): string | null {
  // Texts lie among others.
  const bytes = encodeWtf8(`<${whole}>`);
  const isFound = finder.find(bytes, 1, bytes.length - 1);
  if (isFound === undefined) return 'not known';
  if (!isFound) return 'no match';
  return finder.start < 0 ? null : decodeWtf8(bytes, finder.start, finder.end);
}

/** What `found` is to give, by RE2 itself. An empty match behind a text is none. */
function wanted(source: string, group: number, whole: string): string | null {
  const matcher = RE2JS.compile(source).matcher(whole);
  if (!matcher.find(0)) return 'no match';
  if (matcher.start() === whole.length && whole !== '') return 'no match';
  const start = matcher.start(group);
  return start < 0 ? null : whole.slice(start, matcher.end(group));
}

const RUNS = budgetOf('WEIR_REGEX_RUNS', { fast: 300, all: 5_000 });

/** One of the groups of a pattern; 0 is its match. */
function groupsOf(source: string): readonly number[] {
  return Array.from({ length: RE2JS.compile(source).groupCount() + 1 }, (_, group) => group);
}

test('each group of the first match is where RE2 has it', () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      for (const group of groupsOf(source)) {
        const finder = finderOf(source, group);
        fc.pre(finder !== undefined);
        for (const each of texts) {
          equal(found(finder, each), wanted(source, group, each), JSON.stringify([group, each]));
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test('a finder whose table is full says that it does not know, and never errs', () => {
  let knownCount = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 4, maxLength: 8 }), (source, texts) => {
      const finder = finderOf(source, 0, { tableMax: 120, membersMax: 12 });
      fc.pre(finder !== undefined);
      for (const each of texts) {
        const is = found(finder, each);
        if (is === 'not known') equal(found(finder, each), 'not known', 'it has given up for ever');
        else equal(is, wanted(source, 0, each), JSON.stringify(each));
        if (is !== 'not known') knownCount++;
      }
    }),
    { numRuns: RUNS },
  );
  ok(knownCount > RUNS / 2, `${knownCount} answers`);
});

test('a match is the first one, and of those the preferred one', () => {
  const of = (source: string, whole: string, group = 1): string | null =>
    found(finderOf(source, group)!, whole);
  deepEqual(
    [
      of('/([a-z]+)/v1', '/x/auth/v1/auth'),
      of('(a+)(?:b|$)', 'aac aab'),
      of('(a|ab)c?', 'abc'),
      of('(a*?)b', 'aab'),
      of('(?:(a)|b)*', 'ab'),
      of('(?:(a)|b)+c', 'bbc'),
      of('([^/]{2,})$', '/ab/c/def'),
      of('x*', 'aaa', 0),
      of('x*$', 'aaa', 0),
      of('$', '', 0),
      of('é(.)', 'née日'),
    ],
    ['auth', 'aa', 'a', 'aa', 'a', null, 'def', '', 'no match', '', 'e'],
  );
});

test('a text that is too long is not looked at', () => {
  const finder = finderOf('(b)', 1)!;
  equal(found(finder, `${'a'.repeat(REGEX_GROUP_BYTES_MAX - 1)}b`), 'b');
  equal(found(finder, `${'a'.repeat(REGEX_GROUP_BYTES_MAX)}b`), 'not known');
});
