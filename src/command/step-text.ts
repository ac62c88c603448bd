import { count } from '../../engine/index.ts';
import type { Outcome } from './carry-out.ts';
import { changeText } from './change-text.ts';
import type { CommandWorld } from './command.ts';
import type { DefinitionSide } from './definition-side.ts';
import { failureText } from './run-command.ts';
import { changedName, type SideChange, type SideComparison } from './side-comparison.ts';
import { type StepReport, toAction } from './step-report.ts';

const ACTION_WORDS = {
  make: { todo: 'to create', done: 'created' },
  change: { todo: 'to change', done: 'changed' },
  remove: { todo: 'to delete', done: 'deleted' },
} as const;

/** Reports for a person during the work, beginning with a diff of each change. */
export class StepText implements StepReport {
  readonly #from: string;
  readonly #to: string;
  readonly #world: Pick<CommandWorld, 'out' | 'err'>;

  constructor(
    { from, to }: { readonly from: DefinitionSide; readonly to: DefinitionSide },
    world: Pick<CommandWorld, 'out' | 'err'>,
  ) {
    this.#from = from.where;
    this.#to = to.where;
    this.#world = world;
  }

  notUnderstood(problems: readonly string[]): void {
    this.#tellProblems(problems);
    this.#world.err(`nothing is changed, because some entries ${this.#from} cannot be read\n`);
  }

  compared({ changes, sameCount, alone, problems }: SideComparison): void {
    this.#tellProblems(problems);
    const diffs = changes.map((change) => `${changeText(change)}\n`);
    const names = alone.map(({ name }) => name).join(', ');
    const rest = alone.length === 0 ? '' : `only ${this.#to}: ${names}; --delete deletes them\n`;
    const kinds = ['make', 'change', 'remove'] as const;
    const sizes = kinds.map((kind) => {
      const size = changes.filter((change) => toAction(change) === kind).length;
      return `${count(size)} ${ACTION_WORDS[kind].todo}`;
    });
    const sum = `${this.#to}: ${sizes.join(', ')}, ${count(sameCount)} unchanged\n`;
    this.#world.out(`${diffs.join('')}${rest}${sum}`);
  }

  notBegun(): void {}

  made(change: SideChange): void {
    this.#world.out(`${changedName(change)} is ${formatDone(change)}\n`);
  }

  ended({ refused, stopped, left }: Outcome): void {
    const { err } = this.#world;
    for (const { change, error } of refused) {
      err(`${changedName(change)} is not ${formatDone(change)}: ${failureText(error)}\n`);
    }
    if (stopped === undefined) return;
    const { change, error } = stopped;
    err(`${failureText(error)}\n${changedName(change)} may be ${formatDone(change)} or not\n`);
    for (const each of left) err(`${changedName(each)} is not ${formatDone(each)}\n`);
  }

  #tellProblems(problems: readonly string[]): void {
    for (const problem of problems) this.#world.err(`${problem}\n`);
  }
}

function formatDone(change: SideChange): string {
  return ACTION_WORDS[toAction(change)].done;
}
