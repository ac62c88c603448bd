import { resolve } from 'node:path';
import { count } from '../../engine/index.ts';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';
import { LINES_LISTED_MAX } from '../limits.ts';
import { parseSettings } from '../settings.ts';
import type { CallDifference, FolderCheck, RowDifference } from './check-run.ts';
import { checkFolder } from './check-run.ts';
import { type Command, CommandFailure, type CommandWords, mustBeOne } from './command.ts';
import { jsonText } from './folder-command.ts';
import { showShare } from './progress.ts';

/** `weir check`. */
export const CHECK: Command = {
  usage: ['FOLDER [--json]'],
  about: `
weir check reads and binds each NAME.sql as a start does, together with the other files and the
built-in definitions. These files may be beside it:

  NAME.expect.json    calls of it and their expected answers, at a fixed time:
                      {"now": "2026-01-15T12:00:00Z", "calls": [
                        {"parameters": {"project": "alpha"}, "rows": [{"errors": 2}]},
                        {"error": "missing_parameter"}]}
  NAME.events.ndjson  the events that the calls read, one in each line:
                      {"source": "postgres.logs", "event": {"project": "alpha"}}

A folder without any NAME.sql is a problem. A name that a source has, too, is a warning, which does
not change the exit status.

The calls are answered by the engine of the service, over these events alone. Events without an id
are numbered: 00000000-0000-4000-8000-000000000001, and so on. Rows are compared one by one, in
their order; the order of keys does not matter. PROFILE, SOURCES, DEFAULT_SOURCE and RETENTION_DAYS
are read from the environment, as the service does.`,
  flags: { json: { text: 'write everything as JSON' } },
  run: async (words, world) => {
    const folder = parseFolder(words);
    const settings = parseSettings(world.environment);
    const onProgress = showShare('checking');
    const found = await checkFolder(folder, settings, onProgress)
      .catch((cause: unknown): never => {
        if (systemCode(cause) === undefined) throw cause;
        const reason = systemReason(cause);
        throw new CommandFailure(`${folder} must be a folder that can be read: ${reason}`, cause);
      })
      .finally(onProgress.end);
    world.out(words.has('json') ? `${jsonText({ folder, ...found })}\n` : checkText(found));
    return found.problems.length + found.differences.length === 0 ? 0 : 1;
  },
};

function parseFolder({ positionals }: CommandWords): string {
  return resolve(mustBeOne('check', 'one folder of definitions', positionals));
}

function checkText(check: FolderCheck): string {
  const { definitionCount, callCount, problems, warnings, differences } = check;
  const parts = [...problems.map((problem) => `${problem}\n`), ...differences.map(differenceText)];
  const counts = [many(problems.length, 'problem'), many(differences.length, 'difference')];
  if (warnings.length > 0) counts.push(many(warnings.length, 'warning'));
  const isRight = parts.length + warnings.length === 0;
  const verdict = isRight ? 'no problems found' : counts.join(', ');
  const seen = `${many(definitionCount, 'definition')}, ${many(callCount, 'call')}`;
  const warned = warnings.map((warning) => `warning: ${warning}\n`);
  return [...warned, ...parts, `${seen}: ${verdict}\n`].join('\n');
}

function many(size: number, noun: string): string {
  return `${count(size)} ${noun}${size === 1 ? '' : 's'}`;
}

function differenceText({
  file,
  call,
  endpoint,
  parameters,
  rows,
  failure,
}: CallDifference): string {
  const given = Object.entries(parameters).map(([name, text]) => ` ${name}=${text}`);
  const lines = [`${file}, call ${call}: ${endpoint}${given.join('')}`];
  if (failure !== undefined) {
    lines.push(`  expected ${failure.expected}`, `  got      ${failure.got}`);
  }
  for (const row of rows.slice(0, LINES_LISTED_MAX)) lines.push(...rowLines(row));
  const rest = rows.length - LINES_LISTED_MAX;
  if (rest > 0) lines.push(`  and ${count(rest)} more rows`);
  return `${lines.join('\n')}\n`;
}

function rowLines({ row, expected, got }: RowDifference): readonly string[] {
  if (got === undefined)
    return [`  row ${row} is missing`, `    expected ${JSON.stringify(expected)}`];
  if (expected === undefined)
    return [`  row ${row} is not expected`, `    got      ${JSON.stringify(got)}`];
  return [
    `  row ${row} differs`,
    `    expected ${JSON.stringify(expected)}`,
    `    got      ${JSON.stringify(got)}`,
  ];
}
