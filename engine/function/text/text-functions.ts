import { carvedInt32, carvedUint8 } from '../../column/arrays.ts';
import {
  flatTextsOf,
  isOfTexts,
  joinedTexts,
  type TextVector,
  textsOfEach,
  withBytes,
} from '../../column/text-block.ts';
import { TextLists, TextParts } from '../../column/text-lists.ts';
import { arrayOf, BOOL, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import type { Vector } from '../../column/vector.ts';
import { LONE_SURROGATE } from '../../column/wtf8.ts';
import { MADE_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { joinedArrays } from '../array-functions.ts';
import type { Int64 } from '../number/int64.ts';
import {
  type Evaluate,
  type FunctionDoc,
  type Kernel,
  ofBytes,
  type ScalarFunction,
  type ScalarOverload,
  scalarFunction,
  type TextTest,
  textAndBytes,
  typed,
  withAlias,
  withFacts,
} from '../scalar-function.ts';
import { spendSteps } from '../work-meter.ts';
import { compileLike } from './like.ts';
import {
  characterCount,
  charactersBetween,
  charactersOf,
  checkTextSize,
  countBytes,
  countCharacters,
  needleOf,
  splitText,
} from './text-units.ts';

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
      ...ofTextsAndBytes(sure(textToText([STRING, STRING], joined)), joinEach),
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
      ...ofTextsAndBytes({ ...sure(textToText([STRING], joined)), variadic: STRING }, joinEach),
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
    { ...splitting({ optionalCount: 1 }), kernel: splitEach },
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
  trimming(
    'trim',
    [
      'The text without white space at both ends, or without the characters of the second argument. BYTES need the second argument.',
      "TRIM('/rest/v1/', '/')",
      "'rest/v1'",
    ],
    (text, set) => trimStart(trimEnd(text, set), set),
  ),
  trimming('ltrim', ['Like `TRIM`, at the start only.', "LTRIM('007', '0')", "'7'"], trimStart),
  trimming('rtrim', ['Like `TRIM`, at the end only.', "RTRIM('line\\n')", "'line'"], trimEnd),
  padding(
    'lpad',
    [
      'The text or BYTES at the given length: padded at the start with spaces or the third argument, or cut at the end. An error for a negative length.',
      "LPAD('7', 3, '0')",
      "'007'",
    ],
    (text, fill) => fill + text,
  ),
  padding(
    'rpad',
    ['Like `LPAD`, but padded at the end.', "RPAD('a', 4, '.-')", "'a.-.'"],
    (text, fill) => text + fill,
  ),
  scalarFunction(
    'repeat',
    [
      `The text or BYTES repeated this many times; an error for a negative number, and for more than ${MADE_TEXT_LENGTH_MAX} characters.`,
      "REPEAT('ab', 3)",
      "'ababab'",
    ],
    ...textAndBytes({
      parameters: [STRING, INT64],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(repeat),
    }),
  ),
];

type OfText = (text: string) => string;

/** A function of texts, and one of BYTES, that have a value for all. */
function sureTexts(ofText: OfText, ofTheBytes: OfText): readonly ScalarOverload[] {
  const [text, bytes] = [ofText, ofTheBytes].map((of) => sure(textToText([STRING], typed(of))));
  return [{ ...text!, kernel: changeEach(ofText) }, ofBytes(bytes!)];
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

/** The same with the kernel for texts alone. */
function ofTextsAndBytes(ofText: ScalarOverload, kernel: Kernel): readonly ScalarOverload[] {
  return [{ ...ofText, kernel }, ofBytes(ofText)];
}

/** `||` and CONCAT of strings that lie as bytes, some of them met once. They are too few for `checkTextSize` to refuse one. */
function joinEach(vectors: readonly Vector[], count: number): Vector | undefined {
  const columns = vectors.some(isMetOnce) ? textsOfEach(vectors) : undefined;
  const joined = columns && joinedTexts(columns, count);
  if (joined !== undefined) spendSteps(count + (joined.dictionary.strings.offsets[count]! >> 2));
  return joined;
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

/** SPLIT of strings that lie as bytes, each met once: the parts stay where these are. */
function splitEach([texts, given]: readonly Vector[], count: number): Vector | undefined {
  const delimiter = given === undefined ? ',' : given.kind === 'constant' ? given.value : null;
  const needle = needleOf(delimiter);
  const flat = needle !== undefined && isMetOnce(texts!) ? flatTextsOf(texts) : undefined;
  if (needle === undefined || flat === undefined) return undefined;
  const { codes } = flat;
  const { bytes, offsets } = flat.dictionary.strings;
  const starts = carvedInt32(count + 1);
  const parts = new TextParts(bytes, PARTS_EACH * count);
  let nulls: Uint8Array | undefined;
  for (let row = 0; row < count; row++) {
    if (codes[row]! < 0) {
      nulls ??= carvedUint8(count);
      nulls[row] = 1;
    } else {
      const end = offsets[row + 1]!;
      let from = offsets[row]!;
      for (let at = needle.find(bytes, from, end); at >= 0; at = needle.find(bytes, from, end)) {
        parts.add(from, at);
        from = at + needle.bytes.length;
      }
      parts.add(from, end);
    }
    starts[row + 1] = parts.count;
  }
  spendSteps(parts.count + (offsets[count]! >> 2));
  return new TextLists(starts, parts.dictionary(), nulls);
}

/** Parts that a text is expected to have. */
const PARTS_EACH = 4;

/** Strings as bytes, each of which stands for one value: what is made of it need not be remembered. */
function isMetOnce(vector: Vector): vector is TextVector {
  return isOfTexts(vector) && vector.dictionary.isPerValue === true;
}

/** What V8 and Node change at once: longer strings would be memory of their own. */
const CHANGED_BYTES_MAX = 16_384;

/** UPPER or LOWER of strings that lie as bytes, each met once. */
function changeEach(change: OfText): Kernel {
  return ([texts], count) => {
    const flat = isMetOnce(texts!) ? flatTextsOf(texts) : undefined;
    if (flat === undefined || !flat.dictionary.isAscii) return undefined;
    const { bytes, offsets } = flat.dictionary.strings;
    const size = offsets[count]!;
    spendSteps(count + (size >> 2));
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, size);
    const changed = Buffer.from(new Uint8Array(size).buffer);
    for (let start = 0; start < size; start += CHANGED_BYTES_MAX) {
      const text = given.toString('latin1', start, Math.min(start + CHANGED_BYTES_MAX, size));
      changed.write(change(text), start, 'latin1');
    }
    return withBytes(flat, changed);
  };
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

/** To `length` characters, by spaces or what is given in their place; a longer text is cut. */
function padding(
  name: string,
  doc: FunctionDoc,
  join: (text: string, fill: string) => string,
): ScalarFunction {
  const upperName = name.toUpperCase();
  function pad(text: string, length: Int64, pattern = ' '): string {
    checkCount(upperName, length);
    if (pattern === '') {
      throw new QueryError('query_failed', `${upperName} takes a pattern that is not empty`);
    }
    const characters = charactersOf(text);
    const missing = Number(length) - characters.length;
    if (missing <= 0) return characters.slice(0, Number(length)).join('');
    return join(text, fillOf(pattern, missing));
  }
  return scalarFunction(
    name,
    doc,
    ...textAndBytes({
      parameters: [STRING, INT64, STRING],
      optionalCount: 1,
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(pad),
    }),
  );
}

/** The pattern again and again, to exactly `count` characters. */
function fillOf(pattern: string, count: number): string {
  const characters = charactersOf(pattern);
  const rest = characters.slice(0, count % characters.length).join('');
  return pattern.repeat(Math.floor(count / characters.length)) + rest;
}

function repeat(text: string, count: Int64): string {
  if (count < 0) {
    throw new QueryError('query_failed', `REPEAT takes a count of at least 0; got ${count}`);
  }
  checkTextSize('REPEAT', text.length * Number(count));
  return text === '' ? '' : text.repeat(Number(count));
}

function checkCount(name: string, count: Int64): void {
  if (count < 0) {
    throw new QueryError('query_failed', `${name} takes a length of at least 0; got ${count}`);
  }
  checkTextSize(name, Number(count));
}

type Trim = (text: string, set: ReadonlySet<string> | undefined) => string;

/**
 * Without a second argument white space is taken off, else each of its characters. Of BYTES the
 * second must be given.
 */
function trimming(name: string, doc: FunctionDoc, trim: Trim): ScalarFunction {
  const overload: ScalarOverload = {
    parameters: [STRING, STRING],
    result: STRING,
    nulls: 'propagate',
    evaluate: typed((text: string, set?: string) =>
      trim(text, set === undefined ? undefined : new Set(set)),
    ),
  };
  return scalarFunction(name, doc, { ...overload, optionalCount: 1 }, ofBytes(overload));
}

/** White space as Unicode has it; what JavaScript's own trim takes differs in U+0085 and U+FEFF. */
const SPACES_BEFORE = /^\p{White_Space}+/u;
const SPACE = /\p{White_Space}/u;

/** Where the white space at the end begins. White space is of one UTF-16 unit. */
function spacesBehindStart(text: string): number {
  let end = text.length;
  while (end > 0 && SPACE.test(text[end - 1]!)) end--;
  return end;
}

function trimStart(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.replace(SPACES_BEFORE, '');
  const characters = charactersOf(text);
  const start = characters.findIndex((character) => !set.has(character));
  return start < 0 ? '' : characters.slice(start).join('');
}

function trimEnd(text: string, set: ReadonlySet<string> | undefined): string {
  if (set === undefined) return text.slice(0, spacesBehindStart(text));
  const characters = charactersOf(text);
  const last = characters.findLastIndex((character) => !set.has(character));
  return characters.slice(0, last + 1).join('');
}
