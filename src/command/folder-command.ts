import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findStorePath } from '../../ingest/data-folder.ts';
import { logFileNumber } from '../../ingest/log/log-layout.ts';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';
import { foreignNames } from '../data-dir.ts';
import {
  type Command,
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  type ExitStatus,
  mustBeOne,
} from './command.ts';

/** A command for a data folder: `weir NAME DATA_DIR [--flag …]`. */
export type FolderCommand = Pick<Command, 'about' | 'flags'> & {
  readonly name: string;
  /** The forms of its flags after `weir NAME DATA_DIR`. */
  readonly usage: string;
  /** Resolves to the exit status. */
  readonly run: (
    folder: FoundFolder,
    words: CommandWords,
    world: CommandWorld,
  ) => Promise<ExitStatus>;
};

/** A data folder of weir, or an empty one. Both paths are absolute. */
export type FoundFolder = {
  readonly dataDir: string;
  /** The store folder, or the data folder if that has none yet. */
  readonly storePath: string;
};

/** Makes a command that checks the folder before it runs. */
export function folderCommand({ name, usage, about, flags, run }: FolderCommand): Command {
  return {
    usage: [`DATA_DIR ${usage}`],
    about,
    flags,
    run: async (words, world) => {
      const dataDir = resolve(mustBeOne(name, 'one data folder', words.positionals));
      await checkFolder(dataDir);
      return run({ dataDir, storePath: await findStorePath(dataDir) }, words, world);
    },
  };
}

/** Formats JSON with null for missing values, so that all objects of a kind have the same keys. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (each === undefined ? null : each), 2);
}

/**
 * Checks that a folder is a data folder of weir, or empty.
 *
 * @throws CommandFailure when the folder is missing, or another program's.
 */
export async function checkFolder(dataDir: string): Promise<void> {
  const names = await namesIn(dataDir);
  if ((await foreignNames(dataDir, names)).length === 0) return;
  const hint = names.some((name) => logFileNumber(name) !== undefined)
    ? '; the data folder is the one above its log'
    : '';
  throw new CommandFailure(
    `${dataDir} is not a data folder of weir: it has no store, log, segments, lock or tokens.json of its kind${hint}`,
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT') throw new CommandFailure(`there is no folder ${folder}`, cause);
    if (code === 'ENOTDIR') throw new CommandFailure(`${folder} is not a folder`, cause);
    throw new CommandFailure(`${folder} cannot be read: ${systemReason(cause)}`, cause);
  }
}
