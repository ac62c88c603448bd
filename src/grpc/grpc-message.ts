/**
 * The prefix of a message ("gRPC over HTTP2", "Length-Prefixed-Message"):
 *
 * ```
 * ┌────────────┬──────────────────────┬─────────┐
 * │ compressed │ length, big-endian   │ message │
 * │ 1 byte     │ 4 bytes              │         │
 * └────────────┴──────────────────────┴─────────┘
 * ```
 */
export const PREFIX_SIZE = 5;

/** A message that is not compressed, with its prefix. */
export function frameMessage(parts: readonly Uint8Array[]): Buffer {
  const prefix = Buffer.alloc(PREFIX_SIZE);
  prefix.writeUInt32BE(
    parts.reduce((size, part) => size + part.length, 0),
    1,
  );
  return Buffer.concat([prefix, ...parts]);
}
