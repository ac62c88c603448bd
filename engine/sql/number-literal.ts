import { QueryError, type Span } from '../query-error.ts';
import type { Token } from './token.ts';

/**
 * The value of an integer token, negated when a minus stands before it: the sign belongs to the
 * literal, or the smallest INT64 could not be written. Beyond 64 bits is an error at `span`.
 */
export function integerValue(token: Token, sign: '' | '-', span: Span): bigint {
  const significant = token.text.replace(/^(?:0[xX])?0*/, '');
  const isHexadecimal = /^0[xX]/.test(token.text);
  // Both forms of 2^63 have at most 19 digits; more are not worth reading.
  if (significant.length <= DIGITS_MAX) {
    const magnitude = BigInt(
      `${isHexadecimal ? '0x' : ''}${significant === '' ? '0' : significant}`,
    );
    const value = sign === '-' ? -magnitude : magnitude;
    if (BigInt.asIntN(64, value) === value) return value;
  }
  const written = sign + token.text;
  const shown = written.length > 40 ? `${written.slice(0, 40)}…` : written;
  throw new QueryError('invalid_sql', `the integer ${shown} does not fit into INT64`, span);
}

const DIGITS_MAX = 19;

/** The value of a float token; a magnitude beyond FLOAT64 is an error. */
export function floatValue(token: Token): number {
  const value = Number(token.text);
  if (Number.isFinite(value)) return value;
  const shown = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
  throw new QueryError('invalid_sql', `the number ${shown} does not fit into FLOAT64`, token.span);
}
