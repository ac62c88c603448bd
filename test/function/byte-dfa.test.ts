import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { encodeWtf8 } from '../../engine/column/wtf8.ts';
import { ByteDfa, type ByteDfaLimits } from '../../engine/function/regex/byte-dfa.ts';
import {
  byteProgramOf,
  runeProgramOf,
  utf8Ranges,
} from '../../engine/function/regex/byte-program.ts';
import { budgetOf } from '../support/budget.ts';
import { pattern, text } from '../support/random-patterns.ts';

function compile(pattern: string, limits?: ByteDfaLimits): ByteDfa {
  const dfa = find(pattern, limits);
  ok(dfa !== undefined, `the program of ${pattern} is small`);
  return dfa;
}

/** `undefined` for a pattern with too many classes of too many characters. */
function find(pattern: string, limits?: ByteDfaLimits): ByteDfa | undefined {
  const runes = runeProgramOf(RE2JS.compile(pattern));
  ok(runes !== undefined, `the program of ${pattern} is known`);
  const bytes = byteProgramOf(runes);
  return bytes && new ByteDfa(bytes, limits);
}

function tests(dfa: ByteDfa, text: string): boolean | undefined {
  const bytes = encodeWtf8(text);
  return dfa.test(bytes, 0, bytes.length);
}

const RUNS = budgetOf('WEIR_REGEX_RUNS', { fast: 300, all: 5_000 });
/** Of texts in pieces, and of automata whose table is full. */
const MORE_RUNS = budgetOf('WEIR_REGEX_MORE_RUNS', { fast: 500, all: 2_000 });

test('the automaton finds a pattern in just the texts in which RE2 does', () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 8 }), (source, texts) => {
      const dfa = find(source);
      fc.pre(dfa !== undefined);
      const wanted = RE2JS.compile(source);
      for (const each of texts) equal(tests(dfa, each), wanted.test(each), JSON.stringify(each));
    }),
    { numRuns: RUNS },
  );
});

test('a text may be read in pieces, cut at any byte', () => {
  fc.assert(
    fc.property(pattern, text, fc.array(fc.nat(40)), (source, whole, cuts) => {
      const dfa = find(source);
      fc.pre(dfa !== undefined);
      const bytes = encodeWtf8(whole);
      let state = dfa.start();
      let from = 0;
      for (const to of [
        ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b),
        bytes.length,
      ]) {
        state = dfa.step(state, bytes, from, to);
        from = to;
      }
      equal(dfa.matchesAtEnd(state), RE2JS.compile(source).test(whole));
    }),
    { numRuns: MORE_RUNS },
  );
});

test('an automaton whose table is full begins anew, or says that it does not know', () => {
  const tiny = { tableMax: 300, membersMax: 40, workMax: 400, progressMin: 1 };
  let knownCount = 0;
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 4, maxLength: 8 }), (source, texts) => {
      const dfa = find(source, tiny);
      fc.pre(dfa !== undefined);
      const wanted = RE2JS.compile(source);
      for (const each of texts) {
        const found = tests(dfa, each);
        if (found === undefined) equal(tests(dfa, 'a'), undefined, 'it has given up for ever');
        else equal(found, wanted.test(each), JSON.stringify(each));
        if (found !== undefined) knownCount++;
      }
    }),
    { numRuns: MORE_RUNS },
  );
  ok(knownCount > MORE_RUNS / 2, `${knownCount} answers`);
});

test('states from before the table was full are told by the generation', () => {
  const dfa = compile('[ab]*a[ab]{6}c', {
    tableMax: 600,
    membersMax: 500,
    workMax: 1e6,
    progressMin: 0,
  });
  const generation = dfa.generation;
  const bytes = encodeWtf8('abbabaabbbaaabababbbabaabbaab'.repeat(8));
  dfa.test(bytes, 0, bytes.length);
  ok(dfa.generation > generation);
  equal(tests(dfa, 'xaabbaabc'), true);
  equal(tests(dfa, 'xbabbaabc'), false);
});

test('what can match at the start only is dead behind another start', () => {
  const dfa = compile('^https://(abc|def).*\\.example\\.com/');
  const at = (start: string) => dfa.step(dfa.start(), encodeWtf8(start), 0, start.length);
  equal(dfa.matchesAtEnd(at('https://xyz')), false);
  ok(at('https://xyz') < 0, 'dead');
  ok(at('https://abc') >= 0, 'open');
  ok(at('https://abcx.example.com/') < 0, 'decided');
  equal(dfa.matchesAtEnd(at('https://abcx.example.com/')), true);
});

test('a pattern that would need a million states is given up soon', () => {
  const startMs = performance.now();
  const dfa = compile('(?:a|b)*a(?:a|b){20}c');
  let seed = 1;
  const bytes = Uint8Array.from({ length: 100_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed > 2 ** 30 ? 0x61 : 0x62;
  });
  equal(dfa.test(bytes, 0, bytes.length), undefined);
  ok(performance.now() - startMs < 2_000);
});

test('classes of too many characters are left to RE2', () => {
  ok(find('\\pL{3}') !== undefined);
  equal(find('\\pL{100}'), undefined);
});

test('ranges of code points are those of their bytes', () => {
  const points = [
    0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdfff, 0xe000, 0xffff, 0x10000,
  ];
  const point = fc.oneof(fc.constantFrom(...points, 0x10ffff), fc.nat(0x10ffff));
  fc.assert(
    fc.property(point, point, point, (one, other, sought) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const bytes = encodeWtf8(String.fromCodePoint(sought));
      const isWithin = utf8Ranges(low, high).some(
        (ranges) =>
          ranges.length === 2 * bytes.length &&
          bytes.every((byte, i) => ranges[2 * i]! <= byte && byte <= ranges[2 * i + 1]!),
      );
      equal(isWithin, low <= sought && sought <= high);
    }),
    { numRuns: 3_000 },
  );
  deepEqual(utf8Ranges(0x61, 0x7a), [[0x61, 0x7a]]);
});
