import type { ColumnId, Expression } from './expression.ts';
import { childrenOf } from './expression-walk.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { expressionsOf, visit } from './physical-walk.ts';

/** A place in the events of one scan: a path such as `metadata[].request[].url`. */
type Place = { readonly scan: number; readonly path: string };

/**
 * What the plan reads of the records of each scan's events, as paths by the index of the scan;
 * `[]` stands for the elements of a list. A path that ends in `[]` is read for its length alone.
 */
export function fieldsRead(plan: PhysicalPlan): ReadonlyMap<number, readonly string[]> {
  const read = new Map<number, Set<string>>();
  const note = ({ scan, path }: Place): void => {
    read.set(scan, (read.get(scan) ?? new Set()).add(path));
  };
  const places = placesOf(plan);
  const answer = topProjectionOf(plan);
  visit(plan, (node) => {
    for (const expression of expressionsOf(node)) {
      const place = placeOf(expression, places);
      if (place === undefined) collect(expression, places, note);
      else if (node.op === 'unnest' && expression === node.array) {
        note({ ...place, path: `${place.path}[]` });
      } else if (node.op !== 'project' || node === answer) {
        // Any other projection only gives the place a name; who reads the name reads the place.
        note(place);
      }
    }
  });
  return new Map(Array.from(read, ([scan, paths]) => [scan, withoutLists(paths)] as const));
}

/** The projection whose columns are the answer. */
function topProjectionOf(plan: PhysicalPlan): PhysicalPlan | undefined {
  let node = plan;
  while (node.op === 'limit' || node.op === 'top' || node.op === 'sort') node = node.input;
  return node.op === 'project' ? node : undefined;
}

/** The columns that stand for a place: records of scans, elements of lists, and names for them. */
function placesOf(plan: PhysicalPlan): ReadonlyMap<ColumnId, Place> {
  const places = new Map<ColumnId, Place>();
  visit(plan, (node) => {
    if (node.op === 'scan') {
      const root = node.columns[node.fields.indexOf('root')];
      if (root !== undefined) places.set(root.id, { scan: node.index, path: '' });
    } else if (node.op === 'unnest') {
      const list = placeOf(node.array, places);
      if (list !== undefined) places.set(node.element.id, { ...list, path: `${list.path}[]` });
    } else if (node.op === 'project') {
      for (const { column, expression } of node.columns) {
        const place = placeOf(expression, places);
        if (place !== undefined) places.set(column.id, place);
      }
    }
  });
  return places;
}

function placeOf(expression: Expression, places: ReadonlyMap<ColumnId, Place>): Place | undefined {
  if (expression.op === 'column') return places.get(expression.id);
  if (expression.op !== 'dynamic-field') return undefined;
  const record = placeOf(expression.input, places);
  if (record === undefined) return undefined;
  const path = record.path === '' ? expression.name : `${record.path}.${expression.name}`;
  return { ...record, path };
}

function collect(
  expression: Expression,
  places: ReadonlyMap<ColumnId, Place>,
  note: (place: Place) => void,
): void {
  const place = placeOf(expression, places);
  if (place !== undefined) note(place);
  else for (const child of childrenOf(expression)) collect(child, places, note);
}

/** In alphabetic order, without the lists of which elements are read. */
function withoutLists(paths: ReadonlySet<string>): readonly string[] {
  const all = [...paths].sort();
  const isRead = (list: string) => all.some((path) => path !== list && path.startsWith(list));
  return all.filter((path) => !(path.endsWith('[]') && isRead(path)));
}
