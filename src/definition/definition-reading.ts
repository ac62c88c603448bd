import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { systemReason } from '../../ingest/system-reason.ts';
import { DEFINITION_BYTES_MAX } from '../limits.ts';
import { packageRoot } from '../package-root.ts';
import { DefinitionError, FILE_START } from './definition-error.ts';

/** The ending of a definition's file. */
export const DEFINITION_ENDING = '.sql';

/** Names of the definition files of a folder, ascending. */
export async function definitionNames(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith(DEFINITION_ENDING)).sort();
}

/**
 * The text of a definition's file. A link must lead to a file of the same folder, as mounted configurations have it:
 * messages quote lines of definitions, and must not show those of other files.
 *
 * @throws DefinitionError when it cannot be one.
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

/** Nothing is read of what is no file, or too large. A pipe that nobody writes to would be waited for for ever. */
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

/** Bytes as the text of a definition. @throws DefinitionError when they are too many, or not UTF-8. */
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

/** The folder of the built-in definitions, from the sources and from `dist` alike. */
export function builtInFolder(): string {
  return join(packageRoot(), 'src', 'endpoints');
}
