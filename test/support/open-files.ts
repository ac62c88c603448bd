import { readdirSync, readlinkSync } from 'node:fs';

/** Paths of files below a folder that this process has open, with what the system says of those without a name. */
export function listOpenFiles(folder: string): readonly string[] {
  const paths = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // It was closed meanwhile, as the one that the folder is listed by.
      return [];
    }
  });
  return paths.filter((path) => path.startsWith(`${folder}/`));
}

/** Why they cannot be listed here, if they cannot. */
export const OPEN_FILES_HIDDEN = process.platform === 'linux' ? false : 'this needs /proc';
