import type { SqlType } from '../../../engine/column/type.ts';
import type { Expression } from '../../../engine/plan/expression.ts';
import type { FrameBound, WindowCall, WindowFrame } from '../../../engine/plan/logical-plan.ts';
import { refuse } from './refusal.ts';
import { groupKeyOf, type OrderKey, orderText } from './sort-sql.ts';
import { isNull, isScalar } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

/** A call over a window whose arguments and keys are columns below. */
export type WindowSqlCall = {
  readonly call: WindowCall;
  readonly type: SqlType;
  /** Names of the columns that hold the arguments. */
  readonly inputs: readonly string[];
  readonly partition: readonly string[];
  /** The order of the window. Rows that are equal by it are peers. */
  readonly order: readonly OrderKey[];
  /** What decides between peers where an answer depends on their order. */
  readonly ties: readonly OrderKey[];
  readonly parts: StatementParts;
};

type WindowSql = (of: WindowSqlCall) => string;

const WHOLE_PARTITION = 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING';

const FUNCTIONS: ReadonlyMap<string, WindowSql> = new Map(
  Object.entries({
    row_number: (of) => `toInt64(row_number()${over(of, { isTotal: true })})`,
    rank: (of) => `toInt64(rank()${over(of)})`,
    dense_rank: (of) => `toInt64(dense_rank()${over(of)})`,
    percent_rank: (of) => `percent_rank()${over(of)}`,
    cume_dist: cumulative,
    ntile: (of) => `toInt64(ntile(${bucketCount(of)})${over(of, { isTotal: true })})`,
    lag: neighbour('lagInFrame'),
    lead: neighbour('leadInFrame'),
    first_value: edge('first_value'),
    last_value: edge('last_value'),
    count: counting,
    countif: ({ inputs: [truth], ...of }) => `toInt64(countIf(ifNull(${truth}, 0))${framed(of)})`,
    min: extreme('min'),
    max: extreme('max'),
    sum: summing,
    avg: averaging,
  } satisfies Readonly<Record<string, WindowSql>>),
);

/** Refuses what ClickHouse has no exact form of. */
export function windowSql(of: WindowSqlCall): string {
  const { name, distinct, having, orderBy, limit, nulls } = of.call.function;
  const render = FUNCTIONS.get(name);
  const shown = name.toUpperCase();
  if (render === undefined) return refuse(`${shown} over a window`, undefined);
  if (distinct || having !== undefined || orderBy !== undefined || limit !== undefined || nulls) {
    return refuse(`${shown} over a window with this modifier`, undefined);
  }
  return render(of);
}

/** `isTotal`: in an order in which no rows are peers. */
function over(
  { partition, order, ties }: Pick<WindowSqlCall, 'partition' | 'order' | 'ties'>,
  { isTotal = false, frame = '' }: { readonly isTotal?: boolean; readonly frame?: string } = {},
): string {
  const keys = isTotal ? [...order, ...ties] : order;
  const by = partition.length === 0 ? '' : `PARTITION BY ${partition.join(', ')}`;
  const sorted = keys.length === 0 ? '' : `ORDER BY ${keys.map(orderText).join(', ')}`;
  return ` OVER (${[by, sorted, frame].filter((text) => text !== '').join(' ')})`;
}

/** Over the frame of an aggregate. */
function framed(of: Omit<WindowSqlCall, 'inputs'>): string {
  const { frame } = of.call;
  if (frame === undefined) return over(of);
  const [start, end] = [boundText(frame.start, frame.unit), boundText(frame.end, frame.unit)];
  if (isEmptyFrame(frame)) return refuse('a frame that ends before it starts', undefined);
  const text = `${frame.unit.toUpperCase()} BETWEEN ${start} AND ${end}`;
  return over(of, { isTotal: frame.unit === 'rows', frame: text });
}

/** ClickHouse takes no frame whose start is behind its end. */
function isEmptyFrame({ start, end }: WindowFrame): boolean {
  if (!('amount' in start && 'amount' in end) || start.kind !== end.kind) return false;
  const [first, last] = [Number(wholeNumber(start.amount)), Number(wholeNumber(end.amount))];
  return start.kind === 'preceding' ? first < last : first > last;
}

function boundText(bound: FrameBound, unit: 'rows' | 'range'): string {
  const words = bound.kind.replace('-', ' ').toUpperCase();
  if (!('amount' in bound)) return words;
  if (unit === 'range') return refuse('a frame of RANGE with a distance', undefined);
  return `${wholeNumber(bound.amount)} ${words}`;
}

function wholeNumber(expression: Expression | undefined): string {
  const value = expression?.op === 'literal' ? expression.value : undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return String(value);
  return refuse('this number of rows of a window', undefined);
}

function bucketCount({ call }: WindowSqlCall): string {
  const [count] = [...call.function.arguments, ...call.function.constants];
  const text = wholeNumber(count);
  return text === '0' ? refuse('NTILE of no buckets', undefined) : text;
}

function cumulative(of: WindowSqlCall): string {
  const whole = over({ ...of, order: [] }, { frame: WHOLE_PARTITION });
  return `(count()${over(of)} / count()${whole})`;
}

/** LAG and LEAD. */
function neighbour(name: string): WindowSql {
  return (of) => {
    const { arguments: values, constants } = of.call.function;
    if (of.call.ignoresNulls) return refuse('IGNORE NULLS over a window', undefined);
    const all = [...values, ...constants];
    const distance = all.length > 1 ? wholeNumber(all[1]) : '1';
    if (all.length > 2) return refuse('a default of LAG or LEAD', undefined);
    return `${name}(${of.inputs[0]}, ${distance})${over(of, { isTotal: true, frame: WHOLE_PARTITION })}`;
  };
}

/** FIRST_VALUE and LAST_VALUE, of frames whose edge does not depend on peers. */
function edge(name: 'first_value' | 'last_value'): WindowSql {
  return (of) => {
    const { frame, ignoresNulls, function: call } = of.call;
    if (ignoresNulls || !isScalar(call.arguments[0]!.type)) {
      return refuse(`${name.toUpperCase()} of this form`, undefined);
    }
    const bound = name === 'first_value' ? frame?.start : frame?.end;
    const open = name === 'first_value' ? 'unbounded-preceding' : 'unbounded-following';
    const isOpen = frame === undefined ? name === 'first_value' : bound?.kind === open;
    const value = `${name}(${of.inputs[0]}) RESPECT NULLS`;
    if (frame?.unit === 'rows') return `${value}${framed(of)}`;
    // All rows of the frame on the other side may be left out: the edge is that of the partition.
    if (isOpen || (frame === undefined && of.order.length === 0)) {
      return `${value}${over(of, { isTotal: true, frame: WHOLE_PARTITION })}`;
    }
    return refuse(`${name.toUpperCase()} of a frame that ends with peers`, undefined);
  };
}

function counting(of: WindowSqlCall): string {
  const [value] = of.inputs;
  if (value === undefined) return `toInt64(count()${framed(of)})`;
  const type = of.call.function.arguments[0]!.type;
  return `toInt64(countIf(NOT ${isNull(value, type)})${framed(of)})`;
}

function extreme(name: 'min' | 'max'): WindowSql {
  return (of) => {
    const { type } = of.call.function.arguments[0]!;
    const value = of.inputs[0]!;
    if (!isScalar(type) || type.kind === 'DYNAMIC' || type.kind === 'JSON') {
      return refuse(`${name.toUpperCase()} of ${type.kind} over a window`, undefined);
    }
    if (type.kind !== 'FLOAT64') return `${name}(${value})${framed(of)}`;
    return `if(countIf(isNaN(${value}))${framed(of)} > 0, nan, ${name}(${groupKeyOf(value, type)})${framed(of)})`;
  };
}

function summing(of: WindowSqlCall): string {
  const { type } = of.call.function.arguments[0]!;
  const value = of.inputs[0]!;
  if (type.kind !== 'INT64') return refuse(`SUM of ${type.kind} over a window`, undefined);
  return of.parts.once(`sum(toInt128(${value}))${framed(of)}`, (sum) => {
    const isBad = `${sum} > 9223372036854775807 OR ${sum} < toInt128('-9223372036854775808')`;
    const message = 'integer overflow in SUM';
    const raised = of.parts.raise(isBad, { code: 'query_failed', message, span: undefined });
    return `if(${raised} = 0, toInt64(${sum}), NULL)`;
  });
}

function averaging(of: WindowSqlCall): string {
  const { type } = of.call.function.arguments[0]!;
  const value = of.inputs[0]!;
  if (type.kind !== 'INT64') return refuse(`AVG of ${type.kind} over a window`, undefined);
  const count = `count(${value})${framed(of)}`;
  return `if(${count} = 0, NULL, toFloat64(sum(toInt128(${value}))${framed(of)}) / ${count})`;
}
