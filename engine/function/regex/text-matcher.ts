import type { RE2JS } from 're2js';
import { ByteDfa } from './byte-dfa.ts';
import { type ByteProgram, byteProgramOf } from './byte-program.ts';
import { GroupFinder } from './group-finder.ts';
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

/** A pattern of which a group is looked for, too. */
export type GroupMatcher = TextMatcher & {
  /**
   * What finds the only group of the pattern, or its match if it has none; `undefined`: it has more, or no automaton. This
   * thread has one for each pattern.
   */
  readonly groupFinder: () => GroupFinder | undefined;
};

export function textMatcher(program: RE2JS, test: (text: string) => boolean): GroupMatcher {
  const automaton = onceMade(() => {
    const bytes = bytesOf(program);
    return bytes && new ByteDfa(bytes);
  });
  const groupFinder = onceMade(() => {
    const groupCount = program.groupCount();
    const bytes = groupCount > 1 ? undefined : bytesOf(program);
    return bytes && new GroupFinder(bytes, groupCount);
  });
  return { test, needed: neededLiteralsOf(program), automaton, groupFinder };
}

function onceMade<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function bytesOf(program: RE2JS): ByteProgram | undefined {
  const runes = runeProgramOf(program);
  return runes && byteProgramOf(runes);
}
