import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert, must } from '../../engine/assert.ts';
import { parseCommandLine } from '../../src/command/command-line.ts';
import { START } from '../../src/command/start-command.ts';
import { VARIABLES_READ } from '../../src/setting-table.ts';
import { parseSettings, type Settings } from '../../src/settings.ts';

/** Variables before the command, and its words. */
const LINE = /^((?:[A-Z_]+=\S+ )*)weir start((?: \S+)*)$/;

/** Whether an example begins with a start of the service: `PORT=5000 weir start --strict`. */
export function isStart(text: string): boolean {
  return LINE.test(text.trim().split('\n')[0]!);
}

/**
 * The settings that a line gives; what is no setting is an error. The files that it names are made in a folder of the
 * test.
 */
export async function settingsOfStart(line: string, folder: string): Promise<Settings> {
  const [, variables, words] = must(LINE.exec(line), `${line} starts the service`);
  const environment: Record<string, string> = {};
  for (const [, name, value] of variables!.matchAll(/([A-Z_]+)=(\S+)/g)) {
    assert(VARIABLES_READ.includes(name!), `${name} is a variable that is read`);
    const path = join(folder, name!);
    environment[name!] = name!.endsWith('_FILE') ? path : value!;
    if (environment[name!] === path) await writeFile(path, 'a-token-from-a-file');
  }
  const given = words!.split(' ').filter((word) => word !== '');
  const { values } = parseCommandLine({ name: 'start', command: START }, given);
  return parseSettings(environment, { flags: values });
}
