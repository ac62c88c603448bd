import { BOOL } from '../../column/type.ts';
import type { TextMatcher } from '../../function/regex/text-matcher.ts';
import { compileLike } from '../../function/text/like.ts';
import { compileRegex, LONE_SURROGATE } from '../../function/text/regular-expression.ts';
import { QueryError } from '../../query-error.ts';
import type { Expression } from '../expression.ts';
import type { StringTest } from './contains.ts';
import { RegexSearch } from './regex-search.ts';

type Call = Extract<Expression, { op: 'call' }>;

/**
 * `REGEXP_CONTAINS(input, pattern)`, `input LIKE pattern` with a right pattern, and
 * `STARTS_WITH(input, text)`, where these are known beforehand. `undefined` for all others: a pattern that is wrong is so when a live row meets it.
 */
export function patternTest(call: Call): StringTest | undefined {
  const found = patternMatch(call);
  if (found === undefined) return undefined;
  const { matcher, input } = found;
  return {
    input,
    test: {
      type: BOOL,
      nulls: 'propagate',
      evaluate: (value) => matcher.test(value as string), // `input` is a STRING.
      search: new RegexSearch(matcher),
    },
  };
}

/** A string, and what is looked for in it. */
export type PatternMatch = { readonly input: Expression; readonly matcher: TextMatcher };

/** What `patternTest` tests, and in which input. */
export function patternMatch({
  name,
  arguments: [input, pattern],
}: Call): PatternMatch | undefined {
  if (input?.type.kind !== 'STRING' || pattern?.op !== 'literal') return undefined;
  const { value } = pattern;
  if (typeof value !== 'string') return undefined;
  const matcher = matcherOf(name, value);
  return matcher && { input, matcher };
}

function matcherOf(name: string, pattern: string): TextMatcher | undefined {
  try {
    switch (name) {
      case 'regexp_contains':
        return compileRegex(pattern);
      case 'like':
        return compileLike(pattern).matcher();
      case 'starts_with':
        return prefixMatcher(pattern);
      default:
        return undefined;
    }
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

function prefixMatcher(text: string): TextMatcher | undefined {
  // Half a surrogate pair has no UTF-8 to look for.
  if (LONE_SURROGATE.test(text)) return undefined;
  return compileLike(`${text.replace(/[\\%_]/g, '\\$&')}%`).matcher();
}
