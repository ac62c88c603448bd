import { ServiceError } from '../errors.ts';
import { CommandFailure } from './command.ts';
import type { DefinitionSide } from './definition-side.ts';
import { UnreachableError } from './service-client.ts';
import type { SideChange } from './side-comparison.ts';

/** The result of changes. */
export type Outcome = {
  readonly done: readonly SideChange[];
  /** Changes that were refused, with the reasons. */
  readonly refused: readonly { readonly change: SideChange; readonly error: Error }[];
  /** The failure that ended the work; its change may have been made or not. */
  readonly stopped: { readonly change: SideChange; readonly error: Error } | undefined;
  /** Changes that were not tried after that failure, or that depend on refused ones. */
  readonly left: readonly SideChange[];
};

/**
 * Makes changes to a side, in rounds. A refused change may depend on another one: a definition
 * needs those that it selects from, and a name must be free. So it is tried again as long as others
 * succeed. Rounds are few, because definitions nest at most eight deep.
 */
export async function carryOut(
  changes: readonly SideChange[],
  side: DefinitionSide,
  onDone: (change: SideChange) => void,
): Promise<Outcome> {
  const done: SideChange[] = [];
  let refused: { readonly change: SideChange; readonly error: Error }[] = [];
  let left = changes;
  for (let hasMoved = true; hasMoved; left = refused.map(({ change }) => change)) {
    hasMoved = false;
    refused = [];
    for (const [index, change] of left.entries()) {
      try {
        await make(change, side);
      } catch (error) {
        if (!isExpected(error)) throw error;
        if (!concernsItAlone(error)) {
          const waiting = [...refused.map((each) => each.change), ...left.slice(index + 1)];
          return { done, refused: [], stopped: { change, error }, left: waiting };
        }
        refused.push({ change, error });
        continue;
      }
      done.push(change);
      onDone(change);
      hasMoved = true;
    }
  }
  return { done, refused, stopped: undefined, left: [] };
}

function make({ before, after }: SideChange, side: DefinitionSide): Promise<void> {
  if (before === undefined) return side.put(after, before);
  return after === undefined ? side.remove(before) : side.put(after, before);
}

function isExpected(error: unknown): error is Error {
  return error instanceof ServiceError || error instanceof CommandFailure;
}

/** Whether the failure is about this change only, so that the next may succeed. */
function concernsItAlone(error: Error): boolean {
  if (error instanceof ServiceError) return REFUSALS.has(error.status);
  return !(error instanceof UnreachableError);
}

/** Statuses about a single definition; others are about the token or the service. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 409, 412, 413, 422]);
