/**
 * One of the two faces of the engine, which alone are imported from outside of it: queries, their plans and their runs. Values,
 * errors and segments are in `columns.ts`, which loads less.
 */

// The engine, and what it says of itself.

export {
  type BegunAnswer,
  Engine,
  type EngineStats,
  type FieldsOrder,
  type QueryAnswer,
  type RunOptions,
} from './engine.ts';
export type { PoolLimits } from './pool/pool-limits.ts';

// Texts of SQL: parsed, bound to sources and views, and kept.

export type { Within } from './plan/binder/binding.ts';
export { functionNames } from './plan/binder/special-forms.ts';
export { type PreparedQuery, prepareInPieces, prepareQuery } from './plan/prepared-query.ts';
export { parseExpression } from './sql/expression-parser.ts';
export { parseQuery } from './sql/query-parser.ts';
export { TokenCursor } from './sql/token-cursor.ts';

// Planning in pieces, so that others have their turns.

export { type Pieces, runPieces, type Timed, timed } from './plan/pieces.ts';

// What a run may read, and the snapshot it reads.

export { checkReach, EVERYTHING, type Reach, reachText, withinReach } from './plan/reach.ts';
export { HeldSnapshot, type SnapshotScope } from './pool/held-snapshot.ts';

// The plan as a value, for a store that runs it in its own way.

export {
  type Column,
  type ColumnId,
  childrenOf,
  columnReference,
  columnsOf,
  conjunctsOf,
  type Expression,
  type Subquery,
  someNode,
  withChildren,
} from './plan/expression.ts';
export {
  type Aggregate,
  type AggregateCall,
  ALL_TIME,
  ColumnIds,
  expressionsOf,
  type FrameBound,
  inputsOf,
  type Join,
  type LogicalPlan,
  mapExpressions,
  type ParameterDeclaration,
  type Project,
  rewritePlan,
  type Scan,
  type ScanField,
  type SortKey,
  sourcesOf,
  type TimeWindow,
  type Unnest,
  type View,
  type Views,
  type Window,
  type WindowCall,
  type WindowFrame,
} from './plan/logical-plan.ts';
export { type CallContext, optimize, optimizeInPieces, PASSES } from './plan/optimize/optimize.ts';
export { physicalPlanOf, scansOf } from './plan/physical-plan.ts';
export type { CallPlan } from './plan/plan-cache.ts';

// Functions, for a store that writes them in its own language.

export { type JsonStep, parseJsonPath } from './function/json/json-value.ts';
export { SAFE_PREFIX } from './function/registry.ts';
export { type FormatPlace, parseFormat } from './function/text/format-functions.ts';
export { NORMALIZED_MARKS_MAX } from './function/text/letter-functions.ts';
export { compileLike } from './function/text/like.ts';
export { compileRegex } from './function/text/regular-expression.ts';
export {
  checkCivilElements,
  formatCivilTime,
  formatTime,
  MONTHS,
  type Token,
  tokensOf,
  WEEKDAYS,
} from './function/time/time-format.ts';

// What a run did.

export { newScanCounters } from './operator/scan.ts';
export {
  byLowerCase,
  count,
  explainQuery,
  explanationText,
  type QueryExplanation,
} from './plan/explanation.ts';
export {
  PoolCounters,
  type PoolStats,
  RunProgress,
  type RunStats,
  runStatsOf,
} from './pool/pool-stats.ts';
export { taskStatsOf, type Waited } from './pool/task.ts';
export { WORK_KINDS } from './pool/work-shares.ts';

// Turns and memory that tenants share.

export { DrainRate, FairQueue, NO_TENANT, type Tenant, TenantSets } from './pool/fair-queue.ts';
