import { must } from '../assert.ts';
import { formatDatetime } from '../function/time/timestamp-text.ts';
import type { Column, ColumnId } from './expression.ts';
import { ExpressionText, neededTexts, quoted } from './expression-text.ts';
import { fieldsRead } from './fields-read.ts';
import type { LogicalPlan, TimeWindow } from './logical-plan.ts';
import { logicalOperatorText, physicalOperatorText } from './operator-text.ts';
import { inputsOf, outputOf, subqueriesOf } from './optimize/plan-walk.ts';
import type { PhysicalPlan, PhysicalScan } from './physical-plan.ts';
import { appliesOf, rowInputsOf } from './physical-walk.ts';
import { type PlanTree, treeLines } from './plan-tree.ts';

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
