import { must } from '../../engine/columns.ts';
import { ServiceError } from '../errors.ts';
import type { Outcome } from './carry-out.ts';
import { changeText } from './change-text.ts';
import type { CommandWorld } from './command.ts';
import { jsonText } from './folder-command.ts';
import { changedName, type SideChange, type SideComparison } from './side-comparison.ts';
import { type StepReport, toAction } from './step-report.ts';

/** The result of a change, as a stable word. */
type Result =
  /** Not begun. */
  | 'planned'
  | 'done'
  /** Refused; nothing was changed. */
  | 'refused'
  /** A failure ended the work; this change may have been made or not. */
  | 'uncertain'
  /** Not begun, because of that failure. */
  | 'left';

type Told = { readonly result: Result; readonly error?: Error };

const NOTHING: SideComparison = { changes: [], sameCount: 0, alone: [], problems: [] };

/** Reports for programs: one object at the end. */
export class StepJson implements StepReport {
  readonly #world: Pick<CommandWorld, 'out'>;
  #comparison = NOTHING;

  constructor(world: Pick<CommandWorld, 'out'>) {
    this.#world = world;
  }

  notUnderstood(problems: readonly string[]): void {
    this.#comparison = { ...NOTHING, problems };
    this.notBegun();
  }

  compared(comparison: SideComparison): void {
    this.#comparison = comparison;
  }

  notBegun(): void {
    this.#tell(() => ({ result: 'planned' }));
  }

  made(): void {}

  ended({ done, refused, stopped, left }: Outcome): void {
    const told = new Map<SideChange, Told>();
    for (const change of done) told.set(change, { result: 'done' });
    for (const { change, error } of refused) told.set(change, { result: 'refused', error });
    for (const change of left) told.set(change, { result: 'left' });
    if (stopped) told.set(stopped.change, { result: 'uncertain', error: stopped.error });
    this.#tell((change) => must(told.get(change), 'each change has come to something'));
  }

  #tell(of: (change: SideChange) => Told): void {
    const { changes, sameCount, alone, problems } = this.#comparison;
    const told = {
      changes: changes.map((change) => changeJson(change, of(change))),
      sameCount,
      alone: alone.map(({ id, name }) => ({ id, name })),
      problems,
    };
    this.#world.out(`${jsonText(told)}\n`);
  }
}

function changeJson(change: SideChange, { result, error }: Told) {
  return {
    action: toAction(change),
    id: (change.before ?? change.after).id,
    name: changedName(change),
    diff: changeText(change),
    result,
    error: error && errorJson(error),
  };
}

function errorJson(error: Error) {
  const { message } = error;
  const { code, details } =
    error instanceof ServiceError ? error : { code: undefined, details: {} };
  return { code, message, line: details.line, column: details.column, caret: details.caret };
}
