import { RE2JS } from 're2js';

/** What must hold between two characters, as bits of one number. */
export const BEGIN_LINE = 1;
const END_LINE = 2;
export const BEGIN_TEXT = 4;
const END_TEXT = 8;
export const WORD_BOUNDARY = 16;
export const NO_WORD_BOUNDARY = 32;

const POINT_MAX = 0x10ffff;

/** One step of a program over code points; `out` and `other` are places of steps. */
type RuneInstruction =
  /** One code point within one of the ranges `[low, high, low, high, …]`, both ends within. */
  | { readonly op: 'point'; readonly ranges: ArrayLike<number>; readonly out: number }
  | { readonly op: 'split'; readonly out: number; readonly other: number }
  | { readonly op: 'assert'; readonly flags: number; readonly out: number }
  /** `bound`: where that begins or ends a group: twice the number of the group, plus one at its end. */
  | { readonly op: 'jump'; readonly out: number; readonly bound?: number }
  | { readonly op: 'match' }
  | { readonly op: 'fail' };

/** What RE2 compiles a pattern to; a text matches where some way through it ends at `match`. */
type RuneProgram = {
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

/** Steps over single bytes that a pattern's classes of characters may come to: some 20 of `\p{L}`. */
const REGEX_BYTE_STEPS_MAX = 8_192;

/**
 * A program over the bytes of WTF-8. Its *places* are those of the instructions of the program over code
 * points, then those of *byte steps*: one byte within `[low, high]`, and on to another place. An
 * instruction for a code point begins at any of its entries, which are byte steps.
 *
 * It looks for the pattern anywhere in a text that is read from its start: what stands before the first
 * match is part of it, unless the pattern can match at the start only.
 */
export type ByteProgram = {
  readonly start: number;
  /** Whether a match begins with the text, if there is one. */
  readonly isAtStartOnly: boolean;
  readonly instructions: readonly RuneInstruction[];
  /** Byte steps that instruction `place` begins with; empty when it is not for a code point. */
  readonly entries: readonly (readonly number[])[];
  /** Of byte step `place`, at `place - instructions.length`. */
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  readonly nexts: readonly number[];
};

/** `undefined` when classes of many code points come to too many byte steps. */
export function byteProgramOf(program: RuneProgram): ByteProgram | undefined {
  const atStartOnly = isAtStartOnly(program);
  const { instructions, start } = atStartOnly ? program : anywhere(program);
  const steps = new ByteSteps(instructions.length);
  const entries: (readonly number[])[] = [];
  for (const instruction of instructions) {
    entries.push(instruction.op === 'point' ? entriesOf(instruction, steps) : NO_ENTRIES);
    if (steps.count > REGEX_BYTE_STEPS_MAX) return undefined;
  }
  const { lows, highs, nexts } = steps;
  return { start, isAtStartOnly: atStartOnly, instructions, entries, lows, highs, nexts };
}

const NO_ENTRIES: readonly number[] = [];

/** The last code point that is one byte. */
const ASCII_MAX = 0x7f;

/** The byte steps that a code point of an instruction may begin with; no more, once they are too many. */
function entriesOf(
  { ranges, out }: Extract<RuneInstruction, { op: 'point' }>,
  steps: ByteSteps,
): readonly number[] {
  // Most are one letter.
  if (ranges.length === 2 && ranges[1]! <= ASCII_MAX) {
    return [steps.step(ranges[0]!, ranges[1]!, out)];
  }
  const entries = new Set<number>();
  for (let index = 0; index < ranges.length && steps.count <= REGEX_BYTE_STEPS_MAX; index += 2) {
    for (const sequence of utf8Ranges(ranges[index]!, ranges[index + 1]!)) {
      entries.add(steps.add(sequence, out));
    }
  }
  return [...entries];
}

/** The program with `(?s:.)*?` before it. */
function anywhere(program: RuneProgram): RuneProgram {
  const start = program.instructions.length;
  return {
    start,
    instructions: [
      ...program.instructions,
      { op: 'split', out: program.start, other: start + 1 },
      { op: 'point', ranges: [0, POINT_MAX], out: start },
    ],
  };
}

/** Whether all ways into a program pass a `BEGIN_TEXT`. */
function isAtStartOnly({ instructions, start }: RuneProgram): boolean {
  const seen = new Set<number>([start]);
  for (const place of seen) {
    const instruction = instructions[place]!;
    switch (instruction.op) {
      case 'point':
      case 'match':
        return false;
      case 'assert':
        if ((instruction.flags & BEGIN_TEXT) === 0) seen.add(instruction.out);
        break;
      case 'split':
        seen.add(instruction.out).add(instruction.other);
        break;
      case 'jump':
        seen.add(instruction.out);
        break;
      case 'fail':
        break;
    }
  }
  return true;
}

const BYTE_COUNT = 256;

/** Byte steps; those that end alike are shared. */
class ByteSteps {
  readonly lows: number[] = [];
  readonly highs: number[] = [];
  readonly nexts: number[] = [];
  readonly #first: number;
  /** Places by what they do. */
  readonly #known = new Map<number, number>();

  constructor(first: number) {
    this.#first = first;
  }

  get count(): number {
    return this.lows.length;
  }

  /** Where a sequence begins that goes on to `out` behind its last byte. */
  add(sequence: readonly number[], out: number): number {
    let place = out;
    for (let index = sequence.length - 2; index >= 0; index -= 2) {
      place = this.step(sequence[index]!, sequence[index + 1]!, place);
    }
    return place;
  }

  /** The place of one byte within `[low, high]`, and on to `next`. */
  step(low: number, high: number, next: number): number {
    const key = (next * BYTE_COUNT + low) * BYTE_COUNT + high;
    let place = this.#known.get(key);
    if (place === undefined) {
      place = this.#first + this.lows.length;
      this.lows.push(low);
      this.highs.push(high);
      this.nexts.push(next);
      this.#known.set(key, place);
    }
    return place;
  }
}

/** The last code point of one, two, three and four bytes. */
const POINT_MAX_OF_SIZE = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;
const CONTINUATION_BITS = 6;

/** The least and the most of each byte of a sequence: `[low, high, low, high, …]`. */
type ByteRanges = readonly number[];

/**
 * Code points `[low, high]`, both within, as sequences of ranges of bytes: a text of one code point is
 * among them when for one sequence each of its bytes is in its range. Surrogates are code points as any
 * other, in the three bytes that WTF-8 gives them. By the method of Ken Thompson as RE2 has it
 * (`Add_80_10ffff` and `AddRuneRangeUTF8` in its `compile.cc`): a range is cut until but for its last
 * bytes all of it is equal, or full.
 */
export function utf8Ranges(low: number, high: number): readonly ByteRanges[] {
  const found: ByteRanges[] = [];
  addRanges(low, high, found);
  return found;
}

function addRanges(low: number, high: number, found: ByteRanges[]): void {
  const cut = cutOf(low, high);
  if (cut !== undefined) {
    addRanges(low, cut, found);
    addRanges(cut + 1, high, found);
    return;
  }
  const [first, last] = [bytesOf(low), bytesOf(high)];
  found.push(first.flatMap((byte, index) => [byte, last[index]!]));
}

/** Where `[low, high]` must be cut: the last code point of its first part. */
function cutOf(low: number, high: number): number | undefined {
  for (const max of POINT_MAX_OF_SIZE) if (low <= max && max < high) return max;
  if (high <= POINT_MAX_OF_SIZE[0]) return undefined;
  for (let bits = CONTINUATION_BITS; bits <= 3 * CONTINUATION_BITS; bits += CONTINUATION_BITS) {
    const rest = 2 ** bits - 1;
    if ((low & ~rest) === (high & ~rest)) continue;
    if ((low & rest) !== 0) return low | rest;
    if ((high & rest) !== rest) return (high & ~rest) - 1;
  }
  return undefined;
}

function bytesOf(point: number): readonly number[] {
  if (point < 0x80) return [point];
  const rest = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x800) return [0xc0 | (point >> 6), rest(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), rest(6), rest(0)];
  return [0xf0 | (point >> 18), rest(12), rest(6), rest(0)];
}

/** Bytes that no instruction of a program tells apart are one class. */
export type ByteClasses = {
  readonly count: number;
  /** Class of each byte. */
  readonly ofByte: Uint8Array;
  /** One byte of each class. */
  readonly bytes: readonly number[];
};

export function byteClassesOf({ instructions, lows, highs }: ByteProgram): ByteClasses {
  const partition = new BytePartition();
  const seen = new Set<number>();
  const separate = (low: number, high: number) => {
    const key = low * BYTE_COUNT + high;
    if (!seen.has(key)) partition.separate(low, high);
    seen.add(key);
  };
  for (let index = 0; index < lows.length; index++) separate(lows[index]!, highs[index]!);
  let flags = 0;
  for (const instruction of instructions) {
    if (instruction.op === 'assert') flags |= instruction.flags;
  }
  if ((flags & (BEGIN_LINE | END_LINE)) !== 0) separate(NEWLINE, NEWLINE);
  if ((flags & (WORD_BOUNDARY | NO_WORD_BOUNDARY)) !== 0) {
    for (const [low, high] of WORD_RANGES) separate(low, high);
  }
  return partition.classes();
}

/** All bytes, in parts that are cut in two as ranges come: each takes a time by its own length, and most are of one byte. */
class BytePartition {
  readonly #partOf = new Uint8Array(BYTE_COUNT);
  /** Bytes of each part. */
  readonly #sizes = [BYTE_COUNT];

  /** Cuts the parts of which some bytes are within `[low, high]` and some are not. */
  separate(low: number, high: number): void {
    if (low === high) {
      this.#cutOff(low);
      return;
    }
    const inside = new Map<number, number>();
    for (let byte = low; byte <= high; byte++) {
      const part = this.#partOf[byte]!;
      inside.set(part, (inside.get(part) ?? 0) + 1);
    }
    const cutOff = new Map<number, number>();
    for (const [part, count] of inside) {
      if (count === this.#sizes[part]) continue;
      cutOff.set(part, this.#sizes.length);
      this.#sizes[part]! -= count;
      this.#sizes.push(count);
    }
    for (let byte = low; byte <= high; byte++) {
      const part = this.#partOf[byte]!;
      this.#partOf[byte] = cutOff.get(part) ?? part;
    }
  }

  #cutOff(byte: number): void {
    const part = this.#partOf[byte]!;
    if (this.#sizes[part] === 1) return;
    this.#sizes[part]! -= 1;
    this.#partOf[byte] = this.#sizes.length;
    this.#sizes.push(1);
  }

  /** Numbered in the order of their first bytes. */
  classes(): ByteClasses {
    const numbers = new Int16Array(this.#sizes.length).fill(-1);
    const ofByte = new Uint8Array(BYTE_COUNT);
    const bytes: number[] = [];
    for (let byte = 0; byte < BYTE_COUNT; byte++) {
      const part = this.#partOf[byte]!;
      if (numbers[part] === -1) {
        numbers[part] = bytes.length;
        bytes.push(byte);
      }
      ofByte[byte] = numbers[part]!;
    }
    return { count: bytes.length, ofByte, bytes };
  }
}

/** `\w` of RE2, which is of ASCII: digits, capitals, the underscore, small letters. */
const WORD_RANGES = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
] as const;

function isWordByte(byte: number): boolean {
  return WORD_RANGES.some(([low, high]) => low <= byte && byte <= high);
}

/** In a context: the byte before is part of a word. Beside BEGIN_TEXT and BEGIN_LINE. */
export const BEHIND_WORD = 1 << 8;
/** What holds between two bytes by the one before alone. */
export const KNOWN_BEFORE = BEGIN_TEXT | BEGIN_LINE;

/** In place of the next byte: the text ends. */
export const TEXT_END = -1;

/** The context behind a byte: what assertions need to know of it. */
export function contextBehind(byte: number): number {
  return (byte === NEWLINE ? BEGIN_LINE : 0) | (isWordByte(byte) ? BEHIND_WORD : 0);
}

/** What holds between the byte that a context is of and the next one, as the bits of assertions. */
export function flagsBetween(context: number, next: number): number {
  const ends = next === TEXT_END ? END_LINE | END_TEXT : next === NEWLINE ? END_LINE : 0;
  const isBoundary = ((context & BEHIND_WORD) !== 0) !== isWordByte(next);
  return (context & KNOWN_BEFORE) | ends | (isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY);
}
