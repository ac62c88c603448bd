import { contextBehind, flagsBetween, KNOWN_BEFORE, TEXT_END } from './between-bytes.ts';
import type { ByteProgram } from './byte-program.ts';
import { BEGIN_LINE, BEGIN_TEXT } from './rune-program.ts';

/**
 * A set of places that a program may be at: one of them at `match` is a match. `members` ascend.
 * Assertions that the next byte decides are members themselves, and `context` is what they need to know
 * of the byte before; 0 where there is none.
 */
export type PlaceSet = { readonly members: Int32Array; readonly context: number };

/** Walks of a program from set to set. */
export class PlaceWalk {
  readonly #program: ByteProgram;
  /** Round in which a place was last met. */
  readonly #met: Int32Array;
  #round = 0;
  /** What holds at the place between two bytes that the walk is at. */
  #flags = 0;
  /** Whether `#flags` has all that can be known, or that of the byte before alone. */
  #isDecided = false;
  #context = 0;
  #isMatch = false;
  #isWaiting = false;
  #members: number[] = [];
  readonly #pending: number[] = [];
  #work = 0;

  constructor(program: ByteProgram) {
    this.#program = program;
    this.#met = new Int32Array(program.instructions.length + program.lows.length);
  }

  /** Places looked at since this was last asked. */
  takeWork(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }

  /** The set before a text. */
  start(): PlaceSet | 'match' {
    this.#begin(BEGIN_TEXT | BEGIN_LINE);
    this.#enter(this.#program.start);
    return this.#end();
  }

  /** The set behind one more byte. */
  over(set: PlaceSet, byte: number): PlaceSet | 'match' {
    const before = this.#decided(set, byte);
    if (before === 'match') return 'match';
    this.#begin(contextBehind(byte));
    for (const place of before) this.#stepOver(place, byte);
    return this.#end();
  }

  matchesAtEnd(set: PlaceSet): boolean {
    return this.#decided(set, TEXT_END) === 'match';
  }

  /** Begins a set between two bytes of which the one before is known. */
  #begin(context: number): void {
    this.#clear();
    this.#context = context;
    this.#flags = context & KNOWN_BEFORE;
    this.#isDecided = false;
  }

  /** Adds a place, and those that come of it without a byte. */
  #enter(place: number): void {
    const { instructions } = this.#program;
    const met = this.#met;
    const pending = this.#pending;
    pending.push(place);
    while (pending.length > 0) {
      const next = pending.pop()!;
      if (met[next] === this.#round) continue;
      met[next] = this.#round;
      this.#work++;
      const instruction = instructions[next];
      if (instruction === undefined || instruction.op === 'point') this.#members.push(next);
      else if (instruction.op === 'match') this.#isMatch = true;
      else if (instruction.op === 'jump') pending.push(instruction.out);
      else if (instruction.op === 'split') pending.push(instruction.out, instruction.other);
      else if (instruction.op === 'assert') {
        const missing = instruction.flags & ~this.#flags;
        if (missing === 0) pending.push(instruction.out);
        else if (!this.#isDecided && (missing & KNOWN_BEFORE) === 0) {
          this.#members.push(next);
          this.#isWaiting = true;
        }
      }
    }
  }

  #end(): PlaceSet | 'match' {
    if (this.#isMatch) return 'match';
    const members = new Int32Array(this.#members);
    if (members.length > 1) members.sort();
    return { members, context: this.#isWaiting ? this.#context : 0 };
  }

  /** The members of a set when it is known what comes behind it. */
  #decided({ members, context }: PlaceSet, next: number): Iterable<number> | 'match' {
    const { instructions } = this.#program;
    if (!members.some((place) => instructions[place]?.op === 'assert')) return members;
    this.#clear();
    this.#flags = flagsBetween(context, next);
    this.#isDecided = true;
    for (const place of members) this.#enter(place);
    return this.#isMatch ? 'match' : this.#members;
  }

  #stepOver(place: number, byte: number): void {
    const { instructions, entries } = this.#program;
    if (place >= instructions.length) this.#takeStep(place, byte);
    else for (const entry of entries[place]!) this.#takeStep(entry, byte);
  }

  #takeStep(step: number, byte: number): void {
    const { instructions, lows, highs, nexts } = this.#program;
    const index = step - instructions.length;
    this.#work++;
    if (lows[index]! <= byte && byte <= highs[index]!) this.#enter(nexts[index]!);
  }

  #clear(): void {
    this.#round++;
    this.#members = [];
    this.#isMatch = false;
    this.#isWaiting = false;
  }
}
