import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { systemReason } from '../../ingest/system-reason.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';
import { packageRoot } from '../package-root.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';

/** The extension of definition files. */
export const DEFINITION_ENDING = '.sql';

/** Lists the definition files of a folder, in ascending order. */
export async function definitionNames(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith(DEFINITION_ENDING)).sort();
}

/**
 * Reads a definition file. A link must lead to a file of the same folder, as in mounted
 * configurations: messages quote lines of definitions, and must not quote other files.
 *
 * @throws DefinitionError when the file is no definition.
 */
export async function readDefinitionFile(file: string): Promise<string> {
  const problem = (reason: string) => new DefinitionError(file, '', FILE_START, reason);
  let bytes: Uint8Array;
  try {
    const [folder, path] = await Promise.all([realpath(dirname(file)), realpath(file)]);
    if (!path.startsWith(join(folder, sep)))
      throw problem('a link must lead to a file of its folder');
    bytes = await readRegularFile(path, problem);
  } catch (cause) {
    if (cause instanceof DefinitionError) throw cause;
    throw problem(`a definition must be a file that can be read: ${systemReason(cause)}`);
  }
  return decodeDefinitionText(file, bytes);
}

/**
 * Reads only regular files within the limit. Opening a pipe without a writer would wait for ever.
 */
async function readRegularFile(
  path: string,
  problem: (reason: string) => DefinitionError,
): Promise<Uint8Array> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw problem('a definition must be a regular file');
    if (stats.size > DEFINITION_BYTES_MAX) throw problem(sizeReason(stats.size));
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function sizeReason(size: number): string {
  return `a definition has at most ${DEFINITION_BYTES_MAX} bytes; got ${size}`;
}

/**
 * Decodes bytes as the text of a definition.
 *
 * @throws DefinitionError when there are too many bytes, or they are not UTF-8.
 */
export function decodeDefinitionText(file: string, bytes: Uint8Array): string {
  if (bytes.length > DEFINITION_BYTES_MAX) {
    throw new DefinitionError(file, '', FILE_START, sizeReason(bytes.length));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new DefinitionError(file, '', FILE_START, 'a definition must be UTF-8 text');
  }
}

/** The folder of the built-in definitions. It works from the sources and from `dist`. */
export function builtInFolder(): string {
  return join(packageRoot(), 'src', 'endpoints');
}
