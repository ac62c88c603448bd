import { RE2JS } from 're2js';
import { keepRecent } from '../../column/caches.ts';
import type { SqlValue } from '../../column/value.ts';
import { LONE_SURROGATE } from '../../column/wtf8.ts';
import { PATTERNS_KEPT_MAX, REGEX_INSTRUCTION_STEPS, REGEX_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { type TextMatcher, textMatcher } from '../regex/text-matcher.ts';
import type { TextTest } from '../scalar-function.ts';
import { spendSteps } from '../work-meter.ts';
import { holdsText, indexOfText } from './text-units.ts';

/**
 * A LIKE pattern: `%` is any text, `_` one code point, a backslash takes the next character as it
 * is. `%` alone is `contains` of the empty text. A pattern too long for RE2 has no matcher.
 */
export type LikePattern = TextTest & { readonly matches: (value: string) => boolean };

/** Throws a QueryError for a pattern that ends in a lone backslash. */
export const compileLike = keepRecent(PATTERNS_KEPT_MAX, compileNew);

/** Whether a value is a right pattern. */
export function isRightLike(pattern: SqlValue | undefined): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    compileLike(pattern);
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

function compileNew(pattern: string): LikePattern {
  const { pieces, hasUnderscore } = parseLike(pattern);
  // Half a surrogate pair must not match inside a whole one; RE2 compares code points.
  if (hasUnderscore || LONE_SURROGATE.test(pattern)) return compileAsRegex(pattern);
  const plain = plainForm(pieces);
  let made: { readonly matcher: TextMatcher | undefined } | undefined;
  const matcher = () => {
    made ??= { matcher: matcherOf(pattern, plain.matches) };
    return made.matcher;
  };
  return { ...plain, matcher };
}

/** A pattern without `_`, of which `pieces` are the texts between the `%`. */
function plainForm(pieces: readonly string[]): Omit<LikePattern, 'matcher'> {
  const [first, ...rest] = pieces as [string, ...string[]];
  if (rest.length === 0) {
    return { kind: 'equals', text: first, pieces, matches: (value) => value === first };
  }
  const last = rest.pop() as string;
  const middle = rest.filter((piece) => piece !== '');
  if (middle.length === 0 && last === '') {
    if (first === '') return contains('');
    return { kind: 'prefix', text: first, pieces, matches: (value) => value.startsWith(first) };
  }
  if (middle.length === 0 && first === '') {
    return { kind: 'suffix', text: last, pieces, matches: (value) => value.endsWith(last) };
  }
  if (middle.length === 1 && first === '' && last === '') return contains(middle[0] as string);
  return {
    kind: 'general',
    text: '',
    pieces: [first, ...middle, last],
    matches: (value) => holdsInOrder(value, first, middle, last),
  };
}

function contains(text: string): Omit<LikePattern, 'matcher'> {
  return { kind: 'contains', text, matches: (value) => holdsText(value, text) };
}

/** Whether the value is first, then the middle pieces with anything between them, then last. */
function holdsInOrder(
  value: string,
  first: string,
  middle: readonly string[],
  last: string,
): boolean {
  const end = value.length - last.length;
  if (end < first.length || !value.startsWith(first) || !value.endsWith(last)) return false;
  let from = first.length;
  // The leftmost place for a piece leaves most room for the others.
  for (const piece of middle) {
    const at = indexOfText(value, piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return from <= end;
}

type ParsedLike = { readonly pieces: readonly string[]; readonly hasUnderscore: boolean };

/** The texts between the `%`, escapes resolved; an `_` is kept out of them and reported. */
function parseLike(pattern: string): ParsedLike {
  const pieces = [''];
  let hasUnderscore = false;
  for (let index = 0; index < pattern.length; index++) {
    let unit = pattern[index] as string;
    if (unit === '%') {
      pieces.push('');
      continue;
    }
    if (unit === '_') {
      hasUnderscore = true;
      continue;
    }
    if (unit === '\\') unit = escapedUnit(pattern, ++index);
    pieces[pieces.length - 1] += unit;
  }
  return { pieces, hasUnderscore };
}

function escapedUnit(pattern: string, index: number): string {
  const unit = pattern[index];
  if (unit === undefined) {
    throw new QueryError(
      'query_failed',
      `LIKE pattern must not end in a lone backslash; got ${JSON.stringify(pattern.slice(0, 256))}`,
    );
  }
  return unit;
}

/** A `_` between two `%` would cost text times pattern to try place by place; RE2 is linear. */
function compileAsRegex(pattern: string): LikePattern {
  const size = Buffer.byteLength(pattern);
  if (size > REGEX_LENGTH_MAX) {
    throw new QueryError(
      'query_limit',
      `LIKE pattern with "_" must have at most ${REGEX_LENGTH_MAX} bytes; got ${size}`,
    );
  }
  const program = programOf(pattern);
  const matches = (value: string): boolean => {
    spendSteps(pattern.length * value.length);
    return program.test(value);
  };
  const matcher = textMatcher(program, matches);
  return { kind: 'general', text: '', matches, matcher: () => matcher };
}

function matcherOf(pattern: string, matches: (value: string) => boolean): TextMatcher | undefined {
  if (Buffer.byteLength(pattern) > REGEX_LENGTH_MAX) return undefined;
  return textMatcher(programOf(pattern), matches);
}

function programOf(pattern: string): RE2JS {
  let source = '';
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    let character = characters[index] as string;
    if (character === '%') source += '.*';
    else if (character === '_') source += '.';
    else {
      if (character === '\\') character = characters[++index] as string;
      source += RE2JS.quote(character);
    }
  }
  spendSteps(characters.length * REGEX_INSTRUCTION_STEPS);
  return RE2JS.compile(`^(?:${source})$`, RE2JS.DOTALL);
}
