import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { assert } from '../../engine/assert.ts';

/**
 * A header of POSIX.1-1988's tar ("ustar"), of text in fields of a fixed size that ends with NUL:
 *
 *   offset  0     100   108  116  124   136   148       156   157    257       345     500    512
 *          | name | mode | uid | gid | size | mtime | checksum | type | link | magic … | prefix | – |
 *
 * Numbers are octal. The checksum is the sum of all bytes, where its own field counts as spaces.
 */
const BLOCK_SIZE = 512;
const NAME_SIZE = 100;
const PREFIX_SIZE = 155;
const CHECKSUM_START = 148;
const CHECKSUM_END = 156;

/** The files of an installed package, as a registry would give them: below `package/`, gzipped. */
export async function packageArchive(folder: string): Promise<Uint8Array> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const blocks: Uint8Array[] = [];
  for (const entry of entries) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    // What lies below is a package of its own.
    if (!entry.isFile() || /(?:^|\/)node_modules\//.test(path)) continue;
    const content = await readFile(join(folder, path));
    blocks.push(header(`package/${path}`, content.length), content);
    blocks.push(new Uint8Array(-content.length & (BLOCK_SIZE - 1)));
  }
  blocks.push(new Uint8Array(2 * BLOCK_SIZE));
  return promisify(gzip)(Buffer.concat(blocks), { level: 1 });
}

function header(path: string, size: number): Uint8Array {
  const block = Buffer.alloc(BLOCK_SIZE);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  const { prefix, name } = split(path);
  block.write(name, 0);
  block.write(octal(0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.fill(' ', CHECKSUM_START, CHECKSUM_END);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  block.write(prefix, 345);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\0 `, CHECKSUM_START);
  return block;
}

/** A path that is too long for the name begins in the prefix. */
function split(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= NAME_SIZE) return { prefix: '', name: path };
  const slash = path.indexOf('/', path.length - NAME_SIZE - 1);
  const parts = { prefix: path.slice(0, slash), name: path.slice(slash + 1) };
  const fits = slash > 0 && Buffer.byteLength(parts.prefix) <= PREFIX_SIZE;
  assert(fits && Buffer.byteLength(parts.name) <= NAME_SIZE, `${path} fits into a header of tar`);
  return parts;
}
