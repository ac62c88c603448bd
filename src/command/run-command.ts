import { parseArgs } from 'node:util';
import { DiskError } from '../../ingest/disk/disk.ts';
import { CatalogueError } from '../definition/catalogue.ts';
import { ServiceError } from '../errors.ts';
import { SettingsError } from '../settings.ts';
import {
  type Command,
  CommandFailure,
  CommandWords,
  type CommandWorld,
  type ExitStatus,
  UsageError,
} from './command.ts';

/**
 * Runs a command with the words behind its name. What stands in its way is told in a sentence;
 * rejects only for mistakes of ours.
 */
export async function runCommand(
  { name, command }: { readonly name: string; readonly command: Command },
  words: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  try {
    const parsed = parseWords(command, words);
    if (parsed.has('help')) {
      world.out(command.help);
      return 0;
    }
    return await command.run(parsed, world);
  } catch (error) {
    if (error instanceof UsageError) {
      world.err(`${error.message}\n\nweir ${name} --help tells how it is used\n`);
      return 2;
    }
    if (!isExpected(error)) throw error;
    world.err(`${failureText(error)}\n`);
    return 1;
  }
}

function parseWords({ options }: Command, words: readonly string[]): CommandWords {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    });
    // No option is given in several: a list of values cannot be.
    const given = Object.entries(values) as readonly (readonly [string, string | boolean])[];
    return new CommandWords(positionals, new Map(given));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), error);
  }
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof CommandFailure ||
    error instanceof SettingsError ||
    error instanceof CatalogueError ||
    error instanceof ServiceError ||
    error instanceof DiskError
  );
}

/** What stood in the way; where in a text something is wrong, that is told in lines of its own. */
export function failureText(error: Error): string {
  if (!(error instanceof ServiceError)) return error.message;
  const { line, column, caret } = error.details;
  const place = caret === undefined ? '' : `; line ${line}, column ${column}\n\n${caret}`;
  return error.message + place;
}
