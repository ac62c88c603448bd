/** The largest block (RFC 8878, §3.1.1.2.4), and a window of as much. */
const BLOCK_BYTES_MAX = 128 * 1024;
const WINDOW_DESCRIPTOR = 7 << 3;

const RAW = 0;
const RUN = 1;

export type FrameOptions = {
  /** Whether the header names the size of the content. */
  readonly namesSize?: boolean;
};

/** A frame of zstd whose blocks are runs of one byte, or not compressed: what any decoder must read. */
export function zstdFrame(content: Buffer, { namesSize = true }: FrameOptions = {}): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, namesSize ? 0x80 : 0, WINDOW_DESCRIPTOR]);
  const size = Buffer.alloc(namesSize ? 4 : 0);
  if (namesSize) size.writeUInt32LE(content.length);
  const blocks: Buffer[] = [];
  for (let start = 0; start === 0 || start < content.length; start += BLOCK_BYTES_MAX) {
    const block = content.subarray(start, start + BLOCK_BYTES_MAX);
    blocks.push(zstdBlock(block, start + BLOCK_BYTES_MAX >= content.length));
  }
  return Buffer.concat([header, size, ...blocks]);
}

function zstdBlock(bytes: Buffer, isLast: boolean): Buffer {
  const isRun = bytes.length > 1 && bytes.subarray(1).equals(bytes.subarray(0, -1));
  const header = Buffer.alloc(3);
  header.writeUIntLE(Number(isLast) + ((isRun ? RUN : RAW) << 1) + (bytes.length << 3), 0, 3);
  return Buffer.concat([header, isRun ? bytes.subarray(0, 1) : bytes]);
}
