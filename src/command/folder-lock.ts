import { DataFolder } from '../../ingest/data-folder.ts';
import { LockedError } from '../../ingest/lock-file.ts';
import { systemCode } from '../../ingest/system-reason.ts';
import { systemSentence } from '../start-error.ts';
import { CommandFailure, type CommandWorld } from './command.ts';

/**
 * Locks a data folder while `work` changes it. No service may run on it. `work` gets the path of
 * the store folder. `advice` says what to do if a service runs there.
 *
 * @throws CommandFailure when the folder is in use.
 */
export async function withFolderLock<T>(
  { dataDir, advice }: { readonly dataDir: string; readonly advice: string },
  world: Pick<CommandWorld, 'wallMs'>,
  work: (storePath: string) => Promise<T>,
): Promise<T> {
  const folder = await takeFolder(dataDir, advice, world);
  try {
    return await work(folder.storePath);
  } finally {
    await folder.release();
  }
}

async function takeFolder(
  dataDir: string,
  advice: string,
  { wallMs }: Pick<CommandWorld, 'wallMs'>,
): Promise<DataFolder> {
  try {
    return await DataFolder.take(dataDir, wallMs() * 1000);
  } catch (cause) {
    if (cause instanceof LockedError) {
      throw new CommandFailure(`${cause.message}. ${advice}`, cause);
    }
    if (!(cause instanceof Error) || systemCode(cause) === undefined) throw cause;
    throw new CommandFailure(systemSentence(cause), cause);
  }
}
