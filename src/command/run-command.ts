import { DiskError } from '../../ingest/disk/disk.ts';
import { CatalogueError } from '../definition/catalogue.ts';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { createLog, createPlainLog, type Log } from '../log.ts';
import { SettingsError } from '../settings.ts';
import {
  ArgumentError,
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  type ExitStatus,
  UsageError,
} from './command.ts';
import { commandHelp } from './command-help.ts';
import { argumentText, type NamedCommand, parseCommandLine } from './command-line.ts';

/**
 * Runs a command with the words after its name. Reports an expected failure as a message; rejects only for bugs.
 * `summary` is the line of the command in `weir --help`.
 */
export async function runCommand(
  named: NamedCommand & { readonly summary: string },
  words: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  const tellFailure = (text: string, hint = ''): void => {
    if (named.command.writesLog === true && !world.isTerminal.err) {
      createOutputLog('err', world)({ level: 'error', event: `${named.name}_failed`, error: text });
    } else world.err(`${text}\n${hint}`);
  };
  try {
    const parsed = parseCommandLine(named, words);
    if (parsed.has('help')) {
      const more = await describe(named, parsed, world);
      world.out(commandHelp(named, { summary: named.summary, more }));
      return 0;
    }
    return await named.command.run(parsed, world);
  } catch (error) {
    if (error instanceof UsageError) {
      const text = error instanceof ArgumentError ? argumentText(named, error) : error.message;
      tellFailure(text, `\nTry "weir ${named.name} --help" for more information.\n`);
      return 2;
    }
    if (!isExpected(error)) throw error;
    tellFailure(failureText(error));
    return 1;
  }
}

/** A log on one of the two outputs. */
export function createOutputLog(output: 'out' | 'err', world: CommandWorld): Log {
  const create = world.isTerminal[output] ? createPlainLog : createLog;
  return create(world[output], () => new Date(world.wallMs()).toISOString());
}

/**
 * The part of the help that depends on the words of the command line. If that is unavailable, the
 * reason, with the rest of the help.
 */
async function describe(
  { command }: NamedCommand,
  words: CommandWords,
  world: CommandWorld,
): Promise<readonly string[]> {
  if (command.describe === undefined || words.positionals.length === 0) return [];
  try {
    return await command.describe(words, world);
  } catch (error) {
    if (!(error instanceof UsageError) && !isExpected(error)) throw error;
    return [`${echo(words.positionals[0] ?? '')}: ${error.message}`];
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

/** The message of a failure, with the place in the SQL below it if there is one. */
export function failureText(error: Error): string {
  if (!(error instanceof ServiceError)) return error.message;
  const { line, column, caret } = error.details;
  const place = caret === undefined ? '' : `; line ${line}, column ${column}\n\n${caret}`;
  return error.message + place;
}
