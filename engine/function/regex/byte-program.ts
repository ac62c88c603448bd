import { BEGIN_TEXT, POINT_MAX, type RuneInstruction, type RuneProgram } from './rune-program.ts';
import { utf8Ranges } from './utf8-ranges.ts';

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
