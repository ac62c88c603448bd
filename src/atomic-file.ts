import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a small file so that after a crash there is either the old one or the whole new one. Without
 * a `mode` only its owner may read it.
 */
export async function writeFileAtomically(
  path: string,
  text: string,
  mode: number = OWNER_ALONE,
): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', mode);
  try {
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
const OWNER_ALONE = 0o600;
