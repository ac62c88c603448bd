import { RE2JS } from 're2js';

/** What must hold between two characters, as bits of one number. */
export const BEGIN_LINE = 1;
export const END_LINE = 2;
export const BEGIN_TEXT = 4;
export const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

export const POINT_MAX = 0x10ffff;

/** One step of a program over code points; `out` and `other` are places of steps. */
export type RuneInstruction =
  /** One code point within one of the ranges `[low, high, low, high, …]`, both ends within. */
  | { readonly op: 'point'; readonly ranges: ArrayLike<number>; readonly out: number }
  | { readonly op: 'split'; readonly out: number; readonly other: number }
  | { readonly op: 'assert'; readonly flags: number; readonly out: number }
  /** `bound`: where that begins or ends a group: twice the number of the group, plus one at its end. */
  | { readonly op: 'jump'; readonly out: number; readonly bound?: number }
  | { readonly op: 'match' }
  | { readonly op: 'fail' };

/** What RE2 compiles a pattern to; a text matches where some way through it ends at `match`. */
export type RuneProgram = {
  readonly start: number;
  readonly instructions: readonly RuneInstruction[];
};

/**
 * The program that re2js made of a pattern, so that ours means the same to the letter; `undefined` when
 * it has anything in it that we do not know.
 */
export function runeProgramOf(compiled: RE2JS): RuneProgram | undefined {
  const program: unknown = compiled.re2Input.prog;
  if (!isProgram(program)) return undefined;
  const instructions: RuneInstruction[] = [];
  for (const instruction of program.inst) {
    const known = isInstruction(instruction) ? instructionOf(instruction) : undefined;
    if (known === undefined) return undefined;
    instructions.push(known);
  }
  return { start: program.start, instructions };
}

/** As re2js has it: Go's `syntax.Prog` in JavaScript. */
type Program = { readonly inst: readonly unknown[]; readonly start: number };

type Instruction = {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: Int32Array;
};

function isProgram(value: unknown): value is Program {
  if (typeof value !== 'object' || value === null) return false;
  const { inst, start } = value as Partial<Program>;
  return Array.isArray(inst) && typeof start === 'number';
}

function isInstruction(value: unknown): value is Instruction {
  if (typeof value !== 'object' || value === null) return false;
  const { op, out, arg, runes } = value as Partial<Instruction>;
  const hasNumbers = typeof op === 'number' && typeof out === 'number' && typeof arg === 'number';
  return hasNumbers && (runes instanceof Int32Array || Array.isArray(runes));
}

const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const FAIL = 5;
const MATCH = 6;
const NOP = 7;
const RUNE = 8;
const RUNE1 = 9;
const RUNE_ANY = 10;
const RUNE_ANY_NOT_NL = 11;
/** In the argument of a RUNE of a single code point: whatever its case. */
const FOLD_CASE = 1;
const NEWLINE = 0x0a;

function instructionOf({ op, out, arg, runes }: Instruction): RuneInstruction | undefined {
  switch (op) {
    case ALT:
    case ALT_MATCH:
      return { op: 'split', out, other: arg };
    case CAPTURE:
      return { op: 'jump', out, bound: arg };
    case NOP:
      return { op: 'jump', out };
    case EMPTY_WIDTH:
      return { op: 'assert', flags: arg, out };
    case FAIL:
      return { op: 'fail' };
    case MATCH:
      return { op: 'match' };
    case RUNE:
    case RUNE1:
      return { op: 'point', ranges: rangesOf(runes, (arg & FOLD_CASE) !== 0), out };
    case RUNE_ANY:
      return { op: 'point', ranges: [0, POINT_MAX], out };
    case RUNE_ANY_NOT_NL:
      return { op: 'point', ranges: [0, NEWLINE - 1, NEWLINE + 1, POINT_MAX], out };
    default:
      return undefined;
  }
}

/** Classes of many ranges stand in many instructions, so they are not copied. */
function rangesOf(runes: Int32Array, isFolded: boolean): ArrayLike<number> {
  if (runes.length !== 1) return runes;
  const point = runes[0]!;
  return isFolded ? foldedRanges(point) : [point, point];
}

/** By code point: as many as have a case at all, some 2,800. */
const folded = new Map<number, readonly number[]>();

/**
 * A code point in all its cases. re2js is asked, by a class of it and of NUL, which has no case: a class
 * of two is written out, cases and all.
 */
function foldedRanges(point: number): readonly number[] {
  let ranges = folded.get(point);
  if (ranges === undefined) {
    const either = RE2JS.compile(`(?i)[\\x{0}\\x{${point.toString(16)}}]`);
    const step = runeProgramOf(either)?.instructions.find(({ op }) => op === 'point');
    ranges = step?.op === 'point' ? withoutNul(Array.from(step.ranges)) : [point, point];
    folded.set(point, ranges);
  }
  return ranges;
}

function withoutNul(ranges: readonly number[]): readonly number[] {
  return ranges[1] === 0 ? ranges.slice(2) : [1, ...ranges.slice(1)];
}
