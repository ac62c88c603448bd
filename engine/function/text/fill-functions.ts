import { INT64, STRING } from '../../column/type.ts';
import { MADE_TEXT_LENGTH_MAX } from '../../limits.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, textAndBytes, typed } from '../definition.ts';
import type { FunctionDoc } from '../function-doc.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { charactersOf } from './character.ts';
import { checkTextSize } from './text-size.ts';

/** Functions that make texts as long as they are told. */
export const fillFunctions: readonly ScalarFunction[] = [
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
