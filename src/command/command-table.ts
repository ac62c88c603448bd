import { hint } from '../../engine/columns.ts';
import { echo } from '../echo.ts';
import { packageVersion } from '../version.ts';
import type { Command, CommandWorld, ExitStatus } from './command.ts';
import { EXIT_STATUS } from './command-help.ts';
import { runCommand } from './run-command.ts';

type CommandEntry = {
  readonly name: string;
  /** Its purpose, for the list of commands and its own help. */
  readonly summary: string;
  /** Imports the command's code. It is lazy, so that a start loads only what it needs. */
  readonly read: () => Promise<Command>;
};

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'start',
    summary: 'run the service',
    read: async () => (await import('./start-command.ts')).START,
  },
  {
    name: 'demo',
    summary: 'run the service in a temporary folder with sample traffic',
    read: async () => (await import('./demo-command.ts')).DEMO,
  },
  {
    name: 'query',
    summary: 'run a saved query and show its rows',
    read: async () => (await import('./query-command.ts')).QUERY,
  },
  {
    name: 'sql',
    summary: 'run SQL that is not saved, or ask for it at a prompt',
    read: async () => (await import('./sql-command.ts')).SQL,
  },
  {
    name: 'post',
    summary: 'send the events of a file to a source',
    read: async () => (await import('./post-command.ts')).POST,
  },
  {
    name: 'tail',
    summary: 'follow a source: show events as they are stored',
    read: async () => (await import('./tail-command.ts')).TAIL,
  },
  {
    name: 'explain',
    summary: 'show the plan of a saved query, and how long each step takes',
    read: async () => (await import('./explain-command.ts')).EXPLAIN,
  },
  {
    name: 'sources',
    summary: 'list sources, and add new ones',
    read: async () => (await import('./sources-command.ts')).SOURCES,
  },
  {
    name: 'token',
    summary: 'create, list, limit and revoke tokens',
    read: async () => (await import('./token-command.ts')).TOKEN,
  },
  {
    name: 'endpoints',
    summary: 'list definitions, and copy them between a folder and a service',
    read: async () => (await import('./endpoints-command.ts')).ENDPOINTS,
  },
  {
    name: 'check',
    summary: 'check a folder of definitions, without a service',
    read: async () => (await import('./check-command.ts')).CHECK,
  },
  {
    name: 'doctor',
    summary: 'say why somebody does not see their logs',
    read: async () => (await import('./doctor-command.ts')).DOCTOR,
  },
  {
    name: 'clock',
    summary: 'show the clock that deletes old logs, and trust it after it jumped ahead',
    read: async () => (await import('./clock-command.ts')).CLOCK,
  },
  {
    name: 'ship',
    summary: 'send what a data folder holds to ClickHouse',
    read: async () => (await import('./ship-command.ts')).SHIP,
  },
  {
    name: 'inspect',
    summary: 'show what a data folder holds',
    read: async () => (await import('./inspect-command.ts')).INSPECT,
  },
  {
    name: 'verify',
    summary: 'compare every byte of a data folder with its checksum',
    read: async () => (await import('./verify-command.ts')).VERIFY,
  },
];

/** Runs the command that the first word names. Rejects only for bugs. */
export async function runWords(words: readonly string[], world: CommandWorld): Promise<ExitStatus> {
  const [name, ...rest] = toFlag(words);
  const entry = COMMANDS.find((each) => each.name === name);
  if (entry !== undefined) {
    return runCommand({ ...entry, command: await entry.read() }, rest, world);
  }
  if (rest.length === 0 && (name === '--help' || name === '-h')) {
    world.out(helpText());
    return 0;
  }
  if (rest.length === 0 && (name === '--version' || name === '-v')) {
    world.out(`${packageVersion()}\n`);
    return 0;
  }
  world.err(`${unknownText(name)}\n\nTry "weir --help" for more information.\n`);
  return 2;
}

/** `weir help` and `weir help COMMAND` are other forms of the flag `--help`. */
function toFlag(words: readonly string[]): readonly string[] {
  const [first, command, ...rest] = words;
  if (first !== 'help') return words;
  return command === undefined ? ['--help'] : [command, '--help', ...rest];
}

function unknownText(name: string | undefined): string {
  const names = COMMANDS.map((each) => each.name);
  const got = name === undefined ? 'nothing' : `${echo(name)}${hint(name, names)}`;
  return `the command must be one of ${names.join(', ')}; got ${got}`;
}

function helpText(): string {
  const entries = [
    ...COMMANDS,
    { name: '--help', summary: 'show this text' },
    { name: '--version', summary: 'show the version' },
  ];
  const width = Math.max(...entries.map(({ name }) => name.length));
  const list = entries.map(({ name, summary }) => `  weir ${name.padEnd(width)}  ${summary}`);
  return `weir takes in the logs of many projects and answers saved SQL queries over HTTP.

${list.join('\n')}

weir COMMAND --help shows the arguments and flags of a command.

${EXIT_STATUS}
`;
}
