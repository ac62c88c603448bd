import type { DefinitionCopy } from './definition-copy.ts';
import type { DefinitionSide, FixedDefinition, SideState } from './definition-side.ts';

/** What has to be done so that one definition is on a side as it is on the other. */
export type SideChange =
  | { readonly before: undefined; readonly after: DefinitionCopy }
  | { readonly before: DefinitionCopy; readonly after: DefinitionCopy | undefined };

/** What is on one side, held against what comes from the other. */
export type SideComparison = {
  /** In the order of names; what is taken away comes last. */
  readonly changes: readonly SideChange[];
  readonly sameCount: number;
  /** What is there alone, and stays. */
  readonly alone: readonly DefinitionCopy[];
  /** Sentences about what stays as it is, and why. */
  readonly problems: readonly string[];
};

/**
 * How side `to` comes to have what side `from` has, both as they were read last. Definitions are the same by
 * their ids, so that one with another name is changed; what means the same stays as it is written.
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

/** The definition that a change is about, as it is called afterwards. */
export function changedName({ before, after }: SideChange): string {
  return before === undefined ? after.name : (after ?? before).name;
}

function byName(left: DefinitionCopy, right: DefinitionCopy): number {
  return left.name < right.name ? -1 : 1;
}

/** What is changed elsewhere is changed nowhere here. */
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
