import { problemText } from '../definition/definition-problem.ts';
import { echo } from '../echo.ts';
import { carryOut } from './carry-out.ts';
import {
  type Command,
  type CommandWords,
  type CommandWorld,
  type ExitStatus,
  UsageError,
} from './command.ts';
import type { DefinitionSide, SideState } from './definition-side.ts';
import { jsonText } from './folder-command.ts';
import { FolderSide } from './folder-side.ts';
import { type ServiceClient, serviceOf } from './service-client.ts';
import { ServiceSide } from './service-side.ts';
import { compareSides } from './side-comparison.ts';
import { StepJson } from './step-json.ts';
import type { StepReport } from './step-report.ts';
import { StepText } from './step-text.ts';
import { textTable } from './text-table.ts';

/** `weir endpoints`. */
export const ENDPOINTS: Command = {
  help: `weir endpoints lists definitions, and keeps a folder of them and a service in step.

  weir endpoints list [--json]
  weir endpoints push FOLDER [--delete] [--yes | --dry-run] [--json]
  weir endpoints pull FOLDER [--delete] [--yes | --dry-run] [--json]

list names on standard error the files whose definitions are not in force as they are, and why.

push makes the definitions of the service what the *.sql files of FOLDER say, and pull the other way
round. Both show each difference first, and ask. Definitions are told apart by their ids: one with
another name is changed. What means the same stays as it is written. Those that are built in and
those of the service's ENDPOINTS_DIR are left alone. What has changed since it was shown is refused.

pull writes a new definition to NAME.sql, and a changed one to the file that it has.

  --delete   take away what is there alone; else that is told, and stays
  --yes      do not ask; without a terminal there is nobody to be asked
  --dry-run  change nothing
  --json     the list, or each change with its diff and what came of it, as JSON; a program is not
             asked, so --yes or --dry-run is given, too
  --url URL  the service; else http://HOST:PORT as the settings have them
  --help     this text

What cannot be understood where definitions come from stops everything; where they go to, it is told
and left alone. The token of the service, with the scope manage, is read from PRIVATE_ACCESS_TOKEN.

Exit status: 0 when all was done, or nothing was to be done; 1 when something was refused or stood
in the way, the answer was no, or --dry-run finds something to be done; 2 when the command was not
understood, or nobody is there to be asked.
`,
  options: {
    delete: { type: 'boolean' },
    yes: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
    url: { type: 'string' },
  },
  run: (words, world) => {
    const [verb, ...rest] = words.positionals;
    const act = VERBS.get(verb ?? '');
    if (act === undefined) {
      const got = verb === undefined ? 'nothing' : echo(verb);
      throw new UsageError(`endpoints must be followed by list, push or pull; got ${got}`);
    }
    return act(words, rest, world);
  },
};

type Verb = (
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
) => Promise<ExitStatus>;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['push', push],
  ['pull', pull],
]);

/** Options of push and pull alone. */
const CHANGING = ['delete', 'yes', 'dry-run'] as const;

async function list(
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  if (rest.length > 0) throw new UsageError('list takes no words behind it');
  const given = CHANGING.find((option) => words.has(option));
  if (given !== undefined) throw new UsageError(`--${given} is for push and pull`);
  const { result, problems } = await new ServiceSide(serviceOf(words, world)).list();
  const rows = result.map(({ name, origin, version, id, cache, description }) => {
    return { name, origin, version, id, cache, description };
  });
  world.out(`${words.has('json') ? jsonText(rows) : textTable(rows, rows.length)}\n`);
  // Apart from the list, which programs read.
  for (const { message, ...problem } of problems) {
    world.err(`${problemText({ ...problem, reason: message })}\n`);
  }
  return 0;
}

function push(
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  const { folder, client } = changeOf('push', words, rest, world);
  const from = new FolderSide(folder, { isNeeded: true });
  return bringInStep({ from, to: new ServiceSide(client), words, world });
}

function pull(
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  const { folder, client } = changeOf('pull', words, rest, world);
  const to = new FolderSide(folder, { isNeeded: false });
  return bringInStep({ from: new ServiceSide(client), to, words, world });
}

/** @throws UsageError for words that do not say what to change. */
function changeOf(
  verb: string,
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): { readonly folder: string; readonly client: ServiceClient } {
  const [folder, ...more] = rest;
  if (folder === undefined || folder === '' || more.length > 0) {
    const got = rest.map((word) => echo(word)).join(', ') || 'nothing';
    throw new UsageError(`${verb} must be followed by one folder of definitions; got ${got}`);
  }
  if (words.has('yes') && words.has('dry-run')) {
    throw new UsageError('give --yes or --dry-run, not both');
  }
  if (words.has('json') && !words.has('yes') && !words.has('dry-run')) {
    throw new UsageError('a program is not asked: give --yes or --dry-run beside --json');
  }
  return { folder, client: serviceOf(words, world) };
}

type Step = {
  readonly from: DefinitionSide;
  readonly to: DefinitionSide;
  readonly words: CommandWords;
  readonly world: CommandWorld;
};

/** Has one side have what the other has, as far as that is wanted. */
async function bringInStep({ from, to, words, world }: Step): Promise<ExitStatus> {
  const report: StepReport = words.has('json')
    ? new StepJson(world)
    : new StepText({ from, to }, world);
  const source = await from.read();
  if (source.problems.length > 0) {
    report.notUnderstood(source.problems.map(({ message }) => message));
    return 1;
  }
  const state: SideState = await to.read();
  const compared = compareSides(source, { side: to, state }, { isDeleting: words.has('delete') });
  report.compared(compared);
  const { changes, problems } = compared;
  if (words.has('dry-run') || changes.length === 0) {
    report.notBegun();
    return problems.length + changes.length > 0 ? 1 : 0;
  }
  if (!words.has('yes') && !(await isWanted(to, world))) {
    world.err('nothing is changed\n');
    return 1;
  }
  const outcome = await carryOut(changes, to, (change) => report.made(change));
  report.ended(outcome);
  return problems.length > 0 || outcome.done.length < changes.length ? 1 : 0;
}

/** @throws UsageError where there is nobody to be asked. */
async function isWanted({ where }: DefinitionSide, { ask }: CommandWorld): Promise<boolean> {
  if (ask === undefined) {
    throw new UsageError(
      'there is no terminal to ask at, and nothing is changed; --yes changes without asking',
    );
  }
  const answer = await ask(`change this ${where}? [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}
