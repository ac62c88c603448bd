import { constants } from 'node:fs';
import { access, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isStoreName } from '../ingest/data-folder.ts';
import { isLockName } from '../ingest/lock-file.ts';
import { logFileNumber } from '../ingest/log/log-layout.ts';
import { systemReason } from '../ingest/system-reason.ts';
import { echo } from './echo.ts';
import { StartError } from './start-error.ts';

/** The most names of a folder's files that an error lists. */
const NAMES_TOLD_MAX = 3;

/**
 * Makes the data folder if it is missing, and checks that it can be written to, so that a failure
 * shows at the start and not at the first write.
 *
 * @throws StartError when the folder cannot be written to, or holds files of another program.
 */
export async function prepareDataDir(dataDir: string): Promise<void> {
  let foreign: readonly string[];
  try {
    await makeFolder(resolve(dataDir));
    foreign = await foreignNames(dataDir, await readdir(dataDir));
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new StartError(
      `DATA_DIR must be a writable folder; ${resolve(dataDir)} cannot be used: ${systemReason(cause)}`,
      cause,
    );
  }
  if (foreign.length === 0) return;
  const told = foreign.slice(0, NAMES_TOLD_MAX).map((name) => echo(name));
  const more = foreign.length - told.length;
  const found = more === 0 ? told.join(', ') : `${told.join(', ')} and ${more} more`;
  throw new StartError(
    `DATA_DIR must be a data folder of weir, an empty folder or a new one; ${resolve(dataDir)} contains ${found}, and nothing that weir stores. Set DATA_DIR to another folder, or move these away`,
  );
}

/**
 * Makes a folder and the folders above it. Node's own recursive `mkdir` never returns below
 * `/proc`, where folders exist in which none can be made.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
}

/**
 * Lists the names in a folder that holds nothing of weir; empty for a data folder of any version,
 * whatever else is in it. Ignores hidden files and what a file system puts at its top.
 */
export async function foreignNames(
  dataDir: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const foreign = names.filter((name) => !name.startsWith('.') && name !== 'lost+found').sort();
  return foreign.length === 0 || (await isOurs(dataDir, foreign)) ? [] : foreign;
}

/**
 * The lock file is the first file of a start, so a crash may leave only that. Earlier versions had
 * no store folder.
 */
async function isOurs(dataDir: string, names: readonly string[]): Promise<boolean> {
  const kinds = await Promise.all(names.map((name) => readKind(join(dataDir, name))));
  const has = (name: string, kind: Kind): boolean => kinds[names.indexOf(name)] === kind;
  if (names.some((name) => isStoreName(name) && has(name, 'folder'))) return true;
  if (names.some((name) => isLockName(name) && has(name, 'file'))) return true;
  if (has('spare', 'file') || has('segments', 'folder') || has('tokens.json', 'file')) return true;
  // Many programs have a folder `log`, so its contents decide.
  return has('log', 'folder') && isLog(await readdir(join(dataDir, 'log')).catch(() => []));
}

function isLog(names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => logFileNumber(name) !== undefined);
}

type Kind = 'file' | 'folder' | 'other';

async function readKind(path: string): Promise<Kind> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
  } catch {
    // The file was removed since it was listed, or is a broken link.
    return 'other';
  }
}
