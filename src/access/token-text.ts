import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * What every token of ours begins with: by it, and by the fixed length, programs that look for secrets in code and
 * logs find one.
 */
const PREFIX = 'weir_';

/** Bytes of randomness: none guesses 2^256. */
const SECRET_SIZE = 32;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Digits that 32 bytes take in base 62, and those that 32 bits take. */
const SECRET_LENGTH = 43;
const CHECK_LENGTH = 6;

const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECK_LENGTH}}$`);

/**
 * A new token: `weir_`, 32 random bytes in base 62, and the CRC-32 of these digits in base 62. The check tells a
 * token that was mistyped or cut off from one that is not known; it keeps nobody out.
 */
export function newTokenText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(SECRET_SIZE).toString('hex')}`), SECRET_LENGTH);
  return `${PREFIX}${secret}${computeCheck(secret)}`;
}

/**
 * Whether a text is meant to be a token of ours, and was not copied whole. Tokens of the settings, and those of
 * older versions, look otherwise: that they are not known has to be known before.
 */
export function isMistyped(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  if (!SHAPE.test(text)) return true;
  return computeCheck(text.slice(PREFIX.length, -CHECK_LENGTH)) !== text.slice(-CHECK_LENGTH);
}

/** What is kept of a token, in hexadecimal. */
export function sha256Of(token: string): string {
  return hash('sha256', token, 'hex');
}

function computeCheck(secret: string): string {
  return inBase62(BigInt(crc32(secret)), CHECK_LENGTH);
}

function inBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) {
    digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  }
  return digits;
}
