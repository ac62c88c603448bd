import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemReason } from '../../ingest/system-reason.ts';
import { ServiceError } from '../errors.ts';
import { SQL_HISTORY_MAX } from '../limits.ts';
import { shownText } from '../shown-text.ts';
import { CommandFailure, type CommandWorld, type LinePrompt } from './command.ts';
import { failureText } from './run-command.ts';

type RunSql = (sql: string, signal: AbortSignal) => Promise<void>;

/**
 * Asks for queries and runs each, until the input ends. What goes wrong with one is shown, and the
 * next is asked for.
 */
export async function promptForSql(world: CommandWorld, run: RunSql): Promise<void> {
  const path = historyPath(world);
  const history = await readHistory(path);
  const prompt = world.prompt?.({ history, historyMax: SQL_HISTORY_MAX });
  if (prompt === undefined) return;
  try {
    let lines: string[] = [];
    for (;;) {
      const line = await prompt.read(lines.length === 0 ? 'weir> ' : '   -> ');
      if (line === undefined) return;
      if (line === 'cancelled') {
        lines = [];
        continue;
      }
      if (lines.length > 0 || line.text.trim() !== '') lines.push(line.text);
      if (!line.text.trimEnd().endsWith(';')) continue;
      const sql = lines.join('\n');
      lines = [];
      await runShown(prompt, world, (signal) => run(sql, signal));
    }
  } finally {
    await keepHistory(path, prompt.close(), world);
  }
}

async function runShown(
  prompt: LinePrompt,
  world: CommandWorld,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const cancelled = new AbortController();
  try {
    await prompt.whileCancellable(cancelled, () => run(cancelled.signal));
  } catch (error) {
    if (cancelled.signal.aborted) world.err('the query was cancelled\n');
    else if (error instanceof ServiceError || error instanceof CommandFailure) {
      world.err(`${failureText(error)}\n`);
    } else throw error;
  }
}

/** In the folder for state of the XDG Base Directory Specification. */
function historyPath({ environment }: CommandWorld): string {
  const given = environment['XDG_STATE_HOME'];
  const folder = given?.startsWith('/')
    ? given
    : join(environment['HOME'] ?? homedir(), '.local/state');
  return join(folder, 'weir', 'sql-history');
}

/** The newest line first, as `node:readline` wants them. A file that cannot be read is no history. */
async function readHistory(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .reverse();
}

/** Queries may name what others must not see: only the user may read the file. */
async function keepHistory(
  path: string,
  history: readonly string[],
  world: CommandWorld,
): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(
      path,
      history
        .toReversed()
        .map((line) => `${line}\n`)
        .join(''),
      { mode: 0o600 },
    );
  } catch (error) {
    world.err(`${shownText(path)} cannot be written: ${systemReason(error)}\n`);
  }
}
