/** How Google's engine packs a TIME and an INTERVAL, and how weir's answers write them. */

/** Hour, minute, second and nanosecond: bits from the 42nd, 36th, 30th and 0th. */
export function timeText(bits: bigint): string {
  const part = (shift: bigint, width: bigint) =>
    String((bits >> shift) & ((1n << width) - 1n)).padStart(2, '0');
  const nanos = Number(bits & ((1n << 30n) - 1n));
  return `${part(42n, 5n)}:${part(36n, 6n)}:${part(30n, 6n)}${fractionText(nanos / 1000)}`;
}

/** With three or six digits; nothing for none. */
export function fractionText(micros: number): string {
  if (micros === 0) return '';
  return `.${String(micros)
    .padStart(6, '0')
    .slice(0, micros % 1000 === 0 ? 3 : 6)}`;
}

const SECOND_US = 1_000_000n;

/**
 * Sixteen bytes, little endian: microseconds (64 bits), days (32), and in the last 32 the sign of
 * the months (highest), their number (18 bits from the 13th) and nanoseconds, which weir has not.
 */
export function intervalOfBytes(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const us = view.getBigInt64(0, true);
  const days = view.getInt32(8, true);
  const packed = view.getUint32(12, true);
  const months = (packed >>> 13) & 0x3ffff;
  const isNegative = packed >>> 31 === 1 && months > 0;
  const years = `${isNegative ? '-' : ''}${Math.floor(months / 12)}-${months % 12}`;
  return `${years} ${days} ${clockText(us)}`;
}

function clockText(us: bigint): string {
  const magnitude = us < 0n ? -us : us;
  const seconds = magnitude / SECOND_US;
  const clock = `${seconds / 3600n}:${(seconds / 60n) % 60n}:${seconds % 60n}`;
  return `${us < 0n ? '-' : ''}${clock}${fractionText(Number(magnitude % SECOND_US))}`;
}
