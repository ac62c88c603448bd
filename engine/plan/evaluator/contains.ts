import { BOOL } from '../../column/type.ts';
import { compileLike, type LikePattern } from '../../function/text/like.ts';
import { literalOf } from '../../function/text/regular-expression.ts';
import { holdsText } from '../../function/text/text-places.ts';
import { SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import { ByteSearch } from './byte-search.ts';
import type { LiftedFunction } from './lift.ts';

type Call = Extract<Expression, { op: 'call' }>;

/** A test of one string, which can be made where it lies. */
export type StringTest = { readonly input: Expression; readonly test: LiftedFunction };

/**
 * The calls that come to `input contains text`, with a text known beforehand:
 * `REGEXP_CONTAINS(input, r'text')` without operators, `input LIKE '%text%'`,
 * `STRPOS(input, 'text') > 0`. `undefined` for all others.
 */
export function containsTest(call: Call): StringTest | undefined {
  const found = containedText(call);
  if (found === undefined) return undefined;
  const { text, input } = found;
  return {
    input,
    test: {
      type: BOOL,
      nulls: 'propagate',
      evaluate: (value) => holdsText(value as string, text), // `input` is a STRING.
      ...(text.length <= SEARCHED_TEXT_LENGTH_MAX && { search: new ByteSearch(text) }),
    },
  };
}

/** A string, and the text that is looked for in it. */
export type TextTest = { readonly input: Expression; readonly text: string };

/** What `containsTest` tests, and in which input. */
export function containedText(call: Call): TextTest | undefined {
  const found = findText(call);
  // Half a surrogate pair has no UTF-8 to search for.
  return found === undefined || LONE_SURROGATE.test(found.text) ? undefined : found;
}

/** With the `u` flag a pair is one code point, so that only unpaired ones are found. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function findText(call: Call): TextTest | undefined {
  const [input, pattern] = call.arguments;
  if (input === undefined || pattern?.op !== 'literal') return undefined;
  if (call.name === '>') {
    return pattern.value === 0 && input.op === 'call' ? textOfPosition(input) : undefined;
  }
  if (input.type.kind !== 'STRING' || typeof pattern.value !== 'string') return undefined;
  const text = call.name === 'regexp_contains' ? literalOf(pattern.value) : undefined;
  const found = text ?? (call.name === 'like' ? likeText(pattern.value) : undefined);
  return found === undefined ? undefined : { input, text: found };
}

function textOfPosition(call: Call): TextTest | undefined {
  const [input, sought] = call.arguments;
  if (call.name !== 'strpos' || input?.type.kind !== 'STRING') return undefined;
  if (sought?.op !== 'literal' || typeof sought.value !== 'string') return undefined;
  return { input, text: sought.value };
}

function likeText(pattern: string): string | undefined {
  const like = validLike(pattern);
  return like?.kind === 'contains' ? like.text : undefined;
}

/** A LIKE pattern; `undefined` for one that is wrong. */
export function validLike(pattern: string): LikePattern | undefined {
  return ignoringErrors(() => compileLike(pattern));
}

/** A pattern that is wrong is so when the function itself meets it, on a live row. */
function ignoringErrors<T>(find: () => T | undefined): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
