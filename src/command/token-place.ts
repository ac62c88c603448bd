import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findLockHolder } from '../../ingest/lock-file.ts';
import { COMMAND_MS_MAX } from '../limits.ts';
import { parseSettings } from '../settings.ts';
import { CommandFailure, type CommandWords, type CommandWorld, UsageError } from './command.ts';
import { formatUrl, urlOption } from './service-client.ts';
import { FolderTokens, ServiceTokens, type TokenStore } from './token-store.ts';

/** The tokens that a command works on, and where they are. */
export type TokenPlace = {
  readonly store: TokenStore;
  /** Where that is: `at the service URL`, or `in the data folder DIR`. */
  readonly text: string;
  /** Whether a flag named it. */
  readonly isNamed: boolean;
};

/**
 * Finds the tokens to work on. A flag decides. Without one, the data folder is that of `DATA_DIR` if it is set, unless a
 * service that answers has it in use. If `DATA_DIR` is not set, the service decides: if one answers at `HOST` and `PORT`,
 * its tokens are meant, else those of the default folder, which is never made.
 *
 * @throws UsageError, CommandFailure or SettingsError.
 */
export async function findTokenPlace(
  words: CommandWords,
  world: CommandWorld,
): Promise<TokenPlace> {
  const settings = parseSettings(world.environment);
  const atService = (url: string, isNamed: boolean): TokenPlace => {
    const token = settings.privateAccessToken;
    if (token !== undefined)
      return { store: new ServiceTokens(url, token), text: `at the service ${url}`, isNamed };
    throw new CommandFailure(
      `PRIVATE_ACCESS_TOKEN must hold a token with the scope manage, as a service answers at ${url}; it is not set`,
    );
  };
  const inFolder = (folder: string, isNamed: boolean): TokenPlace => {
    const dataDir = resolve(folder);
    const store = new FolderTokens(dataDir, settings, world);
    return { store, text: `in the data folder ${dataDir}`, isNamed };
  };

  const url = urlOption(words);
  const named = words.find('data-dir');
  if (url !== undefined && named !== undefined)
    throw new UsageError('give --url or --data-dir, not both');
  if (url !== undefined) return atService(url, true);
  if (named !== undefined) return inFolder(named, true);

  const dataDir = resolve(settings.dataDir);
  const ownUrl = formatUrl(settings);
  const isFolderSet = (world.environment['DATA_DIR'] ?? '').trim() !== '';
  const mayRun = !isFolderSet || (await isInUse(dataDir));
  if (mayRun && (await answers(ownUrl))) return atService(ownUrl, false);
  if (!isFolderSet && !(await exists(dataDir))) {
    throw new CommandFailure(
      `no service answers at ${ownUrl}, and there is no folder ${dataDir}. Name a running service with --url URL, or the data folder of a stopped one with --data-dir DIR, which create makes if it does not exist`,
    );
  }
  return inFolder(dataDir, false);
}

async function isInUse(dataDir: string): Promise<boolean> {
  // What cannot be read is reported by what reads it next.
  const holder = await findLockHolder(join(dataDir, 'lock')).catch(() => undefined);
  return holder?.isAlive === true;
}

/** Whether anything speaks HTTP at the address. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(COMMAND_MS_MAX) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
