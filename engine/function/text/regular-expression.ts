import { RE2JS, RE2JSSyntaxException } from 're2js';
import { encodeWtf8 } from '../../column/wtf8.ts';
import {
  PATTERNS_KEPT_MAX,
  REGEX_LENGTH_MAX,
  REGEX_PROGRAM_MAX,
  REGEX_STEPS_MAX,
  REGEX_TEST_STEPS_MAX,
} from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import type { NeededLiterals } from '../regex/needed-literals.ts';
import { type GroupMatcher, textMatcher } from '../regex/text-matcher.ts';
import { spendSteps } from '../work-meter.ts';
import { compileStepsOf, instructionsOf } from './regex-size.ts';
import { holdsText } from './text-places.ts';

/** A compiled RE2 expression: unanchored, in time linear in the text. */
export type CompiledRegex = GroupMatcher & {
  /**
   * Present when the pattern is a plain text: `test` is then the same as searching for it, case and
   * all, and callers may search bytes instead.
   */
  readonly literal?: string | undefined;
  readonly program: RE2JS;
  /**
   * To be called before `program` looks for a match in so many characters: counts its work, or throws when that is too
   * much. Each match may cost as much as the first: it is known that there is none longer only at the end.
   */
  readonly spend: (length: number) => void;
};

/** Half of a pair on its own; with the flag `u` whole pairs are one code point and do not match. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

const compiled = new Map<string, CompiledRegex>();
let latest: { readonly pattern: string; readonly regex: CompiledRegex } | undefined;

/** Throws a QueryError `invalid_regular_expression` for what RE2 does not take, or is too long. */
export function compileRegex(pattern: string): CompiledRegex {
  // Row after row asks for the same pattern.
  if (latest?.pattern === pattern) return latest.regex;
  const regex = compiled.get(pattern) ?? compileNew(pattern);
  // A pattern in use moves to the end; the one at the front has been idle longest.
  compiled.delete(pattern);
  compiled.set(pattern, regex);
  if (compiled.size > PATTERNS_KEPT_MAX) {
    for (const oldest of compiled.keys()) {
      compiled.delete(oldest);
      break;
    }
  }
  latest = { pattern, regex };
  return regex;
}

function compileNew(pattern: string): CompiledRegex {
  const size = Buffer.byteLength(pattern);
  if (size > REGEX_LENGTH_MAX) {
    throw new QueryError(
      'invalid_regular_expression',
      `regular expression must have at most ${REGEX_LENGTH_MAX} bytes; got ${size}`,
    );
  }
  const program = compileProgram(pattern);
  const literal = literalOf(pattern);
  const instructionCount = instructionsOf(pattern);
  const spend = (length: number) => {
    spendSteps(checkedSteps(instructionCount, length, REGEX_STEPS_MAX));
  };
  const lengthMax = Math.floor(REGEX_TEST_STEPS_MAX / Math.max(1, instructionCount));
  const matcher = textMatcher(program, (text) => {
    if (literal !== undefined) return holdsText(text, literal);
    if (text.length > lengthMax) {
      // Where it lies in a block, what it lacks or its automaton tell of the longest text.
      if (!mayMatch(matcher.needed, text)) return false;
      const bytes = encodeWtf8(text);
      const found = matcher.automaton()?.test(bytes, 0, bytes.length);
      if (found !== undefined) return found;
    }
    spendSteps(checkedSteps(instructionCount, text.length, REGEX_TEST_STEPS_MAX));
    return program.test(text);
  });
  return { ...matcher, literal, program, spend };
}

/** Whether a text holds what a match needs. */
function mayMatch(needed: NeededLiterals, text: string): boolean {
  return needed.every((clause) => clause.some((literal) => holdsText(text, literal)));
}

/** At worst each character of the text meets each instruction. */
function checkedSteps(instructionCount: number, length: number, stepsMax: number): number {
  const steps = instructionCount * length;
  if (steps <= stepsMax) return steps;
  throw new QueryError(
    'query_limit',
    `a regular expression that is ${instructionCount} characters long, repetitions written out, is looked for in at most ` +
      `${Math.floor(stepsMax / instructionCount)} characters; got ${length}`,
  );
}

function compileProgram(pattern: string): RE2JS {
  const instructionCount = instructionsOf(pattern);
  if (instructionCount > REGEX_PROGRAM_MAX) {
    throw new QueryError(
      'invalid_regular_expression',
      `regular expression must have at most ${REGEX_PROGRAM_MAX} characters once its repetitions are written out; got ${instructionCount}`,
    );
  }
  spendSteps(compileStepsOf(pattern));
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    throw new QueryError(
      'invalid_regular_expression',
      `regular expression ${JSON.stringify(pattern)} is not valid: ${reason}`,
    );
  }
}

/**
 * The text that a pattern without operators matches, escapes resolved; `undefined` where that is
 * not plain to see. A lone surrogate could match half of a pair here and never does in RE2.
 */
export function literalOf(pattern: string): string | undefined {
  if (Buffer.byteLength(pattern) > REGEX_LENGTH_MAX) return undefined;
  if (LONE_SURROGATE.test(pattern)) return undefined;
  let literal = '';
  for (let index = 0; index < pattern.length; index++) {
    let unit = pattern[index] as string;
    if (unit === '\\') {
      index++;
      unit = pattern[index] ?? '';
      if (!/^[!-/:-@[-`{-~]$/.test(unit)) return undefined;
    } else if ('.+*?()|[]{}^$'.includes(unit)) {
      return undefined;
    }
    literal += unit;
  }
  return literal;
}
