import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** The text of a definition's file. @throws DefinitionError when it cannot be one. */
export async function readDefinitionFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DefinitionError(file, '', FILE_START, `a definition must be readable; got ${reason}`);
  });
  return definitionTextOf(file, bytes);
}

/** Bytes as the text of a definition. @throws DefinitionError when they are too many, or not UTF-8. */
export function definitionTextOf(file: string, bytes: Uint8Array): string {
  if (bytes.length > DEFINITION_BYTES_MAX) {
    const reason = `a definition has at most ${DEFINITION_BYTES_MAX} bytes; got ${bytes.length}`;
    throw new DefinitionError(file, '', FILE_START, reason);
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
