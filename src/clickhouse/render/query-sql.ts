import { elementTypeOf, isElement, must, type SqlType } from '../../../engine/columns.ts';
import type { Column, LogicalPlan } from '../../../engine/index.ts';
import { type FieldPlan, withFieldColumns } from '../fields/field-plan.ts';
import { intervalText } from './interval-sql.ts';
import { PlanSql, type ScannedEvents } from './plan-sql.ts';
import { selectOf } from './relation-sql.ts';
import { type Failure, StatementParts } from './statement-parts.ts';

/** A statement for ClickHouse. Its rows are read by `answerOf`. */
export type RenderedQuery = {
  readonly sql: string;
  /** Texts to be bound to the statement, by the names of its parameters of type String. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Settings that the statement needs. */
  readonly settings: Readonly<Record<string, string | number>>;
  /** The errors that it may raise, by their numbers. */
  readonly failures: readonly Failure[];
  readonly output: readonly Column[];
};

const SETTINGS: RenderedQuery['settings'] = {
  // A value that is not wanted is not computed, so that it cannot fail.
  short_circuit_function_evaluation: 'force_enable',
  // Conditions are tested in the order of the plan, which may guard one by another.
  optimize_move_to_prewhere: 0,
  join_use_nulls: 0,
  union_default_mode: 'ALL',
  aggregate_functions_null_for_empty: 0,
  transform_null_in: 0,
  // A SELECT that is read at several places has the same rows at each. To keep them (`AS MATERIALIZED`) is an experiment of
  // ClickHouse, which loses rows of some statements.
  enable_shared_storage_snapshot_in_query: 1,
  // Joins are run as they are written: another order finds no keys where one side of an equality is a constant.
  query_plan_optimize_join_order_limit: 0,
  // These find nothing in such statements, and are slow in deep ones.
  optimize_and_compare_chain: 0,
  optimize_redundant_functions_in_order_by: 0,
  // Each operator is a subquery.
  max_subquery_depth: 1_000,
  group_by_use_nulls: 0,
  // Else groups by a constant are one also of no rows.
  optimize_group_by_constant_keys: 0,
  // Else what needs no element of a joined list is computed, and may fail, also where the list is empty.
  query_plan_lift_up_array_join: 0,
  // Texts become the nearest doubles.
  precise_float_parsing: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  output_format_json_named_tuples_as_objects: 0,
};

const NO_FIELDS: Omit<FieldPlan, 'plan'> = { scanned: new Map(), unnested: new Map() };

/**
 * Renders an optimised plan, whose parameters and clock are folded in. `output` are its columns in the order of the answer.
 * `scanned` bounds what it reads.
 *
 * @throws QueryError `invalid_sql` for what ClickHouse cannot compute exactly.
 */
export function renderQuery(
  plan: LogicalPlan,
  output: readonly Column[],
  scanned: ScannedEvents,
): RenderedQuery {
  const parts = new StatementParts();
  const { findField } = scanned;
  const { plan: rewritten, ...fields } =
    findField === undefined ? { ...NO_FIELDS, plan } : withFieldColumns(plan, output, findField);
  const relation = new PlanSql(parts, scanned, fields).of(rewritten);
  const { columns, order } = relation;
  const items = output.map((column, index) => {
    const { sql: value } = must(columns.get(column.id), 'the plan gives the columns of the answer');
    return { name: `a${index}`, sql: shown(value, column.type, parts) };
  });
  const all = items.length === 0 ? [{ name: 'a0', sql: '1' }] : items;
  return {
    sql: parts.statement(selectOf(relation).inOrder(all, order).sql),
    parameters: parts.parameters(),
    settings: SETTINGS,
    failures: parts.failures(),
    output,
  };
}

/** A value in a form that `rowJson` reads: of most types as it is, for each expression takes ClickHouse time to analyse. */
function shown(value: string, type: SqlType, parts: StatementParts): string {
  switch (type.kind) {
    case 'BYTES':
      return `hex(${value})`;
    case 'DYNAMIC':
      // A record that was not taken out of a list is shown as a list of itself.
      if (isElement(type)) return value;
      return parts.once(
        value,
        (text) => `if(startsWith(${text}, '{'), concat('[', ${text}, ']'), ${text})`,
      );
    case 'ARRAY': {
      const [list, element] = [parts.variable(), parts.variable()];
      const inner = shown(element, elementTypeOf(type), parts);
      if (inner === element) return value;
      return `arrayMap(${list} -> arrayMap(${element} -> ${inner}, ${list}), ${value})`;
    }
    case 'STRUCT': {
      const record = parts.variable();
      const fields = type.fields.map((_, index) => `${record}.${index + 1}`);
      const inner = type.fields.map((field, index) => shown(fields[index]!, field.type, parts));
      if (inner.every((field, index) => field === fields[index])) return value;
      return `arrayMap(${record} -> tuple(${inner.join(', ')}), ${value})`;
    }
    case 'INTERVAL': {
      const interval = parts.variable();
      return `arrayMap(${interval} -> ${intervalText(interval, parts)}, ${value})`;
    }
    default:
      return value;
  }
}
