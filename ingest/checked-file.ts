import { createHash } from 'node:crypto';
import { type Disk, DiskError } from './disk/disk.ts';
import { readFile, SteadyDisk } from './disk/steady-disk.ts';
import { writeDurably } from './durable-file.ts';
import { TEMPORARY_ENDING } from './segment-name.ts';

/**
 * Encodes a small file with a checksum:
 *
 *     SHA-256 of the body, in hexadecimal │ space │ body
 */
export function encodeChecked(body: string): Buffer {
  return Buffer.from(`${computeDigest(Buffer.from(body))} ${body}`);
}

/** Bytes before the body. */
export const CHECKSUM_SIZE = 65;

/** The body of a file that `encodeChecked` made; `undefined` if the checksum does not match. */
export function decodeChecked(bytes: Uint8Array): Uint8Array | undefined {
  const start = bytes.indexOf(0x20) + 1;
  const body = bytes.subarray(start);
  const digest = Buffer.from(bytes.subarray(0, Math.max(start - 1, 0))).toString('latin1');
  return computeDigest(body) === digest ? body : undefined;
}

/**
 * Reads the JSON of a checked file. Its shape is not validated: a file with the right checksum was written by weir.
 * Rejects with a `DiskError` if the file exists and cannot be read.
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

/** Writes a checked file in place of the previous one. After a rejection with a `DiskError` either version may be on disk. */
export async function writeChecked(disk: Disk, path: string, body: string): Promise<void> {
  // An earlier write that failed, or a crash, may have left a temporary file.
  await disk.remove(path + TEMPORARY_ENDING).catch(passOverMissing);
  await writeDurably(disk, path, [encodeChecked(body)]);
}

/** The suffix of a file's second copy. */
export const COPY_ENDING = '.copy';

/** The result of comparing a file with its copy. A crash damages neither. */
export type CheckedPair =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'whole';
      readonly body: Uint8Array;
      /** Both are whole and equal. False after a crash between the two writes, or with damage. */
      readonly isPaired: boolean;
      /** One of the two is damaged, or the file itself is missing. */
      readonly isDamaged: boolean;
    }
  /** Written by an older version, which had no checksum and no copy. */
  | { readonly kind: 'old'; readonly body: Uint8Array }
  | { readonly kind: 'damaged' };

/**
 * Chooses between a file and its copy, which is written after the file. `undefined`: neither exists. If both are whole,
 * the file is newer. An acknowledged change is in both, so neither a damaged file nor a damaged copy restores an older
 * text.
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

/** What a file and its copy beside it say together. Rejects with a `DiskError` when one is there and cannot be read. */
export async function readPair(disk: Disk, path: string): Promise<CheckedPair> {
  return judgePair(await findFile(disk, path), await findFile(disk, path + COPY_ENDING));
}

/**
 * Writes a file and its copy, in place of those before. After a rejection with a `DiskError` either of the two states
 * may be there.
 */
export async function writePair(disk: Disk, path: string, body: string): Promise<void> {
  await writeChecked(disk, path, body);
  await writeChecked(disk, path + COPY_ENDING, body);
}

/** `undefined` when it is not there. */
async function findFile(disk: Disk, path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(SteadyDisk.of(disk), path);
  } catch (error) {
    if (error instanceof DiskError && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** For a file that may be gone already. */
export function passOverMissing(error: unknown): void {
  if (!(error instanceof DiskError) || error.code !== 'ENOENT') throw error;
}

function computeDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
