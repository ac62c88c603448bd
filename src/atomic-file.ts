import { open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a small file so that after a crash there is either the old one or the whole new one. Only its
 * owner may read it, or whom `mode` lets: as far as the process lets files be, where it is not exact.
 */
export async function writeFileAtomically(
  path: string,
  text: string,
  { mode, isExact }: { readonly mode: number; readonly isExact: boolean } = OWNER_ALONE,
): Promise<void> {
  const temporary = `${path}.new`;
  // One that is left may still be open in a process that sleeps: what that writes must not end up in this file.
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
    // The next write would replace it; until then nobody should wonder what it is.
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

/** Secrets are written so. */
const OWNER_ALONE = { mode: 0o600, isExact: true };
