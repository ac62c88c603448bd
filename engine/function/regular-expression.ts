import { RE2JS, RE2JSSyntaxException } from 're2js';
import { PATTERNS_KEPT_MAX, REGEX_LENGTH_MAX } from '../limits.ts';
import { QueryError } from '../query-error.ts';

/** A compiled RE2 expression: unanchored, in time linear in the text. */
export type CompiledRegex = {
  /** Whether some part of `text` matches. */
  readonly test: (text: string) => boolean;
  /**
   * Present when the pattern is a plain text: `test` is then the same as searching for it, case and
   * all, and callers may search bytes instead.
   */
  readonly literal?: string | undefined;
  readonly program: RE2JS;
};

/** Half of a pair on its own; with the flag `u` whole pairs are one code point and do not match. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

const compiled = new Map<string, CompiledRegex>();
let latest: { readonly pattern: string; readonly regex: CompiledRegex } | undefined;

/** Throws a QueryError `invalid_regular_expression` for what RE2 does not take, or is too long. */
export function compileRegex(pattern: string): CompiledRegex {
  // Row after row asks for the same pattern.
  if (latest?.pattern === pattern) return latest.regex;
  const regex = compiled.get(pattern) ?? compileNew(pattern);
  // A pattern in use moves to the end; the one at the front has been idle longest.
  compiled.delete(pattern);
  compiled.set(pattern, regex);
  if (compiled.size > PATTERNS_KEPT_MAX) {
    for (const oldest of compiled.keys()) {
      compiled.delete(oldest);
      break;
    }
  }
  latest = { pattern, regex };
  return regex;
}

function compileNew(pattern: string): CompiledRegex {
  const size = Buffer.byteLength(pattern);
  if (size > REGEX_LENGTH_MAX) {
    throw new QueryError(
      'invalid_regular_expression',
      `regular expression must have at most ${REGEX_LENGTH_MAX} bytes; got ${size}`,
    );
  }
  const program = compileProgram(pattern);
  const literal = literalOf(pattern);
  if (literal === undefined) return { test: (text) => program.test(text), program };
  return { test: (text) => text.includes(literal), literal, program };
}

function compileProgram(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const reason = error.message.replace(/^error parsing regexp: /, '');
    throw new QueryError(
      'invalid_regular_expression',
      `regular expression ${JSON.stringify(pattern)} is not valid: ${reason}`,
    );
  }
}

/**
 * The text that a pattern without operators matches, escapes resolved; `undefined` where that is
 * not plain to see. A lone surrogate could match half of a pair here and never does in RE2.
 */
function literalOf(pattern: string): string | undefined {
  if (LONE_SURROGATE.test(pattern)) return undefined;
  let literal = '';
  for (let index = 0; index < pattern.length; index++) {
    let unit = pattern[index] as string;
    if (unit === '\\') {
      index++;
      unit = pattern[index] ?? '';
      if (!/^[!-/:-@[-`{-~]$/.test(unit)) return undefined;
    } else if ('.+*?()|[]{}^$'.includes(unit)) {
      return undefined;
    }
    literal += unit;
  }
  return literal;
}
