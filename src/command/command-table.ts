import { nearestName } from '../../engine/plan/binder/nearest-name.ts';
import { echo } from '../echo.ts';
import { packageVersion } from '../version.ts';
import type { Command, CommandWorld, ExitStatus } from './command.ts';
import { runCommand } from './run-command.ts';

type CommandEntry = {
  readonly name: string;
  /** What it is for, in the list of all commands. */
  readonly summary: string;
  /** Its code is read when it is asked for: each start reads no more than it needs. */
  readonly read: () => Promise<Command>;
};

/** Every command, in the order that the help has them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'start',
    summary: 'run the service',
    read: async () => (await import('./start-command.ts')).START,
  },
  {
    name: 'demo',
    summary: 'run it on a folder of its own, with traffic made up',
    read: async () => (await import('./demo-command.ts')).DEMO,
  },
  {
    name: 'query',
    summary: 'run a saved query, and show its rows',
    read: async () => (await import('./query-command.ts')).QUERY,
  },
  {
    name: 'tail',
    summary: 'follow a source: show events as they come',
    read: async () => (await import('./tail-command.ts')).TAIL,
  },
  {
    name: 'explain',
    summary: 'show how a saved query is answered, and what that takes',
    read: async () => (await import('./explain-command.ts')).EXPLAIN,
  },
  {
    name: 'token',
    summary: 'make, list and revoke tokens',
    read: async () => (await import('./token-command.ts')).TOKEN,
  },
  {
    name: 'endpoints',
    summary: 'list definitions, and keep a folder of them and a service in step',
    read: async () => (await import('./endpoints-command.ts')).ENDPOINTS,
  },
  {
    name: 'check',
    summary: 'tell whether a folder of definitions is right, without a service',
    read: async () => (await import('./check-command.ts')).CHECK,
  },
  {
    name: 'clock',
    summary: 'show the time that old logs are deleted by, and trust a clock that leapt ahead',
    read: async () => (await import('./clock-command.ts')).CLOCK,
  },
  {
    name: 'inspect',
    summary: 'tell what a data folder holds',
    read: async () => (await import('./inspect-command.ts')).INSPECT,
  },
  {
    name: 'verify',
    summary: 'hold every byte of a data folder against its checksum',
    read: async () => (await import('./verify-command.ts')).VERIFY,
  },
];

/** Runs the command that the first word names; rejects only for mistakes of ours. */
export async function runWords(words: readonly string[], world: CommandWorld): Promise<ExitStatus> {
  const [name, ...rest] = words;
  const entry = COMMANDS.find((each) => each.name === name);
  if (entry !== undefined) {
    return runCommand({ name: entry.name, command: await entry.read() }, rest, world);
  }
  if (rest.length === 0 && (name === '--help' || name === '-h')) {
    world.out(helpText());
    return 0;
  }
  if (rest.length === 0 && (name === '--version' || name === '-v')) {
    world.out(`${packageVersion()}\n`);
    return 0;
  }
  world.err(`${unknownText(name)}\n\nweir --help tells what there is\n`);
  return 2;
}

function unknownText(name: string | undefined): string {
  const names = COMMANDS.map((each) => each.name);
  const got = name === undefined ? 'nothing' : echo(name);
  const nearest = name === undefined ? undefined : nearestName(name, names);
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `the command must be one of ${names.join(', ')}; got ${got}${hint}`;
}

function helpText(): string {
  const entries = [
    ...COMMANDS,
    { name: '--help', summary: 'this text; behind a command, what it takes' },
    { name: '--version', summary: 'the version' },
  ];
  const width = Math.max(...entries.map(({ name }) => name.length));
  const list = entries.map(({ name, summary }) => `  weir ${name.padEnd(width)}  ${summary}`);
  return `weir takes in the logs of many projects and answers saved SQL queries over HTTP.

${list.join('\n')}

Exit status: 0 when what was asked was done; 1 when something stood in the way, or something is
damaged; 2 when the words were not understood. weir COMMAND --help tells more of each.
`;
}
