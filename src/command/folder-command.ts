import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DiskError } from '../../ingest/disk/disk.ts';
import { logFileNumber } from '../../ingest/log/log-layout.ts';
import { echo } from '../echo.ts';
import type { CommandWorld } from './explain-command.ts';

/** A command that looks at a data folder: `weir NAME DATA_DIR [--flag …]`. */
export type FolderCommand = {
  readonly name: string;
  readonly help: string;
  /** Names of flags beside `--help`. */
  readonly flags: readonly string[];
  /** Resolves to the exit status. `dataDir` is absolute, there, and ours or empty. */
  readonly run: (
    dataDir: string,
    flags: ReadonlySet<string>,
    world: CommandWorld,
  ) => Promise<number>;
};

/** The command was not understood: its words have to change. */
class UsageError extends Error {}

/** The folder is none that can be looked at. */
class FolderError extends Error {}

/** Runs a command with the words behind its name; its exit status. Rejects only for mistakes of ours. */
export async function runFolderCommand(
  command: FolderCommand,
  words: readonly string[],
  world: CommandWorld,
): Promise<number> {
  try {
    const parsed = parseWords(command, words);
    if (parsed === 'help') {
      world.out(command.help);
      return 0;
    }
    await checkFolder(parsed.dataDir);
    return await command.run(parsed.dataDir, parsed.flags, world);
  } catch (error) {
    if (error instanceof UsageError) {
      world.err(`${error.message}\n\nweir ${command.name} --help tells how it is used\n`);
      return 2;
    }
    if (!(error instanceof FolderError || error instanceof DiskError)) throw error;
    world.err(`${error.message}\n`);
    return 1;
  }
}

/** What is not there is null, so that each object of a kind has the same keys. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (each === undefined ? null : each), 2);
}

function parseWords(
  { name, flags }: FolderCommand,
  words: readonly string[],
): { readonly dataDir: string; readonly flags: ReadonlySet<string> } | 'help' {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' }] as const)),
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (parsed.values['help'] === true) return 'help';
  const [dataDir, ...rest] = parsed.positionals;
  if (dataDir === undefined || dataDir === '') {
    throw new UsageError(`${name} must be followed by a data folder; got nothing`);
  }
  if (rest.length > 0) {
    const given = parsed.positionals.map((word) => echo(word)).join(', ');
    throw new UsageError(`${name} must be followed by one data folder; got ${given}`);
  }
  return { dataDir: resolve(dataDir), flags: new Set(Object.keys(parsed.values)) };
}

/**
 * A folder that weir keeps its data in has one of these; an empty one may become one.
 *
 * @throws FolderError when there is no folder, or it is another program's.
 */
async function checkFolder(dataDir: string): Promise<void> {
  const names = await namesIn(dataDir);
  if (names.length === 0) return;
  const kinds = await Promise.all(names.map((name) => kindOf(join(dataDir, name))));
  const has = (name: string, kind: Kind): boolean => kinds[names.indexOf(name)] === kind;
  // A folder `log` is not enough: many programs have one.
  const hasLog = has('log', 'folder') && isLog(await namesIn(join(dataDir, 'log')));
  const isOurs =
    hasLog || has('segments', 'folder') || has('lock', 'file') || has('tokens.json', 'file');
  if (isOurs) return;
  const hint = names.some((name) => logFileNumber(name) !== undefined)
    ? '; the data folder is the one above its log'
    : '';
  throw new FolderError(
    `${dataDir} is not a data folder of weir: it has no log, segments, lock or tokens.json of its kind${hint}`,
  );
}

function isLog(names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => logFileNumber(name) !== undefined);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOENT') throw new FolderError(`there is no folder ${folder}`, { cause });
    if (code === 'ENOTDIR') throw new FolderError(`${folder} is not a folder`, { cause });
    throw new FolderError(`${folder} cannot be read: ${String(code ?? cause)}`, { cause });
  }
}

type Kind = 'file' | 'folder' | 'other';

async function kindOf(path: string): Promise<Kind> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other';
  } catch {
    // Gone since it was listed, or a link to nowhere.
    return 'other';
  }
}
