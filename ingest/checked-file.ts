import { createHash } from 'node:crypto';
import { type Disk, DiskError } from './disk/disk.ts';
import { readFile, SteadyDisk } from './disk/steady-disk.ts';
import { writeDurably } from './durable-file.ts';
import { TEMPORARY_ENDING } from './segment-name.ts';

/**
 * The bytes of a small file that shows whether it is whole:
 *
 *     SHA-256 of the body, in hexadecimal │ space │ body
 */
export function encodeChecked(body: string): Buffer {
  return Buffer.from(`${digestOf(Buffer.from(body))} ${body}`);
}

/** Bytes before the body. */
export const CHECKSUM_SIZE = 65;

/** The body of a file that `encodeChecked` made; `undefined` when its bytes are others. */
export function decodeChecked(bytes: Uint8Array): Uint8Array | undefined {
  const start = bytes.indexOf(0x20) + 1;
  const body = bytes.subarray(start);
  const digest = Buffer.from(bytes.subarray(0, Math.max(start - 1, 0))).toString('latin1');
  return digestOf(body) === digest ? body : undefined;
}

/**
 * The JSON in such a file. What has the right checksum was written by us, so its shape is not looked at. Rejects with a
 * `DiskError` when the file is there and cannot be read.
 */
export async function readCheckedJson<T extends object>(
  disk: Disk,
  path: string,
): Promise<T | 'missing' | 'damaged'> {
  try {
    const body = decodeChecked(await readFile(SteadyDisk.of(disk), path));
    return body === undefined ? 'damaged' : (JSON.parse(Buffer.from(body).toString()) as T);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') return 'missing';
    throw error;
  }
}

/** Writes such a file, in place of the one before. After a rejection with a `DiskError` either of the two may be there. */
export async function writeChecked(disk: Disk, path: string, body: string): Promise<void> {
  // A write that failed before, or a crash, may have left its half.
  await disk.remove(path + TEMPORARY_ENDING).catch(passOverMissing);
  await writeDurably(disk, path, [encodeChecked(body)]);
}

/** What the name of a second copy ends with, behind that of the file. */
export const COPY_ENDING = '.copy';

/** What a file and its copy say together; neither is damaged by a crash. */
export type CheckedPair =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'whole';
      readonly body: Uint8Array;
      /** Both are whole and the same. They are not after a crash between their writes, or with damage. */
      readonly isPaired: boolean;
      /** One of the two is damaged, or the file itself is gone. */
      readonly isDamaged: boolean;
    }
  /** Written by an older version, without a checksum and a copy. */
  | { readonly kind: 'old'; readonly body: Uint8Array }
  | { readonly kind: 'damaged' };

/**
 * Decides between a file and its copy, which is written after it. `undefined`: it is not there. The file has the
 * newer text where both are whole, and a change that was acknowledged is in both: so neither a damaged file nor a
 * damaged copy brings back what was before.
 */
export function judgePair(file: Uint8Array | undefined, copy: Uint8Array | undefined): CheckedPair {
  if (file === undefined && copy === undefined) return { kind: 'missing' };
  const body = file && decodeChecked(file);
  const copyBody = copy && decodeChecked(copy);
  const found = body ?? copyBody;
  if (found !== undefined) {
    const isPaired =
      body !== undefined && copyBody !== undefined && !Buffer.compare(body, copyBody);
    const isDamaged = body === undefined || (copy !== undefined && copyBody === undefined);
    return { kind: 'whole', body: found, isPaired, isDamaged };
  }
  return file !== undefined && copy === undefined
    ? { kind: 'old', body: file }
    : { kind: 'damaged' };
}

/** For a file that may be gone already. */
export function passOverMissing(error: unknown): void {
  if (!(error instanceof DiskError) || error.code !== 'ENOENT') throw error;
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
