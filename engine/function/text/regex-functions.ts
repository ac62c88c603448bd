import { keepLast } from '../../column/caches.ts';
import { arrayOf, BOOL, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import {
  type Failure,
  type FunctionDoc,
  type FunctionFacts,
  ofBytes,
  type ScalarFunction,
  type ScalarOverload,
  sameAs,
  scalarFunction,
  type TextTest,
  textAndBytes,
  typed,
  withFacts,
} from '../scalar-function.ts';
import { spendSteps } from '../work-meter.ts';
import { compileRegex, literalOf } from './regular-expression.ts';
import { characterCount, checkTextSize, type PartFinder, unitOfCharacter } from './text-units.ts';

const EXTRACT_DOC: FunctionDoc = [
  'The part of a text or BYTES that matches an RE2 pattern, or the pattern’s group if it has one; NULL without a match. The third argument is the position to start from, the fourth the occurrence. An error for more than one group.',
  "REGEXP_EXTRACT('/rest/v12', r'/v(\\d+)')",
  "'12'",
];

const REGEXP_CONTAINS: ScalarOverload = {
  parameters: [STRING, STRING],
  result: BOOL,
  nulls: 'propagate',
  evaluate: typed((text: string, pattern: string) => compileRegex(pattern).test(text)),
};

const TESTED: FunctionFacts = { regex: 'tested' };

const functions: readonly ScalarFunction[] = [
  scalarFunction(
    'regexp_contains',
    [
      'Whether a part of a text or BYTES matches an RE2 pattern. `^` and `$` anchor the pattern to the ends.',
      "REGEXP_CONTAINS('/rest/v12', r'/v\\d+')",
      'TRUE',
    ],
    {
      ...REGEXP_CONTAINS,
      facts: {
        ...TESTED,
        textTest: regexTest,
        // Folding has refused the wrong ones.

        fails: ([, pattern]) => (typeof pattern === 'string' ? failureOf(pattern) : 'by value'),
      },
    },
    ofBytes({ ...REGEXP_CONTAINS, facts: TESTED }),
  ),
  scalarFunction('regexp_extract', EXTRACT_DOC, ...extractOverloads('REGEXP_EXTRACT')),
  scalarFunction(
    'regexp_substr',
    sameAs('regexp_extract', 'regexp_substr', EXTRACT_DOC),
    ...extractOverloads('REGEXP_SUBSTR'),
  ),
  scalarFunction(
    'regexp_extract_all',
    [
      'All parts that match an RE2 pattern, or the pattern’s group if it has one, in order; an empty array without a match.',
      "REGEXP_EXTRACT_ALL('a1 b22', r'\\d+')",
      "['1', '22']",
    ],
    ...textAndBytes({
      parameters: [STRING, STRING],
      result: arrayOf(STRING),
      nulls: 'propagate',
      evaluate: typed(extractAll),
    }),
  ),
  scalarFunction(
    'regexp_instr',
    [
      'The position, from 1, of the part that matches an RE2 pattern, or the pattern’s group if it has one; 0 without a match. The third argument is the position to start from, the fourth the occurrence; a fifth argument of 1 gives the position after the match.',
      "REGEXP_INSTR('user=42', r'\\d+')",
      '6',
    ],
    ...textAndBytes(instrOverload()),
  ),
  scalarFunction(
    'regexp_replace',
    [
      'The text with all matches of an RE2 pattern replaced. In the replacement `\\0` is the match, and `\\1` to `\\9` are its groups.',
      "REGEXP_REPLACE('id=4 id=7', r'id=(\\d)', r'#\\1')",
      "'#4 #7'",
    ],
    ...textAndBytes({
      parameters: [STRING, STRING, STRING],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(replaceMatches),
    }),
  ),
];

/** All of them have the pattern as their second argument. */
export const regexFunctions: readonly ScalarFunction[] = functions.map((each) => ({
  ...each,
  overloads: each.overloads.map((overload) =>
    withFacts({ regex: 'used', ...overload.facts }, overload),
  ),
}));

/** A pattern without operators is a text that is looked for. */
function regexTest(pattern: string): TextTest {
  const matcher = () => compileRegex(pattern);
  const text = literalOf(pattern);
  if (text === undefined) return { kind: 'general', text: '', matcher };
  return { kind: 'contains', text, matcher };
}

/** A right pattern with operators may be too large for an automaton, which a long text then needs too many steps for. */
function failureOf(pattern: string): Failure {
  return literalOf(pattern) === undefined ? 'by size' : 'never';
}

/** Steps it takes to find one match more, beside those for the text. */
const MATCH_STEPS = 64;

/** Of one match: the UTF-16 units of the whole, and of the group that the functions are about. */
type Match = {
  readonly start: number;
  readonly end: number;
  /** The group if the pattern has one, else the whole; -1 for a group that took no part. */
  readonly groupStart: number;
  readonly groupEnd: number;
};

/**
 * The matches, none within another. Behind an empty one the search goes on a character later; at the
 * end of a text there is one only if the text is empty.
 */
function* matchesOf(name: string, text: string, pattern: string): Generator<Match> {
  const { program, spend } = compileRegex(pattern);
  const group = program.groupCount();
  if (group > 1) {
    throw new QueryError(
      'query_failed',
      `${name} takes a pattern with at most one group; got ${group}`,
    );
  }
  const matcher = program.matcher(text);
  let unit = 0;
  do {
    spend(text.length - unit);
    if (!matcher.find(unit)) return;
    const [start, end] = [matcher.start(), matcher.end()];
    spendSteps(MATCH_STEPS);
    if (start === text.length && text !== '') return;
    yield { start, end, groupStart: matcher.start(group), groupEnd: matcher.end(group) };
    unit = end > start ? end : behindCharacter(text, end);
  } while (unit < text.length);
}

function behindCharacter(text: string, unit: number): number {
  return unit + unitOfCharacter(text.slice(unit, unit + 2), 1);
}

function extractOverloads(name: string): readonly ScalarOverload[] {
  return textAndBytes({
    parameters: [STRING, STRING, INT64, INT64],
    optionalCount: 2,
    result: STRING,
    nulls: 'propagate',
    evaluate: typed(extracting(name)),
    part: findFirstGroup,
  });
}

/** REGEXP_EXTRACT: the group of the `occurrence`th match at `position` or behind. */
function extracting(
  name: string,
): (text: string, pattern: string, position?: Int64, occurrence?: Int64) => string | null {
  return (text, pattern, position = 1, occurrence = 1) => {
    const found = findMatch(name, text, pattern, { position, occurrence });
    if (found === undefined || found.match.groupStart < 0) return null;
    return found.rest.slice(found.match.groupStart, found.match.groupEnd);
  };
}

/** The group of the first match by bytes; `undefined` where `evaluate` has to tell, or to refuse. */
function findFirstGroup([pattern, position = 1, occurrence = 1]: readonly SqlValue[]):
  | PartFinder
  | undefined {
  if (typeof pattern !== 'string' || position !== 1 || occurrence !== 1) return undefined;
  try {
    return compileRegex(pattern).groupFinder();
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

/** A match in the rest of a text, which the pattern sees as if it were the whole. */
type FoundMatch = { readonly match: Match; readonly rest: string };

function findMatch(
  name: string,
  text: string,
  pattern: string,
  place: { readonly position: Int64; readonly occurrence: Int64 },
): FoundMatch | undefined {
  const { position, occurrence } = place;
  if (position <= 0 || occurrence <= 0) {
    throw new QueryError(
      'query_failed',
      `${name} takes a position and an occurrence of at least 1; got ${position} and ${occurrence}`,
    );
  }
  const rest = position === 1 ? text : text.slice(unitOfCharacter(text, Number(position) - 1));
  if (rest === '' && position !== 1) return undefined;
  let left = Number(occurrence);
  for (const match of matchesOf(name, rest, pattern)) {
    if (--left === 0) return { match, rest };
  }
  return undefined;
}

function extractAll(text: string, pattern: string): readonly string[] {
  return Array.from(matchesOf('REGEXP_EXTRACT_ALL', text, pattern), ({ groupStart, groupEnd }) =>
    text.slice(groupStart, groupEnd),
  );
}

/** REGEXP_INSTR: where the match begins, or (last argument 1) where the text behind it does; from 1. */
function instrOverload(): ScalarOverload {
  return {
    parameters: [STRING, STRING, INT64, INT64, INT64],
    optionalCount: 3,
    result: INT64,
    nulls: 'propagate',
    evaluate: typed(
      (
        text: string,
        pattern: string,
        position: Int64 = 1,
        occurrence: Int64 = 1,
        end: Int64 = 0,
      ) => {
        if (end !== 0 && end !== 1) {
          throw new QueryError(
            'query_failed',
            `REGEXP_INSTR takes 0 (the start of the match) or 1 (its end) as its last argument; got ${end}`,
          );
        }
        const found = findMatch('REGEXP_INSTR', text, pattern, { position, occurrence });
        if (found === undefined || found.match.groupStart < 0) return 0;
        const unit = end === 0 ? found.match.groupStart : found.match.groupEnd;
        const behind = text.length - found.rest.length + unit;
        return characterCount(text.slice(0, behind)) + 1;
      },
    ),
  };
}

/** One piece of a replacement: a text, or the number of a group. */
type ReplacementPiece = string | number;

/** REGEXP_REPLACE: in the replacement `\0` is the match, `\1` to `\9` its groups, `\\` a backslash. */
function replaceMatches(text: string, pattern: string, replacement: string): string {
  const { program, spend } = compileRegex(pattern);
  const pieces = replacementOf(replacement, program.groupCount());
  const matcher = program.matcher(text);
  let result = '';
  let done = 0;
  let unit = 0;
  while (unit <= text.length) {
    spend(text.length - unit);
    if (!matcher.find(unit)) break;
    const [start, end] = [matcher.start(), matcher.end()];
    spendSteps(MATCH_STEPS);
    const isEmpty = end === start;
    unit = isEmpty ? behindCharacter(text, end) : end;
    // Behind a match there is no empty one.
    if (!isEmpty || start > done || start === 0) {
      result += text.slice(done, start);
      for (const piece of pieces) {
        result += typeof piece === 'string' ? piece : (matcher.group(piece) ?? '');
      }
      done = end;
      checkTextSize('REGEXP_REPLACE', result.length, text.length);
    }
    if (isEmpty && end === text.length) break;
  }
  return result + text.slice(done);
}

function replacementOf(replacement: string, groupCount: number): readonly ReplacementPiece[] {
  const pieces = parseReplacement(replacement);
  const missing = pieces.find((piece) => typeof piece === 'number' && piece > groupCount);
  if (missing !== undefined) {
    throw new QueryError(
      'query_failed',
      `REGEXP_REPLACE has ${groupCount} groups in its pattern; the replacement refers to group ${missing}`,
    );
  }
  return pieces;
}

const parseReplacement = keepLast((replacement: string): readonly ReplacementPiece[] => {
  const pieces: ReplacementPiece[] = [];
  for (const [token] of replacement.matchAll(/\\[0-9]|\\\\|[^\\]+|\\/g)) {
    if (token === '\\') {
      throw new QueryError(
        'query_failed',
        `in a replacement a backslash must precede a digit or a backslash; got ${JSON.stringify(replacement.slice(0, 256))}`,
      );
    }
    if (token === '\\\\') pieces.push('\\');
    else pieces.push(token.startsWith('\\') ? Number(token[1]) : token);
  }
  return pieces;
});
