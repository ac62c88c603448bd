import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { must } from '../../engine/assert.ts';
import type { SplitBlock } from '../../engine/column/vector.ts';
import { ByteDfa } from '../../engine/function/regex/byte-dfa.ts';
import { byteProgramOf, runeProgramOf } from '../../engine/function/regex/byte-program.ts';
import { WordLandings } from '../../engine/plan/evaluator/split-verdicts.ts';

function dfaOf(pattern: string): ByteDfa {
  return new ByteDfa(must(byteProgramOf(must(runeProgramOf(RE2JS.compile(pattern))))));
}

/** Words as a column has them; word `w` is in `stringCounts[w]` strings. */
function columnOf(
  words: readonly string[],
  stringCounts: readonly number[],
): Pick<SplitBlock, 'words' | 'wordStarts'> {
  const bytes = words.map((word) => Buffer.from(word));
  const offsets = new Uint32Array(words.length + 1);
  const wordStarts = new Uint32Array(words.length + 1);
  bytes.forEach((word, index) => {
    offsets[index + 1] = offsets[index]! + word.length;
    wordStarts[index + 1] = wordStarts[index]! + stringCounts[index]!;
  });
  return { words: { bytes: new Uint8Array(Buffer.concat(bytes)), offsets }, wordStarts };
}

const letter = fc.constantFrom('a', 'b', 'r', 'e', 's', 't', '7', '_', 'é');
const word = fc.string({ unit: letter, minLength: 1, maxLength: 8 });
const pattern = fc.constantFrom(
  ...[
    '/rest',
    '/re',
    'rest',
    't$',
    '^a',
    '[a-s]+7',
    '/[^/]*e',
    'é',
    '\\bre',
    '\\b',
    '(?i)REST',
    '.',
  ],
  ...['a.*t|es', 'x', '', 'b{2,}', '/(rest|best|é)$'],
);
const before = fc.constantFrom('', '/', '/r', '/b', 'a', 're', 'é');

test('words lead where stepping over each of them leads', () => {
  let usualCount = 0;
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(word, fc.nat(9), fc.integer({ min: 0, max: 3 })), {
        minLength: 1,
        maxLength: 60,
        selector: ([text]) => text,
      }),
      pattern,
      fc.array(before, { minLength: 1, maxLength: 4 }),
      (all, source, starts) => {
        const isHeld = all.map(([, count, chance]) => (count > 0 && chance > 0 ? 1 : 0));
        const entries = all.filter((_, index) => isHeld[index] === 1);
        const words = entries.map(([text]) => text);
        const column = columnOf(
          all.map(([text]) => text),
          all.map(([, count]) => count),
        );
        const held = [...all.keys()].filter((index) => isHeld[index] === 1);
        const dfa = dfaOf(source);
        const landings = new WordLandings(dfa, { ...column, isWordHeld: Uint8Array.from(isHeld) });
        for (const start of starts) {
          const bytes = Buffer.from(start);
          const state = dfa.step(dfa.start(), bytes, 0, bytes.length);
          const behind = words.map((text) =>
            dfa.step(state, Buffer.from(text), 0, Buffer.byteLength(text)),
          );
          const steps = landings.from(state);
          if (steps === undefined) {
            ok(!isHeld.includes(1), 'words that strings hold lead somewhere');
            continue;
          }
          deepEqual(new Set(steps.reached), new Set(behind));
          equal(new Set(steps.reached).size, steps.reached.length);
          const stringCount = (landing: number) =>
            entries.reduce(
              (sum, [, count], index) => sum + (behind[index] === landing ? count : 0),
              0,
            );
          for (const reached of steps.reached) ok(stringCount(steps.usual) >= stringCount(reached));
          const others = held.filter((_, index) => behind[index] !== steps.usual);
          deepEqual(
            [...must(steps.unusual)].sort((left, right) => left - right),
            others,
          );
          usualCount += others.length < words.length / 2 ? 1 : 0;
        }
      },
    ),
    { numRuns: 400 },
  );
  ok(usualCount > 100, `${usualCount} times most words led to one state`);
});

test('words that lead elsewhere are not listed where they are many', () => {
  const words = Array.from(
    { length: 600 },
    (_, index) => `${index < 300 ? 'rest' : 'other'}${index}`,
  );
  const dfa = dfaOf('/rest');
  const slash = dfa.step(dfa.start(), Buffer.from('/'), 0, 1);
  const column = columnOf(
    words,
    words.map(() => 1),
  );
  const steps = must(new WordLandings(dfa, column).from(slash));
  equal(steps.reached.length, 2);
  equal(steps.unusual, undefined);
});
