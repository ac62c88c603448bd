import { arrayOf, BYTES, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import { ofBytes, scalarFunction, typed } from '../definition.ts';
import type { Int64 } from '../number/int64.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { charactersOf } from './character.ts';

export const codePointFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'ascii',
    [
      'The ASCII code of the first character; 0 for an empty text, an error for a non-ASCII character.',
      "ASCII('A')",
      '65',
    ],
    {
      parameters: [STRING],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((text: string) => {
        const code = text.codePointAt(0) ?? 0;
        if (code > ASCII_MAX) {
          throw new QueryError(
            'query_failed',
            `ASCII takes a text that begins with an ASCII character; got ${JSON.stringify(String.fromCodePoint(code))}`,
          );
        }
        return code;
      }),
    },
  ),
  scalarFunction(
    'unicode',
    ['The Unicode code point of the first character; 0 for an empty text.', "UNICODE('é')", '233'],
    {
      parameters: [STRING],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((text: string) => text.codePointAt(0) ?? 0),
    },
  ),
  scalarFunction(
    'chr',
    ['The character with this Unicode code point; an error if there is none.', 'CHR(233)', "'é'"],
    {
      parameters: [INT64],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed((code: Int64) => characterOf('CHR', code)),
    },
  ),
  scalarFunction(
    'to_code_points',
    [
      'The Unicode code points of a text, or the numbers of BYTES, as an array.',
      "TO_CODE_POINTS('hé')",
      '[104, 233]',
    ],
    codePoints(),
    ofBytes(codePoints()),
  ),
  scalarFunction(
    'code_points_to_string',
    [
      'The text with these Unicode code points; NULL if one of them is NULL.',
      'CODE_POINTS_TO_STRING([104, 233])',
      "'hé'",
    ],
    {
      parameters: [arrayOf(INT64)],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed((codes: readonly SqlValue[]) => {
        if (codes.includes(null)) return null;
        return codes.map((code) => characterOf('CODE_POINTS_TO_STRING', code as Int64)).join('');
      }),
    },
  ),
  scalarFunction(
    'code_points_to_bytes',
    [
      'BYTES of these numbers from 0 to 255; NULL if one of them is NULL.',
      'CODE_POINTS_TO_BYTES([104, 255])',
      "b'h\\xff'",
    ],
    {
      parameters: [arrayOf(INT64)],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((codes: readonly SqlValue[]) => {
        if (codes.includes(null)) return null;
        return codes.map((code) => byteOf(code as Int64)).join('');
      }),
    },
  ),
];

const ASCII_MAX = 0x7f;
const BYTE_MAX = 0xff;
const CODE_POINT_MAX = 0x10ffff;

function codePoints() {
  return {
    parameters: [STRING],
    result: arrayOf(INT64),
    nulls: 'propagate' as const,
    evaluate: typed((text: string) =>
      charactersOf(text).map((character) => character.codePointAt(0) as number),
    ),
  };
}

/** Halves of surrogate pairs are no characters. */
function characterOf(name: string, code: Int64): string {
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < 0 || code > CODE_POINT_MAX || isSurrogate) {
    throw new QueryError('query_failed', `${name} takes Unicode code points; got ${code}`);
  }
  return String.fromCodePoint(Number(code));
}

function byteOf(code: Int64): string {
  if (code < 0 || code > BYTE_MAX) {
    throw new QueryError(
      'query_failed',
      `CODE_POINTS_TO_BYTES takes numbers from 0 to ${BYTE_MAX}; got ${code}`,
    );
  }
  return String.fromCharCode(Number(code));
}
