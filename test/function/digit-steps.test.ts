import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { UUID_BYTES, unpackHex, unpackUuid } from '../../engine/column/number-vectors.ts';
import { ByteDfa, GAVE_UP } from '../../engine/function/regex/byte-dfa.ts';
import { byteProgramOf, runeProgramOf } from '../../engine/function/regex/byte-program.ts';
import { DigitSteps } from '../../engine/function/regex/digit-steps.ts';

const LIMITS = { tableMax: 1e6, membersMax: 1e6, workMax: 1e9, progressMin: 0 };
/** From too small for most patterns to large enough for most, so that both cases below are met often. */
const small = fc
  .constantFrom(200, 400, 800, 1_600, 3_200)
  .map((tableMax) => ({ tableMax, membersMax: tableMax + 100, workMax: 1e6, progressMin: 0 }));

function automatonOf(pattern: string, limits = LIMITS): ByteDfa {
  const runes = runeProgramOf(RE2JS.compile(pattern));
  const bytes = runes && byteProgramOf(runes);
  ok(bytes !== undefined);
  return new ByteDfa(bytes, limits);
}

const part = fc.constantFrom(
  ...['[0-9]{5,}', '[a-f]+', '[0-9]', '7', '-', 'a', '[0-9a-f]{8}-', '.*', '.', '4', '(?:0|ff)'],
  ...['^', '$', '\\b', '[^0]+', 'g', '(?i:A)', '[0-9a-f]{4}', '(?:ab)*'],
);
const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
const packed = fc.uint8Array({ minLength: UUID_BYTES + 4, maxLength: UUID_BYTES + 4 });
const before = fc.constantFrom('', '/', '12345', 'ab-', '0');

/** The state behind digits that were written out. */
function writtenOut(dfa: ByteDfa, state: number, text: Uint8Array, end: number): number {
  return dfa.step(state, text, 0, end);
}

function stateBehind(dfa: ByteDfa, text: string): number {
  const bytes = Buffer.from(text, 'latin1');
  return dfa.step(dfa.start(), bytes, 0, bytes.length);
}

test('packed digits lead where they lead written out', () => {
  fc.assert(
    fc.property(pattern, before, packed, fc.nat(32), (source, start, bytes, digitCount) => {
      const dfa = automatonOf(source);
      const steps = new DigitSteps(dfa);
      const text = new Uint8Array(64);
      const state = stateBehind(dfa, start);
      for (const at of [0, 3]) {
        const hexEnd = unpackHex(bytes, at, digitCount, text, 0);
        equal(
          steps.behindHex(state, bytes, at, digitCount),
          writtenOut(dfa, state, text, hexEnd),
          source,
        );
        const uuidEnd = unpackUuid(bytes, at, text, 0);
        equal(steps.behindUuid(state, bytes, at), writtenOut(dfa, state, text, uuidEnd), source);
      }
    }),
  );
});

test('where the automaton begins anew, packed digits tell nothing, or the same', () => {
  let toldCount = 0;
  let untoldCount = 0;
  const texts = fc.array(packed, { minLength: 1 });
  fc.assert(
    fc.property(pattern, small, before, texts, (source, limits, start, all) => {
      const dfa = automatonOf(source, limits);
      const whole = automatonOf(source);
      const steps = new DigitSteps(dfa);
      const text = new Uint8Array(64);
      for (const bytes of all) {
        const { generation } = dfa;
        const state = stateBehind(dfa, start);
        if (state < 0 || generation !== dfa.generation) continue;
        const behind = steps.behindUuid(state, bytes, 0);
        if (behind === GAVE_UP || generation !== dfa.generation) {
          untoldCount++;
          continue;
        }
        toldCount++;
        const end = unpackUuid(bytes, 0, text, 0);
        const expected = writtenOut(whole, stateBehind(whole, start), text, end);
        equal(dfa.matchesAtEnd(behind), whole.matchesAtEnd(expected), source);
      }
    }),
  );
  ok(toldCount > 0 && untoldCount > 0, `${toldCount} told, ${untoldCount} not`);
});

test('of automata with very many states packed digits are written out', () => {
  const dfa = automatonOf('(?:0|1)[0-9a-f]{12}g');
  const steps = new DigitSteps(dfa);
  const bytes = Uint8Array.from(
    { length: UUID_BYTES * 256 },
    (_, n) => (n * n * 167 + (n >> 3) * 31) % 251,
  );
  const text = new Uint8Array(64);
  let toldCount = 0;
  let untoldCount = 0;
  for (let at = 0; at < bytes.length; at += UUID_BYTES) {
    const behind = steps.behindHex(dfa.start(), bytes, at, 32);
    const end = unpackHex(bytes, at, 32, text, 0);
    if (behind === GAVE_UP) untoldCount++;
    else toldCount++;
    if (behind !== GAVE_UP) equal(behind, writtenOut(dfa, dfa.start(), text, end));
  }
  ok(toldCount > 0 && untoldCount > 0, `${toldCount} told, ${untoldCount} not`);
});
