import {
  type ColumnId,
  columnsOf,
  type Expression,
  expressionsOf,
  type LogicalPlan,
  type Scan,
  someNode,
} from '../../../engine/index.ts';

type Limit = Extract<LogicalPlan, { readonly op: 'limit' }>;

/** The first rows by the time of their event: a time is known that none of them lies beyond. */
export type TopTimes = {
  readonly scan: Scan;
  /** The operators between the scan and the sort. */
  readonly between: readonly LogicalPlan[];
  /** The plan whose rows are sorted. */
  readonly rows: LogicalPlan;
  /** The column of the time, of the scan and of the rows. */
  readonly time: ColumnId;
  readonly descending: boolean;
  readonly rowCount: number;
};

/** Finds what a limit wants of a scan if it is its first rows by time. */
export function findTopTimes({ input, count, offset, per }: Limit): TopTimes | undefined {
  if (per !== undefined || input.op !== 'sort') return undefined;
  const [key] = input.keys;
  const rowCount = wholeNumber(count) + (offset === undefined ? 0 : wholeNumber(offset));
  if (key?.expression.op !== 'column' || Number.isNaN(rowCount)) return undefined;
  const { expression, descending } = key;
  const between: LogicalPlan[] = [];
  let node = input.input;
  while (node.op === 'filter' || node.op === 'unnest') {
    between.push(node);
    node = node.input;
  }
  if (node.op !== 'scan') return undefined;
  const time = node.columns.find(({ column }) => column.id === expression.id);
  if (time?.field !== 'timestamp') return undefined;
  if (between.some(hasSubquery)) return undefined;
  return { scan: node, between, rows: input.input, time: expression.id, descending, rowCount };
}

/** Whether an expression of an operator reads any of these columns. */
export function readsColumns(node: LogicalPlan, ids: ReadonlySet<ColumnId>): boolean {
  return expressionsOf(node).some((each) => [...columnsOf(each)].some((id) => ids.has(id)));
}

function hasSubquery(node: LogicalPlan): boolean {
  return expressionsOf(node).some((each) => someNode(each, ({ op }) => op === 'subquery'));
}

/** NaN where it is none. */
function wholeNumber(expression: Expression | undefined): number {
  const value = expression?.op === 'literal' ? expression.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : Number.NaN;
}
