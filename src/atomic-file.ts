import { open, rename } from 'node:fs/promises';
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
  const file = await open(temporary, 'w', mode);
  try {
    if (isExact) await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Secrets are written so. */
const OWNER_ALONE = { mode: 0o600, isExact: true };
