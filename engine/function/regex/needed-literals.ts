import type { RE2JS } from 're2js';

/** Texts that a match needs, of one list, and lists: each costs a look at what blocks of strings hold. */
const REGEX_LITERALS_MAX = 16;

/**
 * What a text must hold for a pattern to match: of each of these lists at least one. None of the texts
 * has a lone surrogate.
 */
export type NeededLiterals = readonly (readonly string[])[];

/**
 * The texts without which re2js finds no match, as it has worked them out itself, with those weakest
 * left out that would make too many; none where it knows of none, or says it in a way we do not know.
 */
export function neededLiteralsOf(compiled: RE2JS): NeededLiterals {
  const filter: unknown = compiled.re2Input.prefilter;
  const needed = clausesOf(filter).filter((clause) => clause.length <= REGEX_LITERALS_MAX);
  return needed
    .toSorted((left, right) => strengthOf(right) - strengthOf(left))
    .slice(0, REGEX_LITERALS_MAX);
}

/** A node of the tree that re2js keeps: one text, or what is to be said of several nodes. */
type Filter = { readonly type: number; readonly subs: readonly unknown[]; readonly str: string };

const EXACT = 1;
const AND = 2;
const OR = 3;

function clausesOf(filter: unknown): NeededLiterals {
  if (!isFilter(filter)) return [];
  switch (filter.type) {
    case EXACT:
      return [[filter.str]];
    case AND:
      return filter.subs.flatMap(clausesOf);
    case OR:
      return anyOf(filter.subs.map((sub) => strongest(clausesOf(sub))));
    default:
      return [];
  }
}

function isFilter(value: unknown): value is Filter {
  if (typeof value !== 'object' || value === null) return false;
  const { type, subs, str } = value as Partial<Filter>;
  return typeof type === 'number' && Array.isArray(subs) && typeof str === 'string';
}

/** One of several must hold: of each its strongest list is enough; nothing is known if one has none. */
function anyOf(branches: readonly (readonly string[] | undefined)[]): NeededLiterals {
  const known = branches.filter((branch) => branch !== undefined);
  return known.length < branches.length ? [] : [[...new Set(known.flat())]];
}

function strongest(clauses: NeededLiterals): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  for (const clause of clauses) {
    if (best === undefined || strengthOf(clause) > strengthOf(best)) best = clause;
  }
  return best;
}

/** A list is as strong as its shortest text, and the weaker the more there are. */
function strengthOf(clause: readonly string[]): number {
  return Math.min(...clause.map((text) => text.length)) - clause.length / 2;
}
