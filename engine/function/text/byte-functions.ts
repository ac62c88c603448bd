import { BYTES, STRING } from '../../column/type.ts';
import { QueryError } from '../../query-error.ts';
import { scalarFunction, typed } from '../definition.ts';
import type { FunctionDoc } from '../function-doc.ts';
import type { ScalarFunction } from '../scalar-function.ts';
import { bufferOfBytes, bytesOfBuffer, lenientTextOfBytes } from './byte-text.ts';

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
