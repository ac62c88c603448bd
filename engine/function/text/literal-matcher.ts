import { RE2JS } from 're2js';
import { REGEX_LENGTH_MAX } from '../../limits.ts';
import type { TextMatcher } from '../regex/text-matcher.ts';
import { compileRegex } from './regular-expression.ts';
import { holdsText } from './text-places.ts';

/**
 * The pattern that is this text and no more; one too long for a pattern has no automaton. The text has no
 * lone surrogates: half a pair is found within whole ones, and a pattern finds it nowhere there.
 */
export function literalMatcher(text: string): TextMatcher {
  const test = (value: string) => holdsText(value, text);
  const pattern = RE2JS.quote(text);
  if (Buffer.byteLength(pattern) > REGEX_LENGTH_MAX) {
    return { test, needed: [[text]], automaton: () => undefined };
  }
  return { ...compileRegex(pattern), test };
}
