import { bytesArray } from './code-point-sql.ts';
import { type CallSql, checked, type FunctionSql, strict } from './function-sql.ts';

/** Addresses are BYTES in network order: 4 of IPv4, 16 of IPv6. */
export const netSql: Readonly<Record<string, FunctionSql>> = {
  'net.host': host,
  'net.ip_from_string': (call) => addressOf(call),
  'net.safe_ip_from_string': (call) => addressOf({ ...call, isSafe: true }),
  'net.ip_to_string': (call) =>
    strict(call, (address) => {
      const text = `if(length(${address}) = 4, ${ipv4Text(address!)}, ${ipv6Text(call, address!)})`;
      return checkedAddress(call, text, address!);
    }),
  'net.ip_net_mask': (call) =>
    strict(call, (size, prefix) => {
      const byte = call.parts.variable();
      const mask = `arrayStringConcat(arrayMap(${byte} -> char(${maskByte(byte, prefix!)}), range(toUInt64(${size}))))`;
      const masked = checkedPrefix(call, mask, { prefix: prefix!, size: size! });
      return checked(call, masked, `${size} NOT IN (4, 16)`, 'NET.IP_NET_MASK takes 4 or 16 bytes');
    }),
  'net.ip_trunc': (call) =>
    strict(call, (address, prefix) => {
      const { parts } = call;
      const [byte, index] = [parts.variable(), parts.variable()];
      const cut = `bitAnd(${byte}, ${maskByte(index, prefix!)})`;
      const bytes = `arrayStringConcat(arrayMap((${byte}, ${index}) -> char(${cut}), ${bytesArray(address!, parts)}, range(length(${address}))))`;
      const size = `toInt64(length(${address}))`;
      return checkedAddress(call, checkedPrefix(call, bytes, { prefix: prefix!, size }), address!);
    }),
  'net.ipv4_from_int64': (call) =>
    strict(call, (value) => {
      const bytes = [16_777_216, 65_536, 256, 1].map(
        (unit) => `intDiv(positiveModulo(${value}, toInt64(4294967296)), ${unit}) % 256`,
      );
      const isBad = `${value} < -2147483648 OR ${value} >= 4294967296`;
      return checked(call, `char(${bytes.join(', ')})`, isBad, 'NET.IPV4_FROM_INT64 takes 32 bits');
    }),
  'net.ipv4_to_int64': (call) =>
    strict(call, (address) => {
      const number = `toInt64(reinterpretAsUInt32(reverse(${address})))`;
      return checked(call, number, `length(${address}) != 4`, 'NET.IPV4_TO_INT64 takes 4 bytes');
    }),
};

/** White space as JavaScript's `trim` has it. */
const SPACES =
  '[\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}]';

function host(call: CallSql): string {
  const { parts } = call;
  const cut = (text: string, pattern: string) =>
    `replaceRegexpOne(${text}, ${parts.text(pattern)}, '')`;
  return strict(call, (url) => {
    const trimmed = cut(cut(url!, `${SPACES}+$`), `^${SPACES}+`);
    const rest = cut(trimmed, '^(?:[A-Za-z][A-Za-z0-9+.-]*:)?//');
    const authority = `extract(${rest}, ${parts.text('^[^/?#\\\\]*')})`;
    return parts.once(cut(authority, '(?s)^.*@'), (behindUser) =>
      parts.once(`extract(${behindUser}, ${parts.text('^\\[[^\\]]*\\]')})`, (bracketed) => {
        const plain = `extract(${behindUser}, '^[^:]*')`;
        return `nullIf(if(${bracketed} != '', ${bracketed}, ${plain}), '')`;
      }),
    );
  });
}

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `^(${BYTE})\\.(${BYTE})\\.(${BYTE})\\.(${BYTE})$`;
/** The last two groups may be written as an address of IPv4. */
const IPV6 = `^[0-9a-fA-F:]*:[0-9a-fA-F:]*(?::${BYTE}(?:\\.${BYTE}){3})?$`;

function addressOf(call: CallSql): string {
  const { parts } = call;
  return strict(call, (text) =>
    parts.once(`extractGroups(${text}, ${parts.text(IPV4)})`, (groups) => {
      const bytes = [1, 2, 3, 4].map((index) => `toUInt8OrZero(${groups}[${index}])`);
      const wide = `unhex(hex(IPv6StringToNumOrNull(${text})))`;
      // ClickHouse takes a colon too many.
      const isWide = `match(${text}, ${parts.text(IPV6)}) AND position(${text}, ':::') = 0`;
      const address = `multiIf(notEmpty(${groups}), char(${bytes.join(', ')}), ${isWide}, ${wide}, NULL)`;
      return parts.once(address, (found) =>
        checked(call, found, `isNull(${found})`, 'NET.IP_FROM_STRING takes an address'),
      );
    }),
  );
}

function checkedAddress(call: CallSql, value: string, address: string): string {
  const message = `${call.name.toUpperCase()} takes 4 or 16 bytes`;
  return checked(call, value, `length(${address}) NOT IN (4, 16)`, message);
}

function checkedPrefix(
  call: CallSql,
  value: string,
  { prefix, size }: { readonly prefix: string; readonly size: string },
): string {
  const message = `${call.name.toUpperCase()} takes a prefix of 0 to as many bits as the address has`;
  return checked(call, value, `${prefix} < 0 OR ${prefix} > ${size} * 8`, message);
}

/** Ones for the first `prefix` bits of the byte at an index. */
function maskByte(index: string, prefix: string): string {
  const bits = `toUInt8(greatest(least(${prefix} - 8 * toInt64(${index}), 8), 0))`;
  return `bitAnd(bitShiftRight(toUInt32(65280), ${bits}), 255)`;
}

function byteText(address: string, position: number): string {
  return `toString(reinterpretAsUInt8(substring(${address}, ${position}, 1)))`;
}

function ipv4Text(address: string, start = 1): string {
  const bytes = [0, 1, 2, 3].map((index) => byteText(address, start + index));
  return `concat(${bytes.join(", '.', ")})`;
}

/** RFC 5952: the first longest run of two or more zero groups as `::`. */
function ipv6Text({ parts }: CallSql, address: string): string {
  const groups = Array.from({ length: 8 }, (_, index) => {
    const hexadecimal = `lower(hex(substring(${address}, ${2 * index + 1}, 2)))`;
    return `replaceRegexpOne(${hexadecimal}, '^0+([0-9a-f])', '\\\\1')`;
  });
  const mapped = `concat('::ffff:', ${ipv4Text(address, 13)})`;
  const isMapped = `startsWith(hex(${address}), '00000000000000000000FFFF')`;
  return parts.once(`concat(':', ${groups.join(", ':', ")}, ':')`, (all) => {
    const runs = [8, 7, 6, 5, 4, 3, 2].map((length) => {
      const zeros = `'${':0'.repeat(length)}:'`;
      return `position(${all}, ${zeros}) > 0, replaceOne(${all}, ${zeros}, '::')`;
    });
    return parts.once(`multiIf(${runs.join(', ')}, ${all})`, (short) => {
      const behind = `if(startsWith(${short}, '::'), ${short}, substring(${short}, 2))`;
      const text = `if(endsWith(${short}, '::'), ${behind}, substring(${behind}, 1, length(${behind}) - 1))`;
      return `if(${isMapped}, ${mapped}, ${text})`;
    });
  });
}
