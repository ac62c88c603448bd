import type { DefinitionCopy } from './definition-copy.ts';
import type { DefinitionSide, FixedDefinition, SideState } from './definition-side.ts';

/** A change that makes one definition on a side equal to the other side's. */
export type SideChange =
  | { readonly before: undefined; readonly after: DefinitionCopy }
  | { readonly before: DefinitionCopy; readonly after: DefinitionCopy | undefined };

/** The differences of one side from the other. */
export type SideComparison = {
  /** Changes in order of names, removals last. */
  readonly changes: readonly SideChange[];
  readonly sameCount: number;
  /** Definitions of this side only, which stay. */
  readonly alone: readonly DefinitionCopy[];
  /** Sentences about definitions that stay as they are, with the reasons. */
  readonly problems: readonly string[];
};

/**
 * Computes how side `to` gets the definitions of side `from`, both as last read. Definitions
 * correspond by id, so that a new name is a change. Copies of the same meaning stay as they are
 * written.
 */
export function compareSides(
  from: SideState,
  { side, state: to }: { readonly side: DefinitionSide; readonly state: SideState },
  { isDeleting }: { readonly isDeleting: boolean },
): SideComparison {
  const fixed = [...from.fixed, ...to.fixed];
  const there = new Map(to.copies.map((copy) => [copy.id, copy]));
  const coming = new Set(from.copies.map(({ id }) => id));
  const problems = to.problems.filter(({ id }) => id === undefined || !coming.has(id));
  const obstacles: string[] = [];
  const changes: SideChange[] = [];
  let sameCount = 0;
  for (const after of [...from.copies].sort(byName)) {
    const before = there.get(after.id);
    const obstacle =
      findConflict(after, fixed) ?? (before === undefined ? side.findObstacle(after) : undefined);
    if (obstacle !== undefined) obstacles.push(obstacle);
    else if (before === undefined) changes.push({ before, after });
    else if (before.meaning === after.meaning) sameCount += 1;
    else changes.push({ before, after });
  }
  const alone: DefinitionCopy[] = [];
  for (const before of to.copies.filter(({ id }) => !coming.has(id)).sort(byName)) {
    const conflict = findConflict(before, fixed);
    if (conflict !== undefined) obstacles.push(conflict);
    else if (isDeleting) changes.push({ before, after: undefined });
    else alone.push(before);
  }
  const told = problems.map(({ message }) => message);
  return { changes, sameCount, alone, problems: [...told, ...obstacles] };
}

/** The name of a changed definition, after the change. */
export function changedName({ before, after }: SideChange): string {
  return before === undefined ? after.name : (after ?? before).name;
}

function byName(left: DefinitionCopy, right: DefinitionCopy): number {
  return left.name < right.name ? -1 : 1;
}

/** Finds a definition of the same id or name that cannot be changed on this side. */
function findConflict(
  { id, names, place }: DefinitionCopy,
  fixed: readonly FixedDefinition[],
): string | undefined {
  for (const other of fixed) {
    const shared = [...names].find((name) => other.names.has(name));
    if (other.id === id) return `${place} has the id of ${other.name}, which ${other.origin}`;
    if (shared === undefined) continue;
    return `${place} has the name ${shared}, which is one of ${other.name}, which ${other.origin}`;
  }
  return undefined;
}
