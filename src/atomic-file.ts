import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a small file atomically: after a crash the file has either the old or the new contents. By
 * default only the owner may read it. `mode` sets other permissions, subject to the umask unless it
 * is exact.
 */
export async function writeFileAtomically(
  path: string,
  text: string,
  { mode, isExact }: { readonly mode: number; readonly isExact: boolean } = OWNER_ALONE,
): Promise<void> {
  const temporary = `${path}.new`;
  // A temporary file that a crash left may still be open in a suspended process. Its writes must
  // not reach the new file.
  await removeIfThere(temporary);
  const file = await open(temporary, 'wx', mode);
  try {
    try {
      if (isExact) await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    // The next write would replace the file. Remove it now, so that it puzzles nobody.
    await removeIfThere(temporary).catch(() => {});
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** The mode of files that hold secrets. */
const OWNER_ALONE = { mode: 0o600, isExact: true };
