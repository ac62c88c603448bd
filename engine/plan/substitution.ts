import type { ColumnId, Expression } from './expression.ts';
import { childrenOf, substitute } from './expression-walk.ts';

/**
 * Nodes that the conditions above a projection, or the keys of a sort, may come to once its expressions are put in
 * the place of its columns; beyond, they stay above it. Those of log pages have some tens.
 */
const SUBSTITUTED_NODES_MAX = 8_192;

/**
 * … and that one pass of the optimiser may write so, at all projections and unions. All later passes look at them: with
 * 30,000 a text of 5,500 characters took 8,000,000 steps.
 */
const SUBSTITUTION_NODES_MAX = 12_000;

/** … and the conditions above one union, in all of its inputs together: each input has scans that look at all of them. */
const UNION_NODES_MAX = 3_000;

/** Some of a plan's terms with expressions in place of columns, and those that stay as they are. */
export type Substituted<T> = {
  readonly within: readonly { readonly term: T; readonly expression: Expression }[];
  readonly beyond: readonly T[];
};

/**
 * Puts expressions in place of columns, as one pass of the optimiser carries its terms down through a plan. Plans are
 * made on the main thread: a column that stands twice in each of many projections would be written out two to that
 * power times, and a long condition is written anew at each of hundreds. So what there is of both is bounded.
 */
export class Substitution {
  #nodesLeft = SUBSTITUTION_NODES_MAX;

  /**
   * Of the terms as many as may grow to SUBSTITUTED_NODES_MAX together, or do not grow, and as the pass has
   * nodes left for; the others are `beyond`.
   */
  within<T>(
    terms: readonly T[],
    replacements: ReadonlyMap<ColumnId, Expression>,
    expressionOf: (term: T) => Expression,
  ): Substituted<T> {
    const within: { term: T; expression: Expression }[] = [];
    const beyond: T[] = [];
    let grownLeft = SUBSTITUTED_NODES_MAX;
    for (const term of terms) {
      const expression = expressionOf(term);
      const addedCount = nodesAddedBy(expression, replacements);
      const count = nodeCountOf(expression) + addedCount;
      const grownCount = addedCount === 0 ? 0 : count;
      if (grownCount > grownLeft || count > this.#nodesLeft) {
        beyond.push(term);
        continue;
      }
      grownLeft -= grownCount;
      this.#nodesLeft -= count;
      within.push({ term, expression: substitute(expression, replacements) });
    }
    return { within, beyond };
  }

  /** Of the terms as many as a union may write, each so many times, and as the pass has nodes left for. */
  spendCopies(
    terms: readonly Expression[],
    copyCount: number,
  ): { readonly within: readonly Expression[]; readonly beyond: readonly Expression[] } {
    const within: Expression[] = [];
    const beyond: Expression[] = [];
    let copiesLeft = UNION_NODES_MAX;
    for (const term of terms) {
      const count = copyCount * nodeCountOf(term);
      if (count > Math.min(copiesLeft, this.#nodesLeft)) {
        beyond.push(term);
        continue;
      }
      copiesLeft -= count;
      this.#nodesLeft -= count;
      within.push(term);
    }
    return { within, beyond };
  }
}

/** By how many nodes an expression grows where others are put in place of its columns. */
function nodesAddedBy(
  expression: Expression,
  replacements: ReadonlyMap<ColumnId, Expression>,
): number {
  if (expression.op === 'column') {
    const replacement = replacements.get(expression.id);
    return replacement === undefined ? 0 : nodeCountOf(replacement) - 1;
  }
  return childrenOf(expression).reduce((sum, child) => sum + nodesAddedBy(child, replacements), 0);
}

/** Of expressions looked at: they never change, and may stand within one another in many places. */
const nodeCounts = new WeakMap<Expression, number>();

/** The nodes of an expression as it is written out, one that stands in several places as often. */
function nodeCountOf(expression: Expression): number {
  const children = childrenOf(expression);
  if (children.length === 0) return 1;
  let count = nodeCounts.get(expression);
  if (count === undefined) {
    count = children.reduce((sum, child) => sum + nodeCountOf(child), 1);
    nodeCounts.set(expression, count);
  }
  return count;
}
