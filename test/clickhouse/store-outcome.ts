import type { Column } from '../../engine/plan/expression.ts';
import type { LogicalPlan } from '../../engine/plan/logical-plan.ts';
import { QueryError } from '../../engine/query-error.ts';
import { UNSUPPORTED } from '../../src/clickhouse/render/refusal.ts';
import type { BothStores, StoreAnswer } from './both-stores.ts';

/** What becomes of a query in the ClickHouse store. */
export type Outcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'differs'; readonly reason: string }
  /** ClickHouse has an error of its own: no answer, and none that is wrong. */
  | { readonly kind: 'breaks'; readonly reason: string };

/** Whether two answers are the same. */
export type AreSame = (one: StoreAnswer, other: StoreAnswer) => boolean;

/** Compares what ClickHouse makes of a plan with the answer of the embedded engine. */
export function outcomeOf(
  stores: BothStores,
  { plan, output }: Asked,
  engine: StoreAnswer,
  areSame: AreSame = areEqual,
): Outcome {
  try {
    const clickHouse = stores.fromClickHouse(plan, output);
    if (areSame(clickHouse, engine)) return withColumns(stores, { plan, output }, clickHouse);
    if ('error' in clickHouse && clickHouse.message.startsWith(UNSUPPORTED)) {
      return { kind: 'refused', reason: clickHouse.message };
    }
    const shown = [clickHouse, engine].map((answer) => JSON.stringify(answer).slice(0, 400));
    return { kind: 'differs', reason: shown.join('\n  ') };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof QueryError) return { kind: 'refused', reason: message };
    return { kind: 'breaks', reason: message.slice(0, 400) };
  }
}

type Asked = { readonly plan: LogicalPlan; readonly output: readonly Column[] };

/** The same query once more, over columns of the fields that it reads. */
function withColumns(stores: BothStores, { plan, output }: Asked, known: StoreAnswer): Outcome {
  const findField = stores.addFieldColumns(plan, output);
  if (findField === undefined) return { kind: 'same' };
  const answer = stores.fromClickHouse(plan, output, { findField });
  if (areAlike(answer, known)) return { kind: 'same' };
  const shown = [answer, known].map((each) => JSON.stringify(each).slice(0, 400));
  return { kind: 'differs', reason: `with columns of fields: ${shown.join('\n  ')}` };
}

/** Rows without an order may come in any. */
function areAlike(one: StoreAnswer, other: StoreAnswer): boolean {
  if ('error' in one || 'error' in other) return areEqual(one, other);
  return areEqual({ rows: one.rows.toSorted() }, { rows: other.rows.toSorted() });
}

/** Messages may differ, for ClickHouse does not tell the values. */
export function areEqual(one: StoreAnswer, other: StoreAnswer): boolean {
  if ('error' in one || 'error' in other) {
    return 'error' in one && 'error' in other && one.error === other.error;
  }
  return one.rows.length === other.rows.length && one.rows.every((row, i) => row === other.rows[i]);
}

/** Reasons and how often each was met, the most frequent first. */
export function countedReasons(outcomes: readonly Outcome[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    if (outcome.kind !== 'refused') continue;
    const reason = outcome.reason.replace(`${UNSUPPORTED} `, '');
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  return sorted.map(([reason, count]) => `${count} × ${reason}`);
}
