import type { RE2JS } from 're2js';
import { ByteDfa } from './byte-dfa.ts';
import { byteProgramOf } from './byte-program.ts';
import { type NeededLiterals, neededLiteralsOf } from './needed-literals.ts';
import { runeProgramOf } from './rune-program.ts';

/** A pattern as it is looked for in texts, and in their bytes. */
export type TextMatcher = {
  /**
   * Whether some part of `text` matches: the meaning of all else here. May throw a QueryError for a text
   * of which the automaton cannot tell.
   */
  readonly test: (text: string) => boolean;
  /** Without these `test` is false, and throws nothing. */
  readonly needed: NeededLiterals;
  /** The pattern as an automaton over bytes, which this thread has one of; `undefined`: it has none. */
  readonly automaton: () => ByteDfa | undefined;
};

export function textMatcher(program: RE2JS, test: (text: string) => boolean): TextMatcher {
  let made: { readonly dfa: ByteDfa | undefined } | undefined;
  const automaton = () => {
    made ??= { dfa: automatonOf(program) };
    return made.dfa;
  };
  return { test, needed: neededLiteralsOf(program), automaton };
}

function automatonOf(program: RE2JS): ByteDfa | undefined {
  const runes = runeProgramOf(program);
  const bytes = runes && byteProgramOf(runes);
  return bytes && new ByteDfa(bytes);
}
