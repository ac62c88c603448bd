/** The polynomial of Castagnoli, its bits reversed (RFC 3720, §12.1). */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
  return crc;
});

/** CRC-32C, which Node does not have. */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[at]!) & 255]!;
  return ~crc >>> 0;
}
