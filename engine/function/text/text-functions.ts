import { arrayOf, BOOL, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { MADE_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { joinedArrays } from '../array/array-functions.ts';
import type { Evaluate } from '../definition.ts';
import {
  ofBytes,
  scalarFunction,
  textAndBytes,
  typed,
  withAlias,
  withFacts,
} from '../definition.ts';
import type { TextTest } from '../function-facts.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction, ScalarOverload } from '../scalar-function.ts';
import { characterCount, charactersBetween, charactersOf } from './character.ts';
import { compileLike } from './like.ts';
import { LONE_SURROGATE } from './regular-expression.ts';
import { countBytes, countCharacters } from './text-measures.ts';
import { splitText } from './text-places.ts';
import { checkTextSize } from './text-size.ts';

const CHARACTER_COUNT: ScalarOverload = {
  ...textToNumber([STRING], typed(characterCount)),
  measure: () => countCharacters,
};

export const textFunctions: readonly ScalarFunction[] = [
  {
    ...scalarFunction(
      '||',
      [
        'Two texts, BYTES or arrays, concatenated. Numbers, booleans and times are converted to texts.',
        "'/rest' || '/v1'",
        "'/rest/v1'",
      ],
      ...textAndBytes(sure(textToText([STRING, STRING], joined))),
      joinedArrays('||'),
    ),
    joinsTexts: true,
  },
  {
    ...scalarFunction(
      'concat',
      [
        'All texts or BYTES, concatenated. Numbers, booleans and times are converted to texts.',
        "CONCAT('v', 1, '.', 2)",
        "'v1.2'",
      ],
      ...textAndBytes({ ...sure(textToText([STRING], joined)), variadic: STRING }),
    ),
    joinsTexts: true,
  },
  scalarFunction(
    'lower',
    ['The text in lower case; in BYTES only ASCII letters change.', "LOWER('GET')", "'get'"],
    ...sureTexts(
      (text) => text.toLowerCase(),
      (bytes) => bytes.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
    ),
  ),
  scalarFunction(
    'upper',
    ['The text in upper case; in BYTES only ASCII letters change.', "UPPER('straße')", "'STRASSE'"],
    ...sureTexts(
      (text) => text.toUpperCase(),
      (bytes) => bytes.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
    ),
  ),
  scalarFunction(
    'length',
    ['The number of characters of a text, or of bytes of BYTES.', "LENGTH('añb')", '3'],
    ...textAndBytes(sure(CHARACTER_COUNT)),
  ),
  ...withAlias(
    ['char_length', 'character_length'],
    ['The number of characters of a text.', "CHAR_LENGTH('añb')", '3'],
    CHARACTER_COUNT,
  ),
  ...withAlias(
    ['byte_length', 'octet_length'],
    ['The number of bytes of BYTES, or of a text in UTF-8.', "BYTE_LENGTH('añb')", '4'],
    {
      ...textToNumber(
        [STRING],
        typed((text: string) => Buffer.byteLength(text)),
      ),
      measure: () => countBytes,
    },
    ofBytes(CHARACTER_COUNT),
  ),
  scalarFunction(
    'starts_with',
    ['Whether a text or BYTES begins with another.', "STARTS_WITH('/rest/v1', '/rest')", 'TRUE'],
    ...textTest(
      typed((text: string, start: string) => text.startsWith(start)),
      (text) => edgeTest('prefix', text),
    ),
  ),
  scalarFunction(
    'ends_with',
    ['Whether a text or BYTES ends with another.', "ENDS_WITH('index.html', '.js')", 'FALSE'],
    ...textTest(
      typed((text: string, end: string) => text.endsWith(end)),
      (text) => edgeTest('suffix', text),
    ),
  ),
  scalarFunction(
    'replace',
    [
      'The text with every occurrence of the second argument replaced by the third; unchanged if the second is empty.',
      "REPLACE('a.b.c', '.', '/')",
      "'a/b/c'",
    ],
    ...textAndBytes(textToText([STRING, STRING, STRING], typed(replaceAll))),
  ),
  ...withAlias(
    ['substr', 'substring'],
    [
      'The part of a text or BYTES from a position, from 1 or, if negative, from the end, with the length in the third argument, or to the end. An error for a negative length.',
      "SUBSTR('postgres', -4, 2)",
      "'gr'",
    ],
    ...textAndBytes({
      ...textToText([STRING, INT64, INT64], typed(substring)),
      optionalCount: 1,
    }),
  ),
  scalarFunction(
    'left',
    [
      'The first characters of a text, or bytes of BYTES; an error for a negative number.',
      "LEFT('postgres', 4)",
      "'post'",
    ],
    ...cutting('LEFT', (_size, count) => [0, count]),
  ),
  scalarFunction(
    'right',
    [
      'The last characters of a text, or bytes of BYTES; an error for a negative number.',
      "RIGHT('postgres', 4)",
      "'gres'",
    ],
    ...cutting('RIGHT', (size, count) => [Math.max(0, size - count), size]),
  ),
  scalarFunction(
    'split',
    [
      'The parts of a text between separators (default: a comma). An empty separator splits it into characters.',
      "SPLIT('/rest/v1', '/')",
      "['', 'rest', 'v1']",
    ],
    splitting({ optionalCount: 1 }),
    ofBytes(splitting({})),
  ),
  scalarFunction(
    'reverse',
    ['The characters or bytes in reverse order.', "REVERSE('abc')", "'cba'"],
    ...textAndBytes(
      textToText(
        [STRING],
        typed((text: string) => charactersOf(text).reverse().join('')),
      ),
    ),
  ),
];

type OfText = (text: string) => string;

/** A function of texts, and one of BYTES, that have a value for all. */
function sureTexts(ofText: OfText, ofTheBytes: OfText): readonly ScalarOverload[] {
  const [text, bytes] = [ofText, ofTheBytes].map((of) => sure(textToText([STRING], typed(of))));
  return [text!, ofBytes(bytes!)];
}

/** An overload that has a value for all it takes. */
function sure(overload: ScalarOverload): ScalarOverload {
  return withFacts({ fails: 'never' }, overload);
}

function textToText(parameters: ScalarOverload['parameters'], evaluate: Evaluate): ScalarOverload {
  return { parameters, result: STRING, nulls: 'propagate', evaluate };
}

function textToNumber(
  parameters: ScalarOverload['parameters'],
  evaluate: Evaluate,
): ScalarOverload {
  return { parameters, result: INT64, nulls: 'propagate', evaluate };
}

function textTest(evaluate: Evaluate, test: (text: string) => TextTest): readonly ScalarOverload[] {
  const overload: ScalarOverload = {
    parameters: [STRING, STRING],
    result: BOOL,
    nulls: 'propagate',
    facts: { fails: 'never', textTest: test },
    evaluate,
  };
  return textAndBytes(overload);
}

/** As the LIKE pattern that tests the same. Half a surrogate pair is one of its units here, and has no bytes to look for. */
function edgeTest(kind: 'prefix' | 'suffix', text: string): TextTest {
  if (LONE_SURROGATE.test(text)) return { kind, text, matcher: () => undefined };
  const literal = text.replace(/[\\%_]/g, '\\$&');
  return { ...compileLike(kind === 'prefix' ? `${literal}%` : `%${literal}`), kind, text };
}

/** `||` and CONCAT. What joins texts to themselves again and again would outgrow all memory. */
function joined(...texts: readonly SqlValue[]): string {
  let length = 0;
  let longest = 0;
  for (const text of texts) {
    length += (text as string).length;
    longest = Math.max(longest, (text as string).length);
  }
  // What is long came from an event, and may get something put to it.
  checkTextSize('CONCAT', length, longest + MADE_TEXT_LENGTH_MAX);
  return texts.join('');
}

function replaceAll(text: string, from: string, to: string): string {
  if (from === '') return text;
  const pieces = splitText(text, from);
  const growth = (pieces.length - 1) * (to.length - from.length);
  checkTextSize('REPLACE', text.length + growth, text.length);
  return pieces.join(to);
}

/**
 * SUBSTR: `position` from 1, or from the end when negative; 0 counts as 1. Before the start of the
 * text there is nothing, so that -10 of three characters is their start.
 */
function substring(text: string, position: Int64, length?: Int64): string {
  if (length !== undefined && length < 0) {
    throw new QueryError('query_failed', `SUBSTR takes a length of at least 0; got ${length}`);
  }
  const size = characterCount(text);
  const wanted = Number(position);
  const start = wanted > 0 ? wanted - 1 : wanted === 0 ? 0 : Math.max(0, size + wanted);
  const end = length === undefined ? size : start + Number(length);
  return charactersBetween(text, start, end);
}

/** The bounds of what is left of so many characters; `count` is at least 0. */
type Cut = (size: number, count: number) => readonly [start: number, end: number];

function cutting(name: string, cut: Cut): readonly ScalarOverload[] {
  return textAndBytes(
    textToText(
      [STRING, INT64],
      typed((text: string, count: Int64) => {
        if (count < 0) {
          throw new QueryError(
            'query_failed',
            `${name} takes a length of at least 0; got ${count}`,
          );
        }
        return charactersBetween(text, ...cut(characterCount(text), Number(count)));
      }),
    ),
  );
}

function splitting(more: Pick<ScalarOverload, 'optionalCount'>): ScalarOverload {
  return {
    parameters: [STRING, STRING],
    ...more,
    result: arrayOf(STRING),
    nulls: 'propagate',
    evaluate: typed(split),
  };
}

/** SPLIT: between commas when nothing is said; between all characters at an empty delimiter. */
function split(text: string, delimiter = ','): readonly string[] {
  if (delimiter !== '') return splitText(text, delimiter);
  return text === '' ? [''] : charactersOf(text);
}
