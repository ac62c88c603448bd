import { isIPv4, isIPv6 } from 'node:net';
import { BYTES, INT64, STRING } from '../../column/type.ts';
import { QueryError } from '../../query-error.ts';
import type { Int64 } from '../number/int64.ts';
import { type ScalarFunction, scalarFunction, typed } from '../scalar-function.ts';

/** Addresses are BYTES in network order: 4 of IPv4, 16 of IPv6. */
export const netFunctions: readonly ScalarFunction[] = [
  scalarFunction(
    'net.host',
    [
      'The host of a URL as written, without the port; NULL if there is none. The scheme is optional.',
      "NET.HOST('https://api.example.com:8080/rest')",
      "'api.example.com'",
    ],
    {
      parameters: [STRING],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed(hostOf),
    },
  ),
  scalarFunction(
    'net.ip_from_string',
    [
      'An IP address as BYTES: 4 for IPv4, 16 for IPv6. An error for other texts.',
      "NET.IP_FROM_STRING('10.0.0.1')",
      "b'\\x0a\\x00\\x00\\x01'",
    ],
    {
      parameters: [STRING],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((text: string) => {
        const address = addressOf(text);
        if (address !== null) return address;
        throw new QueryError(
          'query_failed',
          `NET.IP_FROM_STRING takes an address; got ${JSON.stringify(text.slice(0, 64))}`,
        );
      }),
    },
  ),
  scalarFunction(
    'net.safe_ip_from_string',
    [
      'Like `NET.IP_FROM_STRING`, but NULL instead of an error.',
      "NET.SAFE_IP_FROM_STRING('10.0.0')",
      'NULL',
    ],
    {
      parameters: [STRING],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed(addressOf),
    },
  ),
  scalarFunction(
    'net.ip_to_string',
    [
      'The IP address of 4 or 16 bytes as a text; an error for other lengths.',
      "NET.IP_TO_STRING(b'\\x0a\\x00\\x00\\x01')",
      "'10.0.0.1'",
    ],
    {
      parameters: [BYTES],
      result: STRING,
      nulls: 'propagate',
      evaluate: typed((address: string) => {
        checkAddress('NET.IP_TO_STRING', address);
        return address.length === 4 ? ipv4Text(address) : ipv6Text(address);
      }),
    },
  ),
  scalarFunction(
    'net.ip_net_mask',
    [
      'The network mask of this many bytes (4 or 16) and this prefix length.',
      'NET.IP_TO_STRING(NET.IP_NET_MASK(4, 24))',
      "'255.255.255.0'",
    ],
    {
      parameters: [INT64, INT64],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((size: Int64, prefix: Int64) => {
        if (size !== 4 && size !== 16) {
          throw new QueryError('query_failed', `NET.IP_NET_MASK takes 4 or 16 bytes; got ${size}`);
        }
        checkPrefix('NET.IP_NET_MASK', prefix, size);
        return maskOf(size, Number(prefix));
      }),
    },
  ),
  scalarFunction(
    'net.ip_trunc',
    [
      'The network address of an IP address, given the prefix length.',
      "NET.IP_TO_STRING(NET.IP_TRUNC(NET.IP_FROM_STRING('10.1.2.3'), 16))",
      "'10.1.0.0'",
    ],
    {
      parameters: [BYTES, INT64],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((address: string, prefix: Int64) => {
        checkAddress('NET.IP_TRUNC', address);
        checkPrefix('NET.IP_TRUNC', prefix, address.length);
        const mask = maskOf(address.length, Number(prefix));
        return bytesOf(
          address.length,
          (index) => address.charCodeAt(index) & mask.charCodeAt(index),
        );
      }),
    },
  ),
  scalarFunction(
    'net.ipv4_from_int64',
    [
      'The IPv4 address of a number, as 4 bytes; an error beyond 32 bits.',
      'NET.IPV4_FROM_INT64(256)',
      "b'\\x00\\x00\\x01\\x00'",
    ],
    {
      parameters: [INT64],
      result: BYTES,
      nulls: 'propagate',
      evaluate: typed((value: Int64) => {
        if (value < -(2 ** 31) || value >= 2 ** 32) {
          throw new QueryError('query_failed', `NET.IPV4_FROM_INT64 takes 32 bits; got ${value}`);
        }
        return bytesOf(4, (index) => (Number(value) >>> (24 - 8 * index)) & 0xff);
      }),
    },
  ),
  scalarFunction(
    'net.ipv4_to_int64',
    [
      'The number of an IPv4 address of 4 bytes; an error for other lengths.',
      "NET.IPV4_TO_INT64(b'\\x00\\x00\\x01\\x00')",
      '256',
    ],
    {
      parameters: [BYTES],
      result: INT64,
      nulls: 'propagate',
      evaluate: typed((address: string) => {
        if (address.length === 4) return Buffer.from(address, 'latin1').readUInt32BE(0);
        throw new QueryError(
          'query_failed',
          `NET.IPV4_TO_INT64 takes 4 bytes; got ${address.length}`,
        );
      }),
    },
  ),
];

/**
 * The host of a URL (RFC 3986, section 3.2.2), which may lack its scheme; NULL when there is none.
 * It is written as it stands, an address of IPv6 in its brackets.
 */
function hostOf(url: string): string | null {
  const rest = url.trim().replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, '');
  const authority = rest.slice(0, endBefore(rest, /[/?#\\]/));
  const behindUser = authority.slice(authority.lastIndexOf('@') + 1);
  const bracketed = /^\[[^\]]*\]/.exec(behindUser)?.[0];
  const host = bracketed ?? behindUser.slice(0, endBefore(behindUser, /:/));
  return host === '' ? null : host;
}

function endBefore(text: string, sign: RegExp): number {
  const index = text.search(sign);
  return index < 0 ? text.length : index;
}

function addressOf(text: string): string | null {
  if (isIPv4(text)) return String.fromCharCode(...text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return null;
  // The last two groups may be written as an address of IPv4.
  const groups = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number) as [number, number, number, number];
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [left = '', right] = groups.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail]
    .map((group) => Number.parseInt(group, 16))
    .map((group) => String.fromCharCode(group >> 8, group & 0xff))
    .join('');
}

function ipv4Text(address: string): string {
  return Array.from(address, (byte) => byte.charCodeAt(0)).join('.');
}

/** RFC 5952: the first longest run of two or more zero groups as `::`. */
function ipv6Text(address: string): string {
  const isMapped = address.startsWith(`${'\0'.repeat(10)}\xff\xff`);
  if (isMapped) return `::ffff:${ipv4Text(address.slice(12))}`;
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address.charCodeAt(2 * index) << 8) | address.charCodeAt(2 * index + 1)).toString(16),
  );
  let [start, length] = [0, 1];
  for (let first = 0; first < 8; first++) {
    let end = first;
    while (groups[end] === '0') end++;
    if (end - first > length) [start, length] = [first, end - first];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

function checkAddress(name: string, address: string): void {
  if (address.length === 4 || address.length === 16) return;
  throw new QueryError('query_failed', `${name} takes 4 or 16 bytes; got ${address.length}`);
}

function checkPrefix(name: string, prefix: Int64, size: number): void {
  if (prefix >= 0 && prefix <= size * 8) return;
  throw new QueryError(
    'query_failed',
    `${name} takes a prefix of 0 to ${size * 8} bits; got ${prefix}`,
  );
}

/** Ones for the first `prefix` bits. */
function maskOf(size: number, prefix: number): string {
  return bytesOf(size, (index) => (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * index))) & 0xff);
}

function bytesOf(size: number, byteAt: (index: number) => number): string {
  return String.fromCharCode(...Array.from({ length: size }, (_, index) => byteAt(index)));
}
