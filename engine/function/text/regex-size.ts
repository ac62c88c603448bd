import { REGEX_INSTRUCTION_STEPS } from '../../limits.ts';

/** Steps (`work-meter.ts`) that it takes to compile any regular expression, however short … */
export const COMPILE_STEPS = 1_500;

/** … and a class of Unicode, whose hundreds of ranges are copied … */
export const CLASS_STEPS = 10_000;

/** … and a range beyond ASCII in any case: 120,000 letters are looked at for their other cases, in some milliseconds. */
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
