import { problemText } from '../definition/definition-problem.ts';
import { carryOut } from './carry-out.ts';
import {
  type Command,
  type CommandWords,
  type CommandWorld,
  type ExitStatus,
  mustBeNone,
  mustBeOne,
  mustFindVerb,
  UsageError,
} from './command.ts';
import type { DefinitionSide, SideState } from './definition-side.ts';
import { jsonText } from './folder-command.ts';
import { FolderSide } from './folder-side.ts';
import { parameterLines } from './listed-parameter.ts';
import { createServiceClient, type ServiceClient, TOKEN_NOTE, URL_FLAG } from './service-client.ts';
import { ServiceSide } from './service-side.ts';
import { compareSides } from './side-comparison.ts';
import { StepJson } from './step-json.ts';
import type { StepReport } from './step-report.ts';
import { StepText } from './step-text.ts';
import { textTable } from './text-table.ts';

/** `weir endpoints`. */
export const ENDPOINTS: Command = {
  usage: [
    'list [--json]',
    'push FOLDER [--delete] [--yes | --dry-run] [--json]',
    'pull FOLDER [--delete] [--yes | --dry-run] [--json]',
  ],
  about: `
list shows the definitions of the service and their parameters. On standard error it lists the files
that have an error, with the reason.

push makes the definitions of the service equal to the *.sql files of FOLDER; pull makes the files
equal to the service. Both show every difference first, and ask. Definitions are compared by id, so
a renamed one is changed, not added. A definition whose meaning has not changed keeps its text.
Built-in definitions and those of the service's ENDPOINTS_DIR do not change. weir refuses to change
a definition that somebody else has changed in the meantime. If a definition to copy is wrong,
nothing is changed.

pull writes a new definition to NAME.sql, and a changed one to the file that it has.`,
  flags: {
    delete: { text: 'remove definitions that only the target has; without it they stay' },
    yes: { text: 'do not ask; needed where there is no terminal' },
    'dry-run': { text: 'change nothing; the exit status is 1 if there is something to change' },
    json: {
      text: 'write the list, or each change with its diff and its result, as JSON; push and pull need --yes or --dry-run with it',
    },
    url: URL_FLAG,
  },
  notes: [`${TOKEN_NOTE} It needs the scope manage.`],
  run: (words, world) => {
    const [verb, ...rest] = words.positionals;
    return mustFindVerb('endpoints', VERBS, verb)(words, rest, world);
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

/** Flags of push and pull only. */
const CHANGING = ['delete', 'yes', 'dry-run'] as const;

async function list(
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  mustBeNone('list', rest);
  const given = CHANGING.find((option) => words.has(option));
  if (given !== undefined) throw new UsageError(`--${given} is for push and pull`);
  const { result, problems } = await new ServiceSide(createServiceClient(words, world)).list();
  const rows = result.map(({ name, origin, version, id, cache, description }) => {
    return { name, origin, version, id, cache, description };
  });
  const definitions = result.map(({ name, parameters, inherited_parameters }) => {
    return { name, parameters: [...parameters, ...inherited_parameters] };
  });
  if (words.has('json')) {
    const whole = rows.map((row, index) => {
      const parameters = definitions[index]!.parameters.map(({ values, ...parameter }) => {
        return { ...parameter, enum: values };
      });
      return { ...row, parameters };
    });
    world.out(`${jsonText(whole)}\n`);
  } else {
    const lines = ['', 'Parameters:', ...parameterLines(definitions)];
    world.out(`${[textTable(rows, rows.length), ...lines].join('\n')}\n`);
  }
  // On the other output, because programs read the list.
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
  const { folder, client } = parseChange('push', words, rest, world);
  const from = new FolderSide(folder, { isNeeded: true });
  return bringInStep({ from, to: new ServiceSide(client), words, world });
}

function pull(
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  const { folder, client } = parseChange('pull', words, rest, world);
  const to = new FolderSide(folder, { isNeeded: false });
  return bringInStep({ from: new ServiceSide(client), to, words, world });
}

/** @throws UsageError when the arguments do not say what to change. */
function parseChange(
  verb: string,
  words: CommandWords,
  rest: readonly string[],
  world: CommandWorld,
): { readonly folder: string; readonly client: ServiceClient } {
  const folder = mustBeOne(verb, 'one folder of definitions', rest);
  if (words.has('yes') && words.has('dry-run')) {
    throw new UsageError('give --yes or --dry-run, not both');
  }
  if (words.has('json') && !words.has('yes') && !words.has('dry-run')) {
    throw new UsageError('a program is not asked: give --yes or --dry-run beside --json');
  }
  return { folder, client: createServiceClient(words, world) };
}

type Step = {
  readonly from: DefinitionSide;
  readonly to: DefinitionSide;
  readonly words: CommandWords;
  readonly world: CommandWorld;
};

/** Changes one side to match the other, as far as the arguments ask for it. */
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

/** @throws UsageError when there is no terminal to ask at. */
async function isWanted({ where }: DefinitionSide, { ask }: CommandWorld): Promise<boolean> {
  if (ask === undefined) {
    throw new UsageError(
      'there is no terminal to ask at, and nothing is changed; --yes changes without asking',
    );
  }
  const answer = await ask(`change this ${where}? [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}
