import { BOOL } from '../../column/type.ts';
import type { TextTest } from '../../function/function-facts.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { LONE_SURROGATE } from '../../function/text/regular-expression.ts';
import { holdsText } from '../../function/text/text-places.ts';
import { SEARCHED_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { type Call, factsOf } from '../call-facts.ts';
import type { Expression } from '../expression.ts';
import { ByteSearch } from './byte-search.ts';
import type { LiftedFunction } from './lift.ts';
import { PiecesSearch } from './pieces-search.ts';
import { RegexSearch } from './regex-search.ts';

/** A test of one string, which can be made where it lies. */
type StringTest = { readonly input: Expression; readonly test: LiftedFunction };

/** `undefined` for a call that tests no string, or not for what is known beforehand. */
export function stringTest(call: Call): StringTest | undefined {
  const known = knownTest(call);
  if (known === undefined) return undefined;
  const { input, test } = known;
  if (test.kind === 'contains') return { input, test: containsTest(test.text) };
  const matcher = matcherOf(test);
  return matcher && { input, test: matcherTest(matcher, test.pieces) };
}

function containsTest(text: string): LiftedFunction {
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => holdsText(value as string, text), // `input` is a STRING.
    ...(text.length <= SEARCHED_TEXT_LENGTH_MAX && { search: new ByteSearch(text) }),
  };
}

function matcherTest(matcher: TextMatcher, pieces: TextTest['pieces']): LiftedFunction {
  const isSought = pieces?.every((piece) => piece.length <= SEARCHED_TEXT_LENGTH_MAX);
  return {
    type: BOOL,
    nulls: 'propagate',
    evaluate: (value) => matcher.test(value as string), // `input` is a STRING.
    search: isSought ? new PiecesSearch(pieces!, matcher) : new RegexSearch(matcher),
  };
}

/** A STRING, and what a call tests of it. */
export type KnownTest = { readonly input: Expression; readonly test: TextTest };

/**
 * `LIKE`, `REGEXP_CONTAINS` and whatever else tests a string for a text known beforehand; `STRPOS(input, 'text') > 0` is
 * one. `undefined` for all others, and for a wrong pattern: it is wrong when a live row meets it.
 */
export function knownTest(call: Call): KnownTest | undefined {
  const [input, sought] = call.arguments;
  if (input === undefined || sought?.op !== 'literal') return undefined;
  const { value } = sought;
  if (call.name === '>') {
    return value === 0 && input.op === 'call' ? testOfPosition(input) : undefined;
  }
  if (input.type.kind !== 'STRING' || typeof value !== 'string') return undefined;
  const { textTest } = factsOf(call);
  const test = textTest && ignoringErrors(() => textTest(value));
  return test && { input, test };
}

function testOfPosition(call: Call): KnownTest | undefined {
  const [input, sought] = call.arguments;
  if (input?.type.kind !== 'STRING' || sought?.op !== 'literal') return undefined;
  const { value: text } = sought;
  if (typeof text !== 'string' || factsOf(call).isPosition !== true) return undefined;
  // Half a surrogate pair has no UTF-8 to search for.
  if (LONE_SURROGATE.test(text)) return undefined;
  return { input, test: { kind: 'contains', text, matcher: () => undefined } };
}

/** The test for strings where they lie, where there is one. */
export function matcherOf({ matcher }: TextTest): TextMatcher | undefined {
  return ignoringErrors(matcher);
}

function ignoringErrors<T>(find: () => T | undefined): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}
