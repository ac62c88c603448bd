import { must, unreachable } from '../assert.ts';
import { formatDatetime } from '../function/time/timestamp-text.ts';
import {
  type Column,
  type ColumnId,
  childrenOf,
  columnReference,
  conjunctsOf,
  type Expression,
} from './expression.ts';
import { ExpressionText, neededTexts, quoted, windowText } from './expression-text.ts';
import {
  type AggregateCall,
  inputsOf,
  type LogicalPlan,
  outputOf,
  subqueriesOf,
  type TimeWindow,
  type UnionColumn,
} from './logical-plan.ts';
import type { PhysicalPlan, PhysicalScan } from './physical-plan.ts';
import { appliesOf, expressionsOf, rowInputsOf, visit } from './physical-walk.ts';

/**
 * A logical plan for tests and for whoever debugs the planner: one operator to a line, its inputs
 * indented below it, columns written `name#id`.
 */
export function planText(plan: LogicalPlan): string {
  const names = new Map<ColumnId, string>();
  forEachColumn(plan, ({ id, name }) => {
    // A column passed on under its own id has the name it was given first.
    if (!names.has(id)) names.set(id, name);
  });
  const text = new ExpressionText((id, own) => `${own ?? names.get(id) ?? ''}#${id}`);
  return treeLines(logicalTree(plan, text), { widthMax: Infinity }).join('\n');
}

/**
 * Writes columns by their names alone; where several columns of the plans share one, all but the
 * first carry a number. So a column has the same name in each of the plans it is found in.
 */
export function readableText(plans: readonly LogicalPlan[]): ExpressionText {
  const names = new Map<ColumnId, { readonly first: string; readonly unique: string }>();
  const counts = new Map<string, number>();
  for (const plan of plans) {
    forEachColumn(plan, ({ id, name }) => {
      if (names.has(id)) return;
      const first = name === '' ? 'column' : name;
      const count = (counts.get(first) ?? 0) + 1;
      counts.set(first, count);
      names.set(id, { first, unique: count === 1 ? first : `${first}#${count}` });
    });
  }
  return new ExpressionText((id, own) => {
    const { first, unique } = must(names.get(id), 'a column that is read is given below');
    return own === undefined || own === '' || own === first ? unique : own;
  });
}

/** Every column of a plan, those below first. */
function forEachColumn(plan: LogicalPlan, see: (column: Column) => void): void {
  for (const input of inputsOf(plan)) forEachColumn(input, see);
  for (const subquery of subqueriesOf(plan)) {
    for (const { column } of subquery.captures) see(column);
    forEachColumn(subquery.plan, see);
  }
  for (const column of outputOf(plan)) see(column);
}

export function logicalTree(plan: LogicalPlan, text: ExpressionText): PlanTree {
  const inputs = inputsOf(plan).map((input) => logicalTree(input, text));
  const subqueries = subqueriesOf(plan).map(({ plan }) => asSubquery(logicalTree(plan, text)));
  return { ...logicalOperatorText(plan, text), facts: [], inputs: [...inputs, ...subqueries] };
}

/** Tells a subquery from what the operator has its rows from. */
function asSubquery(tree: PlanTree): PlanTree {
  const [first = '', ...rest] = tree.parts;
  return { ...tree, line: `subquery: ${tree.line}`, parts: [`subquery: ${first}`, ...rest] };
}

/** `factsOf` may add what a run of a scan did. */
export function physicalTree(
  plan: PhysicalPlan,
  text: ExpressionText,
  factsOf: (scan: PhysicalScan) => PlanTree['facts'] = () => [],
): PlanTree {
  const fields = fieldsRead(plan);
  const treeOf = (node: PhysicalPlan): PlanTree => ({
    ...physicalOperatorText(node, text),
    facts:
      node.op === 'scan'
        ? [...scanFacts(node, fields.get(node.index) ?? []), ...factsOf(node)]
        : [],
    inputs: [
      ...rowInputsOf(node).map(treeOf),
      ...appliesOf(node).map((apply) => asSubquery(treeOf(apply.plan))),
    ],
  });
  return treeOf(plan);
}

/** What was pushed into a scan. */
function scanFacts(scan: PhysicalScan, fields: readonly string[]): PlanTree['facts'] {
  const columns = scan.fields.filter((field) => field !== 'root');
  return [
    ['window', windowWords(scan.window)],
    ['project', scan.projectKey === undefined ? 'any' : quoted(scan.projectKey)],
    ...(scan.reach === undefined ? [] : ([['reach', reachWords(scan.reach)]] as const)),
    ...(scan.texts === undefined ? [] : ([['texts', neededTexts(scan.texts)]] as const)),
    ['columns', columns.join(', ') || 'none'],
    ['fields', fields.join(', ') || 'none'],
    ['order', scan.newestFirst ? 'newest first, until the top rows are certain' : 'as stored'],
  ];
}

function reachWords(projects: readonly string[]): string {
  return projects.length === 0 ? 'none' : `${projects.map(quoted).join(', ')} alone`;
}

function windowWords({ startUs, endUs }: TimeWindow): string {
  const from = startUs === -Infinity ? [] : [`from ${formatDatetime(startUs)}`];
  const to = endUs === Infinity ? [] : [`before ${formatDatetime(endUs)}`];
  return [...from, ...to].join(', ') || 'all time';
}

/** An operator in words: on one line, and in parts for when that is too long. */
type OperatorText = { readonly line: string; readonly parts: readonly string[] };

/** One operator of a logical plan, not its inputs. */
function logicalOperatorText(plan: LogicalPlan, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'scan': {
      const project = plan.projectKey === undefined ? '' : ` project ${quoted(plan.projectKey)}`;
      const columns = plan.columns.map(({ column }) => text.column(column));
      const texts = plan.texts === undefined ? '' : ` with ${neededTexts(plan.texts)}`;
      const head = `scan \`${plan.source}\`${windowText(plan.window)}${project}${texts}:`;
      return listed(head, columns);
    }
    case 'filter': {
      const line = `filter ${text.of(plan.predicate)}`;
      return { line, parts: filterParts(conjunctsOf(plan.predicate), text) };
    }
    case 'join':
      if (plan.on === undefined) return oneLine(`${plan.kind} join`);
      return {
        line: `${plan.kind} join on ${text.of(plan.on)}`,
        parts: [`${plan.kind} join on`, ...conjunctsOf(plan.on).map((term) => text.of(term))],
      };
    case 'limit': {
      const count = plan.count === undefined ? '' : ` ${text.of(plan.count)}`;
      const offset = plan.offset === undefined ? '' : ` offset ${text.of(plan.offset)}`;
      const per = plan.per === undefined ? '' : ` for each ${text.column(plan.per)}`;
      return oneLine(`limit${count}${offset}${per}`);
    }
    default:
      return sharedOperatorText(plan, text);
  }
}

/** One operator of a physical plan, not its inputs. The facts of a scan say what it does. */
function physicalOperatorText(plan: PhysicalPlan, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'scan':
      return oneLine(`scan \`${plan.source}\``);
    case 'filter': {
      const terms = plan.conjuncts.map((term, index) => {
        const isImplied = plan.impliedByProject.includes(index);
        return `${text.of(term)}${isImplied ? ' unless known from the scan' : ''}`;
      });
      return { line: `filter ${terms.join(' and ')}`, parts: ['filter', ...terms] };
    }
    case 'join': {
      const equalities = plan.equalities.map(
        ({ left, right }) => `${text.of(left)} = ${text.of(right)}`,
      );
      const residual = plan.residual === undefined ? [] : [text.of(plan.residual)];
      const conditions = [...equalities, ...residual];
      const on = conditions.length === 0 ? [] : [`on ${conditions.join(' and ')}`];
      const hash = plan.equalities.length === 0 ? '' : 'hash ';
      return listed(`${plan.kind} ${hash}join, the right side in a table`, on);
    }
    case 'top':
      return listed(
        `top ${plan.count} by`,
        plan.keys.map((key) => text.sortKey(key)),
      );
    case 'limit': {
      const count = plan.count === Infinity ? '' : ` ${plan.count}`;
      const per = plan.per === undefined ? '' : ' for each row outside';
      return oneLine(`limit${count}${plan.offset === 0 ? '' : ` offset ${plan.offset}`}${per}`);
    }
    default:
      return sharedOperatorText(plan, text);
  }
}

/** The operators that are the same in both kinds of plan, but for their inputs. */
type SharedOperator =
  | { readonly op: 'one-row' }
  | { readonly op: 'outer'; readonly columns: readonly { readonly column: Column }[] }
  | { readonly op: 'rows'; readonly columns: readonly Column[]; readonly rows: readonly unknown[] }
  | { readonly op: 'project'; readonly columns: readonly Computed[] }
  | {
      readonly op: 'unnest';
      readonly array: Expression;
      readonly element: Column;
      readonly offset?: Column | undefined;
      readonly outer: boolean;
      readonly on?: Expression | undefined;
    }
  | {
      readonly op: 'aggregate';
      readonly keys: readonly Computed[];
      readonly aggregates: readonly { readonly column: Column; readonly call: AggregateCall }[];
    }
  | { readonly op: 'union'; readonly columns: readonly UnionColumn[] }
  | Pick<Extract<LogicalPlan, { op: 'window' }>, WindowParts>
  | { readonly op: 'sort'; readonly keys: Extract<LogicalPlan, { op: 'sort' }>['keys'] };

type WindowParts = 'op' | 'partitionBy' | 'orderBy' | 'ties' | 'calls';

type Computed = { readonly column: Column; readonly expression: Expression };

function sharedOperatorText(plan: SharedOperator, text: ExpressionText): OperatorText {
  switch (plan.op) {
    case 'one-row':
      return oneLine('one-row');
    case 'outer':
      return listed(
        'rows outside:',
        plan.columns.map(({ column }) => text.column(column)),
      );
    case 'rows':
      return listed(
        `rows ${plan.rows.length}:`,
        plan.columns.map((each) => text.column(each)),
      );
    case 'project':
      return listed(
        'project',
        plan.columns.map((each) => text.definition(each)),
      );
    case 'unnest': {
      const offset = plan.offset === undefined ? '' : ` with offset ${text.column(plan.offset)}`;
      const on = plan.on === undefined ? '' : ` on ${text.of(plan.on)}`;
      const outer = plan.outer ? 'outer ' : '';
      return oneLine(
        `${outer}unnest ${text.of(plan.array)} as ${text.column(plan.element)}${offset}${on}`,
      );
    }
    case 'union':
      return listed(
        'union',
        plan.columns.map(({ column, from }) => {
          const names = from.map((id) => text.of(columnReference({ ...column, id })));
          return `${text.column(column)} of ${names.join(' | ')}`;
        }),
      );
    case 'aggregate': {
      const keys = plan.keys.map((key) => text.definition(key));
      const calls = plan.aggregates.map((each) => text.aggregate(each));
      const by = keys.length === 0 ? '' : ` by ${keys.join(', ')}`;
      const compute = calls.length === 0 ? '' : ` compute ${calls.join(', ')}`;
      return { line: `aggregate${by}${compute}`, parts: [`aggregate${by}`, ...calls] };
    }
    case 'window': {
      const calls = plan.calls.map((each) => text.windowCall(each));
      const by = plan.partitionBy.map((key) => text.of(key));
      const order = [...plan.orderBy, ...(plan.ties ?? [])].map((key) => text.sortKey(key));
      const partition = by.length === 0 ? '' : ` by ${by.join(', ')}`;
      const head = `window${partition}${order.length === 0 ? '' : ` order ${order.join(', ')}`}`;
      return { line: `${head} compute ${calls.join(', ')}`, parts: [head, ...calls] };
    }
    case 'sort':
      return listed(
        'sort',
        plan.keys.map((key) => text.sortKey(key)),
      );
    default:
      return unreachable(plan);
  }
}

function filterParts(conjuncts: readonly Expression[], text: ExpressionText): readonly string[] {
  return ['filter', ...conjuncts.map((term) => text.of(term))];
}

function oneLine(line: string): OperatorText {
  return { line, parts: [line] };
}

function listed(head: string, items: readonly string[]): OperatorText {
  return {
    line: items.length === 0 ? head : `${head} ${items.join(', ')}`,
    parts: [head, ...items],
  };
}

/** A plan as it is shown: an operator in words, above the operators it has its rows from. */
export type PlanTree = {
  /** The operator on one line. */
  readonly line: string;
  /** The same on several, for when the line is too long: what it is, then one part each. */
  readonly parts: readonly string[];
  /** What is told below it in any case, each a name and its value. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly inputs: readonly PlanTree[];
};

type TreeStyle = {
  /** Characters of a line, its indent included, from which an operator is broken into its parts. */
  readonly widthMax: number;
  /** What stands left of an operator's first line, by its place in the tree read downwards, from 0. */
  readonly margin?: (index: number) => string;
};

/** Inputs stand below their operator, two spaces further in; parts and facts four. */
export function treeLines(tree: PlanTree, style: TreeStyle): readonly string[] {
  const lines: string[] = [];
  let index = 0;
  const write = (node: PlanTree, indent: string): void => {
    const margin = style.margin?.(index++) ?? '';
    const isLong = indent.length + node.line.length > style.widthMax && node.parts.length > 1;
    const [first, ...rest] = isLong ? node.parts : [node.line];
    lines.push(`${margin}${indent}${first}`);
    const inner = `${' '.repeat(margin.length)}${indent}    `;
    lines.push(...rest.map((part) => `${inner}${part}`));
    const nameWidth = Math.max(...node.facts.map(([name]) => name.length)) + 2;
    lines.push(...node.facts.map(([name, value]) => `${inner}${name.padEnd(nameWidth)}${value}`));
    for (const input of node.inputs) write(input, `${indent}  `);
  };
  write(tree, '');
  return lines;
}

/** A place in the events of one scan: a path such as `metadata[].request[].url`. */
type Place = { readonly scan: number; readonly path: string };

/**
 * What the plan reads of the records of each scan's events, as paths by the index of the scan;
 * `[]` stands for the elements of a list. A path that ends in `[]` is read for its length alone.
 */
function fieldsRead(plan: PhysicalPlan): ReadonlyMap<number, readonly string[]> {
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
