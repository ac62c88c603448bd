import type { Span } from '../../query-error.ts';
import type { Column } from '../expression.ts';
import type { LogicalPlan } from '../logical-plan.ts';

/** A bound query: its plan, and the columns of its output in order; names may repeat. */
export type Relation = {
  readonly plan: LogicalPlan;
  readonly columns: readonly Column[];
  /** Where the text selects each of the columns. */
  readonly spans: readonly Span[];
  /** Whether each row is the value of its only column, as after SELECT AS STRUCT. */
  readonly isValue?: boolean | undefined;
  /** Whether a star in its select list left out top-level keys of events, which only the data knows. */
  readonly leavesKeysOut?: boolean | undefined;
};
