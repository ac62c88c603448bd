import { INT64, STRING } from '../../column/type.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import {
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  textAndBytes,
  typed,
} from '../scalar-function.ts';
import { spendSteps } from '../work-meter.ts';
import { characterCount, charactersOf } from './text-units.ts';

/** Cells of the table that EDIT_DISTANCE fills for two texts: some tenths of a second. */
const EDIT_DISTANCE_CELLS_MAX = 25_000_000;

/** Forms that Unicode normalizes texts to. */
const FORMS: readonly string[] = ['NFC', 'NFD', 'NFKC', 'NFKD'];

/** Functions that look at a text letter by letter. */
export const letterFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'initcap',
    [
      'The text with the first letter of each word in upper case and the others in lower case. Words end at spaces and punctuation, or at the characters of the second argument.',
      "INITCAP('internal SERVER error')",
      "'Internal Server Error'",
    ],
    {
      parameters: [STRING, STRING],
      optionalCount: 1,
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(capitalize),
    },
  ),
  scalarFunction(
    'translate',
    [
      'The text with each character of the second argument replaced by the character at the same position of the third, or removed if there is none.',
      "TRANSLATE('(a)', '()', '[]')",
      "'[a]'",
    ],
    ...textAndBytes({
      parameters: [STRING, STRING, STRING],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(translate),
    }),
  ),
  scalarFunction(
    'soundex',
    [
      'The Soundex code: the first letter and three digits for the sounds after it; empty without an ASCII letter.',
      "SOUNDEX('Robert')",
      "'R163'",
    ],
    {
      parameters: [STRING],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(soundex),
    },
  ),
  scalarFunction(
    'normalize',
    [
      'The text in a Unicode normal form: `NFC` (default), `NFD`, `NFKC` or `NFKD`. Texts that look the same become equal.',
      "NORMALIZE('e\\u0301') = 'é'",
      'TRUE',
    ],
    normalizing((text) => text),
  ),
  scalarFunction(
    'normalize_and_casefold',
    ['Like `NORMALIZE`, and case-folded.', "NORMALIZE_AND_CASEFOLD('Straße')", "'strasse'"],
    normalizing(caseFold),
  ),
  scalarFunction(
    'edit_distance',
    [
      'The Levenshtein distance: how many characters to insert, remove or replace to make the texts equal. The third argument limits the result.',
      "EDIT_DISTANCE('kitten', 'sitting')",
      '3',
    ],
    ...textAndBytes({
      parameters: [STRING, STRING, INT64],
      optionalCount: 1,
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((left: string, right: string, max?: Int64) => {
        if (max !== undefined && max < 0) {
          throw new QueryError(
            'query_failed',
            `EDIT_DISTANCE takes a maximum distance of at least 0; got ${max}`,
          );
        }
        const distance = editDistance(charactersOf(left), charactersOf(right));
        return max === undefined ? distance : Math.min(distance, Number(max));
      }),
    }),
  ),
];

const WORD_DELIMITERS = ' \t\n\v\f\r[](){}/|\\<>!?@"^#$&~_,.:;*%+-';

/** INITCAP: the first letter of each word in upper case, the others in lower case. */
function capitalize(text: string, delimiters = WORD_DELIMITERS): string {
  const ends = new Set(charactersOf(delimiters));
  let isStart = true;
  let result = '';
  for (const character of charactersOf(text)) {
    result += isStart ? capitalOf(character) : character.toLowerCase();
    isStart = ends.has(character);
  }
  return result;
}

/** The character itself where its capital is more than one, as that of `ß` is. */
function capitalOf(character: string): string {
  const capital = character.toUpperCase();
  return characterCount(capital) === 1 ? capital : character;
}

/** Each character of `source` becomes the one of `target` at its place, or nothing beyond its end. */
function translate(text: string, source: string, target: string): string {
  const targets = charactersOf(target);
  const table = new Map<string, string>();
  for (const [index, character] of charactersOf(source).entries()) {
    if (table.has(character)) {
      throw new QueryError(
        'query_failed',
        `TRANSLATE takes each source character once; got ${JSON.stringify(character)} twice`,
      );
    }
    table.set(character, targets[index] ?? '');
  }
  return charactersOf(text)
    .map((character) => table.get(character) ?? character)
    .join('');
}

/** Digits of the letters A to Z; `-` is a letter without a sound of its own. */
const SOUNDEX_DIGITS = '-123-12--22455-12623-1-2-2';

/**
 * The first letter and three digits for the sounds after it; empty for a text without letters.
 * As in GoogleSQL a vowel between two letters of one sound does not part them.
 */
function soundex(text: string): string {
  let result = '';
  let previous = '';
  for (const letter of text.replace(/[^A-Za-z]+/g, '')) {
    const digit = SOUNDEX_DIGITS[letter.toUpperCase().charCodeAt(0) - 65] as string;
    if (result === '') result = letter;
    else if (digit !== '-' && digit !== previous) result += digit;
    if (result.length === 4) break;
    if (digit !== '-') previous = digit;
  }
  return result === '' ? '' : result.padEnd(4, '0');
}

function normalizing(fold: (text: string) => string): ScalarOverload {
  function normalize(text: string, form = 'NFC'): string {
    return normalForm(fold(normalForm(text, form)), form);
  }
  return {
    parameters: [STRING, 'part'],
    optionalCount: 1,
    parts: FORMS,
    result: STRING,
    nulls: 'propagate',
    evaluate: typed(normalize),
  };
}

/** Levenshtein's distance, a row of the table at a time. */
function editDistance(left: readonly string[], right: readonly string[]): number {
  if (left.length * right.length > EDIT_DISTANCE_CELLS_MAX) {
    throw new QueryError(
      'query_limit',
      `EDIT_DISTANCE takes texts whose lengths multiplied are at most ${EDIT_DISTANCE_CELLS_MAX}; ` +
        `got ${left.length} and ${right.length} characters`,
    );
  }
  spendSteps(left.length * right.length);
  const row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let line = 1; line <= left.length; line++) {
    let diagonal = row[0]!;
    row[0] = line;
    for (let column = 1; column <= right.length; column++) {
      const above = row[column]!;
      const change = diagonal + (left[line - 1] === right[column - 1] ? 0 : 1);
      row[column] = Math.min(change, above + 1, row[column - 1]! + 1);
      diagonal = above;
    }
  }
  return row[right.length]!;
}

/**
 * A text as one that differs from it in the case of letters only becomes, too: Unicode's full case
 * folding. JavaScript has none; what a letter's capital is in small letters is the same but for
 * those below. Letter by letter, for a small sigma at the end of a word has a form of its own.
 */
export function caseFold(text: string): string {
  let folded = '';
  for (const character of text) {
    folded += KEPT.test(character) ? character : character.toUpperCase().toLowerCase();
  }
  return folded;
}

/** The dotless i, whose capital is the one of i, too, and Cherokee, which folds to capitals. */
const KEPT = /[\u0131\u13a0-\u13f5]/u;

/**
 * Marks (accents and the like) on one character of a text that is normalized. Text that is meant to be read has at most 30
 * (Unicode Standard Annex #15, "Stream-Safe Text Format"); 40,000 took V8 more than half a second.
 */
export const NORMALIZED_MARKS_MAX = 128;

/**
 * A text in one of Unicode's normal forms. Marks behind one character are put in an order, each moved over those before
 * it, so V8 takes time by the square of their number.
 *
 * @throws QueryError where there are too many.
 */
export function normalForm(text: string, form: string): string {
  if (text.length > NORMALIZED_MARKS_MAX && MANY_MARKS.test(text)) {
    const message = `a text to be normalized may have at most ${NORMALIZED_MARKS_MAX} marks on one character; got more`;
    throw new QueryError('query_limit', message);
  }
  return text.normalize(form);
}

const MANY_MARKS = new RegExp(`\\p{M}{${NORMALIZED_MARKS_MAX + 1}}`, 'u');
