import { must } from '../../../engine/columns.ts';
import {
  type Column,
  type ColumnId,
  ColumnIds,
  childrenOf,
  columnReference,
  type Expression,
  type LogicalPlan,
  mapExpressions,
  type Project,
  rewritePlan,
  type Scan,
  type Unnest,
  withChildren,
} from '../../../engine/index.ts';
import { type FieldPath, type FieldRead, type FieldStep, keyOf, typeOf } from './field-path.ts';
import { type FieldUse, FieldUses, useKey } from './field-uses.ts';

/** Finds the name of the column that has the values of a path, if the table has it. */
export type FindField = (path: FieldPath) => string | undefined;

/** A plan that reads fields from columns of the table, wherever it has them. */
export type FieldPlan = {
  readonly plan: LogicalPlan;
  /** Of scans: the columns of the table that stand for columns of the plan. */
  readonly scanned: ReadonlyMap<LogicalPlan, readonly ScannedField[]>;
  /** Of unnests: the lists that are taken apart side by side, and what their elements are called. */
  readonly unnested: ReadonlyMap<LogicalPlan, readonly UnnestedField[]>;
};

type ScannedField = { readonly column: Column; readonly name: string };

export type UnnestedField = { readonly list: Column; readonly element: Column };

/** The paths of a plan that are worth a column, each once: those that are not only shown. */
export function fieldPathsOf(plan: LogicalPlan, output: readonly Column[]): readonly FieldPath[] {
  const uses = new FieldUses(plan, output);
  const { wanted } = divide(uses, (use) => isWorthColumn(uses, use));
  const paths = wanted.map(({ place, steps, read }) => uses.pathOf(place, steps, must(read)));
  // Several places of a plan may lie on one path.
  return [...new Map(paths.map((path) => [keyOf(path), path])).values()];
}

/** Puts columns of the table in place of the fields that a plan reads. */
export function withFieldColumns(
  plan: LogicalPlan,
  output: readonly Column[],
  find: FindField,
): FieldPlan {
  const uses = new FieldUses(plan, output);
  const divided = divide(
    uses,
    ({ place, steps, read }) =>
      read !== undefined && find(uses.pathOf(place, steps, read)) !== undefined,
  );
  return new FieldRewriter(plan, uses, divided, find).rewritten(plan);
}

type Divided = {
  readonly wanted: readonly FieldUse[];
  readonly others: readonly FieldUse[];
};

/** Of what is read in a list all is wanted, or nothing: its elements are taken apart by all or by none. */
function divide(uses: FieldUses, isWanted: (use: FieldUse) => boolean): Divided {
  const lost = new Set<ColumnId>();
  for (const [id, place] of uses.places) {
    if (place.kind === 'element' && place.isConditional) lost.add(must(uses.listOf(id)));
  }
  const all = uses.list();
  for (const use of all) {
    const list = uses.listOf(use.place);
    if (list !== undefined && !isWanted(use)) lost.add(list);
  }
  const isKept = (use: FieldUse): boolean => {
    const list = uses.listOf(use.place);
    return list === undefined ? isWanted(use) : !lost.has(list);
  };
  return { wanted: all.filter(isKept), others: all.filter((use) => !isKept(use)) };
}

/** Whole elements of lists, and records that are only shown, are read from the event itself. */
function isWorthColumn(uses: FieldUses, use: FieldUse): boolean {
  const { place, steps, read, isComputed } = use;
  if (read === undefined) return false;
  if (read !== 'DYNAMIC') return true;
  const path = uses.pathOf(place, steps, read);
  if (path.steps.length === 0 || path.steps.at(-1) === 'each') return false;
  return isComputed || path.steps.includes('each');
}

/** A value below a place that the rewritten plan has as a column. */
type Provided = { readonly column: Column; readonly from: Column | undefined };

class FieldRewriter {
  readonly #uses: FieldUses;
  readonly #find: FindField;
  readonly #ids: ColumnIds;
  readonly #replaced: ReadonlySet<string>;
  /** Places that are still read themselves. */
  readonly #kept = new Set<ColumnId>();
  /** By place, then by what is read below it. */
  readonly #provided = new Map<ColumnId, Map<string, Provided>>();
  readonly #scannedNames = new Map<ColumnId, string>();
  readonly #scanned = new Map<LogicalPlan, readonly ScannedField[]>();
  readonly #unnested = new Map<LogicalPlan, readonly UnnestedField[]>();

  constructor(plan: LogicalPlan, uses: FieldUses, { wanted, others }: Divided, find: FindField) {
    this.#uses = uses;
    this.#find = find;
    this.#ids = new ColumnIds(plan);
    this.#replaced = new Set(wanted.map(useKey));
    for (const { place } of others) this.#keep(place);
    for (const { place, steps, read } of wanted) this.#provide(place, steps, must(read));
  }

  rewritten(plan: LogicalPlan): FieldPlan {
    return {
      plan: rewritePlan(plan, (node) => this.#change(node)),
      scanned: this.#scanned,
      unnested: this.#unnested,
    };
  }

  #keep(place: ColumnId): void {
    this.#kept.add(place);
    const at = must(this.#uses.places.get(place));
    if (at.kind !== 'root') this.#keep(at.of);
  }

  /** The column that has a value below a place. */
  #provide(place: ColumnId, steps: readonly FieldStep[], read: FieldRead): Column {
    const key = useKey({ place, steps, read });
    const known = this.#provided.get(place)?.get(key);
    if (known !== undefined) return known.column;
    const at = must(this.#uses.places.get(place));
    const isWhole = at.kind === 'name' && steps.length === 0 && read === 'DYNAMIC';
    const column: Column = {
      id: isWhole ? place : this.#ids.next(),
      ...{ name: read, type: typeOf(read) },
    };
    const each = at.kind === 'element' ? (['each'] as const) : [];
    const from =
      at.kind === 'root' ? undefined : this.#provide(at.of, [...at.steps, ...each, ...steps], read);
    if (at.kind === 'root') {
      const name = must(this.#find({ source: at.source, steps, read }));
      this.#scannedNames.set(column.id, name);
    }
    const values = this.#provided.get(place) ?? new Map<string, Provided>();
    this.#provided.set(place, values.set(key, { column, from }));
    return column;
  }

  #providedAt(place: ColumnId): readonly Provided[] {
    return [...(this.#provided.get(place)?.values() ?? [])];
  }

  #change(node: LogicalPlan): LogicalPlan {
    switch (node.op) {
      case 'scan':
        return this.#scan(node);
      case 'unnest':
        return this.#unnest(node);
      case 'project':
        return this.#project(node);
      default:
        return mapExpressions(node, (expression) => this.#replace(expression));
    }
  }

  #scan(scan: Scan): LogicalPlan {
    const fields: ScannedField[] = [];
    const columns = scan.columns.flatMap((item) => {
      if (item.field !== 'root') return [item];
      const own = this.#providedAt(item.column.id).map(({ column }) => column);
      for (const column of own) {
        fields.push({ column, name: must(this.#scannedNames.get(column.id)) });
      }
      const added = own.map((column) => ({ column, field: 'root' as const }));
      return own.length > 0 && !this.#kept.has(item.column.id) ? added : [item, ...added];
    });
    const changed = { ...scan, columns };
    if (fields.length > 0) this.#scanned.set(changed, fields);
    return changed;
  }

  #unnest(unnest: Unnest): LogicalPlan {
    const own = this.#providedAt(unnest.element.id);
    if (own.length === 0) return mapExpressions(unnest, (each) => this.#replace(each));
    const changed = { ...unnest };
    const pairs = own.map(({ column, from }) => ({ list: must(from), element: column }));
    this.#unnested.set(changed, pairs);
    return changed;
  }

  #project(project: Project): LogicalPlan {
    const columns = project.columns.flatMap((item) => {
      const { column, expression } = item;
      const place = this.#uses.places.get(column.id);
      const isPassed = expression.op === 'column' && expression.id === column.id;
      if (place === undefined || (!isPassed && place.kind !== 'name')) {
        return [{ column, expression: this.#replace(expression) }];
      }
      const own = this.#providedAt(column.id);
      const added = own.map((each) => ({
        column: each.column,
        expression: columnReference(isPassed ? each.column : must(each.from)),
      }));
      const isThere = added.some((each) => each.column.id === column.id);
      return this.#kept.has(column.id) && !isThere ? [item, ...added] : added;
    });
    return { ...project, columns };
  }

  #replace(expression: Expression): Expression {
    const found = this.#uses.findRead(expression);
    if (found !== undefined) {
      const { place, steps, read } = found;
      if (read === undefined || !this.#replaced.has(useKey(found))) return expression;
      return columnReference(this.#provide(place, steps, read));
    }
    const children = childrenOf(expression);
    if (children.length === 0) return expression;
    return withChildren(
      expression,
      children.map((child) => this.#replace(child)),
    );
  }
}
