import { RE2JS, RE2JSSyntaxException } from 're2js';
import { keepRecent } from '../../column/caches.ts';
import { encodeWtf8, LONE_SURROGATE } from '../../column/wtf8.ts';
import {
  PATTERNS_KEPT_MAX,
  REGEX_INSTRUCTION_STEPS,
  REGEX_LENGTH_MAX,
  REGEX_PROGRAM_MAX,
  REGEX_STEPS_MAX,
  REGEX_TEST_STEPS_MAX,
} from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import {
  type GroupMatcher,
  type NeededLiterals,
  type TextMatcher,
  textMatcher,
} from '../regex/text-matcher.ts';
import { spendSteps } from '../work-meter.ts';
import { holdsText } from './text-units.ts';

/** A compiled RE2 expression: unanchored, in time linear in the text. */
type CompiledRegex = GroupMatcher & {
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

/** Throws a QueryError `invalid_regular_expression` for what RE2 does not take, or is too long. */
export const compileRegex = keepRecent(PATTERNS_KEPT_MAX, compileNew);

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

/** Steps (`work-meter.ts`) that it takes to compile any regular expression, however short. */
export const COMPILE_STEPS = 1_500;

/** Steps to compile a class of Unicode, whose hundreds of ranges are copied. */
export const CLASS_STEPS = 10_000;

/** Steps to compile a range beyond ASCII in any case: 120,000 letters are looked at for their other cases. */
export const FOLDED_RANGE_STEPS = 400_000;

/**
 * About how many instructions a regular expression compiles to: its characters, and what a repetition
 * `{n,m}` stands behind as often as it may be. Never throws: of what is no pattern it is some number.
 */
export function instructionsOf(pattern: string): number {
  /** Instructions of each group that is open, the whole as the first; `last`: of its newest item. */
  const open = [{ total: 0, last: 0 }];
  for (const [token, repetition] of pattern.matchAll(TOKENS)) {
    const group = open.at(-1)!;
    if (repetition !== undefined) {
      group.total += group.last * (timesOf(repetition) - 1);
      group.last *= timesOf(repetition);
    } else if (token === '(') {
      open.push({ total: 0, last: 0 });
    } else if (token === ')' && open.length > 1) {
      open.pop();
      const outer = open.at(-1)!;
      outer.last = group.total + 2;
      outer.total += outer.last;
    } else if (!'*+?'.includes(token)) {
      group.last = 1;
      group.total += 1;
    } else {
      group.last += 1;
      group.total += 1;
    }
  }
  return open.reduce((sum, { total }) => sum + total, 0);
}

/** About how many steps (`work-meter.ts`) it takes to compile a regular expression. */
export function compileStepsOf(pattern: string): number {
  const classCount = pattern.match(UNICODE_CLASSES)?.length ?? 0;
  const isInAnyCase = FOLDING_FLAG.test(pattern);
  const rangeCount = isInAnyCase ? (pattern.match(WIDE_RANGES)?.length ?? 0) : 0;
  return (
    COMPILE_STEPS +
    REGEX_INSTRUCTION_STEPS * instructionsOf(pattern) +
    CLASS_STEPS * classCount +
    FOLDED_RANGE_STEPS * rangeCount
  );
}

const UNICODE_CLASSES = /\\[pP]/g;

/** `(?i)`, or `i` among other flags, perhaps one that is taken away. */
const FOLDING_FLAG = /\(\?[a-zA-Z-]*i/;

/** The upper end of a range that may lie beyond ASCII, as it is or in hexadecimal. */
const WIDE_RANGES = /-(?:\\x|[^ -~])/g;

/** A repetition, an escaped character, a class of characters, or one character. */
const TOKENS = /\{(\d+(?:,\d*)?)\}|\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]|./gs;

/** How often the item of `{n}`, `{n,}` or `{n,m}` is written out. */
function timesOf(repetition: string): number {
  const [least, most] = repetition.split(',');
  return Math.max(1, Number(least) + (most === '' ? 1 : 0), Number(most ?? 0));
}

/**
 * The pattern that is this text and no more; one too long for a pattern has no automaton. The text has no
 * lone surrogates: half a pair is found within whole ones, and a pattern finds it nowhere there.
 */
export function literalMatcher(text: string): TextMatcher {
  const test = (value: string) => holdsText(value, text);
  const pattern = RE2JS.quote(text);
  if (Buffer.byteLength(pattern) > REGEX_LENGTH_MAX) {
    return { test, needed: [[text]], automaton: () => undefined };
  }
  return { ...compileRegex(pattern), test };
}
