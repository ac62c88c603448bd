import { arrayOf, BYTES, INT64, STRING } from '../../column/type.ts';
import type { SqlValue } from '../../column/value.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import {
  type FunctionDoc,
  ofBytes,
  type ScalarFunction,
  scalarFunction,
  typed,
} from '../scalar-function.ts';
import { bufferOfBytes, bytesOfBuffer, charactersOf, lenientTextOfBytes } from './text-units.ts';

/** BYTES written as texts, and read from them. */
export const byteFunctions: readonly ScalarFunction[] = [
  textOf(
    'to_hex',
    ['BYTES as lower-case hexadecimal digits.', "TO_HEX(b'\\xff\\x00')", "'ff00'"],
    (bytes) => bufferOfBytes(bytes).toString('hex'),
  ),
  textOf('to_base64', ['BYTES in base 64, padded.', "TO_BASE64(b'weir')", "'d2Vpcg=='"], (bytes) =>
    bufferOfBytes(bytes).toString('base64'),
  ),
  textOf('to_base32', ['BYTES in base 32, padded.', "TO_BASE32(b'abc')", "'MFRGG==='"], toBase32),
  textOf(
    'safe_convert_bytes_to_string',
    [
      'BYTES decoded as UTF-8; invalid parts become U+FFFD.',
      "SAFE_CONVERT_BYTES_TO_STRING(b'a\\xff')",
      "'a\\ufffd'",
    ],
    lenientTextOfBytes,
  ),
  bytesOf(
    'from_hex',
    [
      'BYTES from hexadecimal digits, with a leading 0 added to an odd number of them. An error for other characters.',
      "FROM_HEX('FF0')",
      "b'\\x0f\\xf0'",
    ],
    fromHex,
  ),
  bytesOf(
    'from_base64',
    [
      'BYTES from a base64 text, with or without padding. An error for other texts.',
      "FROM_BASE64('d2Vpcg==')",
      "b'weir'",
    ],
    fromBase64,
  ),
  bytesOf(
    'from_base32',
    [
      'BYTES from a base32 text with padding. An error for other texts.',
      "FROM_BASE32('MFRGG===')",
      "b'abc'",
    ],
    fromBase32,
  ),
];

function textOf(
  name: string,
  doc: FunctionDoc,
  evaluate: (bytes: string) => string,
): ScalarFunction {
  return scalarFunction(name, doc, {
    parameters: [BYTES],
    result: STRING,
    nulls: 'propagate',
    evaluate: typed(evaluate),
  });
}

function bytesOf(
  name: string,
  doc: FunctionDoc,
  evaluate: (text: string) => string,
): ScalarFunction {
  return scalarFunction(name, doc, {
    parameters: [STRING],
    result: BYTES,
    nulls: 'propagate',
    evaluate: typed(evaluate),
  });
}

/** An odd number of digits is read as if a 0 stood before them. */
function fromHex(text: string): string {
  if (!/^[0-9a-fA-F]*$/.test(text)) throw notWritten('FROM_HEX', 'hexadecimal digits', text);
  const digits = text.length % 2 === 0 ? text : `0${text}`;
  return bytesOfBuffer(Buffer.from(digits, 'hex'));
}

/** RFC 4648, section 4; the padding may be left out. */
function fromBase64(text: string): string {
  const digits = text.replace(/[ \t\n\r\f\v]+/g, '');
  const isWhole = /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
  const count = lengthWithoutPadding(digits);
  if (!isWhole || count % 4 === 1 || (digits.length !== count && digits.length % 4 !== 0)) {
    throw notWritten('FROM_BASE64', 'a text in base 64', text);
  }
  return bytesOfBuffer(Buffer.from(digits, 'base64'));
}

/** No `/=+$/`: V8 would begin it at each sign, and look at all that follow. */
function lengthWithoutPadding(text: string): number {
  let end = text.length;
  while (text[end - 1] === '=') end--;
  return end;
}

const BASE32_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, section 6: five bits to a digit, padded to eight digits. */
function toBase32(bytes: string): string {
  let text = '';
  let bits = 0;
  let bitCount = 0;
  for (let index = 0; index < bytes.length; index++) {
    bits = (bits << 8) | bytes.charCodeAt(index);
    bitCount += 8;
    while (bitCount >= 5) {
      bitCount -= 5;
      text += BASE32_DIGITS[(bits >> bitCount) & 31];
    }
    bits &= (1 << bitCount) - 1;
  }
  if (bitCount > 0) text += BASE32_DIGITS[(bits << (5 - bitCount)) & 31];
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

/** Digits without padding that make no whole bytes. */
const BASE32_REMAINDERS: ReadonlySet<number> = new Set([1, 3, 6]);

function fromBase32(text: string): string {
  const digits = text.slice(0, lengthWithoutPadding(text));
  const isPadded = text.length % 8 === 0 && text.length - digits.length < 8;
  if (!isPadded || BASE32_REMAINDERS.has(digits.length % 8) || !/^[A-Z2-7]*$/.test(digits)) {
    throw notWritten('FROM_BASE32', 'a text in base 32', text);
  }
  let bytes = '';
  let bits = 0;
  let bitCount = 0;
  for (const digit of digits) {
    bits = (bits << 5) | BASE32_DIGITS.indexOf(digit);
    bitCount += 5;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes += String.fromCharCode(bits >> bitCount);
    bits &= (1 << bitCount) - 1;
  }
  return bytes;
}

function notWritten(name: string, wanted: string, text: string): QueryError {
  const shown = JSON.stringify(text.slice(0, 64));
  return new QueryError('query_failed', `${name} takes ${wanted}; got ${shown}`);
}

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
