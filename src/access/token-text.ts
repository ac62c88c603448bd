import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The prefix of every generated token. With the fixed length, it lets secret scanners find tokens
 * in code and logs.
 */
const PREFIX = 'weir_';

/** Random bytes of a token: 2^256 values cannot be guessed. */
const SECRET_SIZE = 32;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Base-62 digits for 32 bytes, and for 32 bits. */
const SECRET_LENGTH = 43;
const CHECK_LENGTH = 6;

const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECK_LENGTH}}$`);

/**
 * Generates a token: `weir_`, 32 random bytes in base 62, and the CRC-32 of these digits in base
 * 62. The checksum distinguishes mistyped or truncated tokens from unknown ones; it adds no
 * security.
 */
export function newTokenText(): string {
  const secret = inBase62(BigInt(`0x${randomBytes(SECRET_SIZE).toString('hex')}`), SECRET_LENGTH);
  return `${PREFIX}${secret}${computeCheck(secret)}`;
}

/**
 * Whether a text looks like a generated token with an error in it. Tokens of the settings and of
 * older versions look different, so call it only for unknown tokens.
 */
export function isMistyped(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  if (!SHAPE.test(text)) return true;
  return computeCheck(text.slice(PREFIX.length, -CHECK_LENGTH)) !== text.slice(-CHECK_LENGTH);
}

/** The digest of a token that is stored, in hexadecimal. */
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
