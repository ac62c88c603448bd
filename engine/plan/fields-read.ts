import type { Column, ColumnId, Expression } from './expression.ts';
import { childrenOf } from './expression-walk.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { appliesOf, expressionsOf, visit } from './physical-walk.ts';

/** A place in the events of one scan: a path such as `metadata[].request[].url`. */
type Place = { readonly scan: number; readonly path: string };

/**
 * What the plan reads of the records of each scan's events, as paths by the index of the scan;
 * `[]` stands for the elements of a list. A path that ends in `[]` is read for its length alone.
 */
export function fieldsRead(plan: PhysicalPlan): ReadonlyMap<number, readonly string[]> {
  const read = new Map<number, Set<string>>();
  const note = (places: readonly Place[], suffix = ''): void => {
    for (const { scan, path } of places) {
      read.set(scan, (read.get(scan) ?? new Set()).add(`${path}${suffix}`));
    }
  };
  const known = placesOf(plan);
  const answer = topProjectionOf(plan);
  visit(plan, (node) => {
    for (const expression of expressionsOf(node)) {
      const places = placesAt(expression, known);
      if (places.length === 0) collect(expression, known, note);
      else if (node.op === 'unnest' && expression === node.array) {
        note(places, '[]');
      } else if (node.op !== 'project' || node === answer) {
        // Any other projection only gives the place a name; who reads the name reads the place.
        note(places);
      }
    }
    for (const { value } of appliesOf(node)) {
      if (value !== undefined) note(known.get(value.id) ?? []);
    }
    // The columns of an answer without a projection are read by whoever asked.
    if (node === answer && node.op === 'union') {
      for (const { column } of node.columns) note(known.get(column.id) ?? []);
    }
  });
  return new Map(Array.from(read, ([scan, paths]) => [scan, withoutLists(paths)] as const));
}

/** The projection, or the union, whose columns are the answer. */
function topProjectionOf(plan: PhysicalPlan): PhysicalPlan | undefined {
  let node = plan;
  while (node.op === 'limit' || node.op === 'top' || node.op === 'sort') node = node.input;
  return node.op === 'project' || node.op === 'union' ? node : undefined;
}

/**
 * The columns that stand for places: records of scans, elements of lists, and names for them. That
 * of a union stands for one in each of its inputs.
 */
function placesOf(plan: PhysicalPlan): Places {
  const places = new Map<ColumnId, readonly Place[]>();
  const captures = capturesOf(plan);
  const name = (column: Column, named: readonly Place[]): void => {
    if (named.length > 0) places.set(column.id, named);
  };
  visit(plan, (node) => {
    if (node.op === 'scan') {
      const root = node.columns[node.fields.indexOf('root')];
      if (root !== undefined) name(root, [{ scan: node.index, path: '' }]);
    } else if (node.op === 'unnest') {
      const lists = placesAt(node.array, places);
      name(
        node.element,
        lists.map((list) => ({ ...list, path: `${list.path}[]` })),
      );
    } else if (node.op === 'outer') {
      for (const { column, capture } of node.columns) {
        const captured = capture === undefined ? undefined : captures.get(capture);
        if (captured !== undefined) name(column, placesAt(captured, places));
      }
    } else if (node.op === 'project') {
      for (const { column, expression } of node.columns) name(column, placesAt(expression, places));
    } else if (node.op === 'union') {
      for (const { column, from } of node.columns) {
        name(
          column,
          from.flatMap((id) => places.get(id) ?? []),
        );
      }
    }
  });
  return places;
}

type Places = ReadonlyMap<ColumnId, readonly Place[]>;

/** What subqueries capture, by the ids of the columns it has inside. */
function capturesOf(plan: PhysicalPlan): ReadonlyMap<ColumnId, Expression> {
  const captures = new Map<ColumnId, Expression>();
  visit(plan, (node) => {
    for (const apply of appliesOf(node)) {
      for (const { column, expression } of apply.captures) captures.set(column.id, expression);
    }
  });
  return captures;
}

function placesAt(expression: Expression, places: Places): readonly Place[] {
  if (expression.op === 'column') return places.get(expression.id) ?? [];
  if (expression.op !== 'dynamic-field') return [];
  return placesAt(expression.input, places).map((record) => ({
    ...record,
    path: record.path === '' ? expression.name : `${record.path}.${expression.name}`,
  }));
}

function collect(
  expression: Expression,
  known: Places,
  note: (places: readonly Place[]) => void,
): void {
  const places = placesAt(expression, known);
  if (places.length > 0) {
    note(places);
    return;
  }
  // A capture only gives the place a name inside the subquery, as a projection does.
  const isNamed = (child: Expression) =>
    expression.op === 'apply' && child !== expression.input && placesAt(child, known).length > 0;
  for (const child of childrenOf(expression)) {
    if (!isNamed(child)) collect(child, known, note);
  }
}

/** In alphabetic order, without the lists of which elements are read. */
function withoutLists(paths: ReadonlySet<string>): readonly string[] {
  const all = [...paths].sort();
  const isRead = (list: string) => all.some((path) => path !== list && path.startsWith(list));
  return all.filter((path) => !(path.endsWith('[]') && isRead(path)));
}
