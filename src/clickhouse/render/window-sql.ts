import type { SqlType } from '../../../engine/columns.ts';
import type {
  AggregateCall,
  Expression,
  FrameBound,
  WindowCall,
  WindowFrame,
} from '../../../engine/index.ts';
import { firstOfValue, reducing } from './aggregate-rows.ts';
import { aggregateSql, type Reduce, takesFirsts } from './aggregate-sql.ts';
import { type DeferredCall, deferredSql } from './deferred-sql.ts';
import type { ColumnSql } from './expression-sql.ts';
import { percentileSql } from './percentile-sql.ts';
import { rangeReduce } from './range-frame-sql.ts';
import { refuse } from './refusal.ts';
import { overText, type SqlColumns, WHOLE_PARTITION } from './relation-sql.ts';
import type { OrderKey } from './sort-sql.ts';
import { isNull, literal } from './sql-type.ts';
import type { StatementParts } from './statement-parts.ts';

/** The SELECTs of a window above that of its arguments and keys, each over the one before. */
export type WindowStages = {
  /** Functions over windows that tell of each row what others are given, such as its position. */
  readonly prepared: SqlColumns;
  /** Functions over windows. */
  readonly reduced: SqlColumns;
  /** Where a frame lies in the list of the partition's rows. */
  readonly located: SqlColumns;
  /** Functions over such a frame. */
  readonly sliced: SqlColumns;
};

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
  /** The key that distances of the frame are added to, where it has some. */
  readonly rangeKey: RangeKey | undefined;
  readonly stages: WindowStages;
  readonly parts: StatementParts;
};

export type RangeKey = {
  readonly name: string;
  readonly type: SqlType;
  readonly descending: boolean;
};

type WindowSql = (of: WindowSqlCall) => string;

const FUNCTIONS: ReadonlyMap<string, WindowSql> = new Map(
  Object.entries({
    row_number: (of) => `toInt64(${positionOf(of)})`,
    rank: (of) => `toInt64(rank()${overText(of)})`,
    dense_rank: (of) => `toInt64(dense_rank()${overText(of)})`,
    percent_rank: (of) => `percent_rank()${overText(of)}`,
    cume_dist: cumulative,
    ntile: (of) => `toInt64(ntile(${bucketCount(of)})${overText(inTotalOrder(of))})`,
    lag: neighbour('lagInFrame'),
    lead: neighbour('leadInFrame'),
    first_value: edge('argMin'),
    last_value: edge('argMax'),
    nth_value: nthValue,
    percentile_cont: (of) => percentileSql('cont', percentileOf(of)),
    percentile_disc: (of) => percentileSql('disc', percentileOf(of)),
  } satisfies Readonly<Record<string, WindowSql>>),
);

/** Aggregates that take the rows of a frame in their order. */
const COLLECTING: ReadonlySet<string> = new Set(['array_agg', 'array_concat_agg', 'string_agg']);

/** Refuses what ClickHouse has no exact form of. */
export function windowSql(of: WindowSqlCall): string {
  const { name, distinct, having, orderBy, limit } = of.call.function;
  const shown = name.toUpperCase();
  const render = FUNCTIONS.get(name);
  if (having !== undefined || limit !== undefined || (distinct && COLLECTING.has(name))) {
    return refuse(`${shown} over a window with this modifier`, undefined);
  }
  if (render !== undefined) return render(of);
  if (orderBy !== undefined && !COLLECTING.has(name)) {
    return refuse(`${shown} over a window with this modifier`, undefined);
  }
  return aggregateOverWindow(of);
}

/** A call whose errors count only where it is read: its column holds a list of the rows of the frame. */
export function deferredOverWindow(
  of: WindowSqlCall,
  { below, addColumn, plans }: Pick<DeferredCall, 'below' | 'addColumn' | 'plans'>,
): Pick<ColumnSql, 'sql' | 'answer'> {
  const { call, type, parts } = of;
  const { name } = call.function;
  if (FUNCTIONS.has(name)) {
    return refuse(`${name.toUpperCase()} whose errors count in some branches only`, undefined);
  }
  const position = COLLECTING.has(name) ? preparedPosition(of) : undefined;
  const { row, answer } = deferredSql({
    call: call.function,
    type,
    below,
    addColumn,
    position,
    parts,
    plans,
  });
  return { sql: frameReduce(of)('groupArray', [row]), answer };
}

function aggregateOverWindow(of: WindowSqlCall): string {
  const { call, type, inputs, partition, parts, stages } = of;
  const own: AggregateCall = call.function;
  const isFirst = takesFirsts(own)
    ? stages.prepared.add(firstOfValue(inputs[0]!, { call: own, partition, order: [] }))
    : undefined;
  return aggregateSql({
    call: own,
    type,
    arguments: inputs,
    types: own.arguments.map((argument) => argument.type),
    position: COLLECTING.has(own.name) ? preparedPosition(of) : undefined,
    isFirst,
    reduce: frameReduce(of),
    parts,
  });
}

/** In an order in which no rows are peers. */
function inTotalOrder<Of extends Pick<WindowSqlCall, 'order' | 'ties'>>(of: Of): Of {
  return { ...of, order: [...of.order, ...of.ties] };
}

function positionOf(of: WindowSqlCall): string {
  return of.stages.reduced.add(`row_number()${overText(inTotalOrder(of))}`);
}

/** The position of a row as an argument of functions over windows. */
function preparedPosition(of: WindowSqlCall): string {
  return of.stages.prepared.add(`row_number()${overText(inTotalOrder(of))}`);
}

/** Functions of ClickHouse over the frame. */
function frameReduce(of: WindowSqlCall): Reduce {
  const { reduced } = of.stages;
  const { frame } = of.call;
  if (frame === undefined) return reducing(reduced, { over: overText(of) });
  if (isEmptyFrame(frame)) {
    return reducing(reduced, { over: overText({ ...of, order: [] }), condition: '0' });
  }
  if (of.rangeKey !== undefined) {
    return rangeReduce({ ...of, total: inTotalOrder(of).order, frame, key: of.rangeKey });
  }
  const [start, end] = [boundText(frame.start), boundText(frame.end)];
  const text = `${frame.unit.toUpperCase()} BETWEEN ${start} AND ${end}`;
  const ordered = frame.unit === 'rows' ? inTotalOrder(of) : of;
  return reducing(reduced, { over: overText({ ...ordered, frame: text }) });
}

/** ClickHouse takes no frame whose start is behind its end. */
function isEmptyFrame({ start, end, unit }: WindowFrame): boolean {
  if (unit === 'range' || !('amount' in start && 'amount' in end) || start.kind !== end.kind) {
    return false;
  }
  const [first, last] = [Number(wholeNumber(start.amount)), Number(wholeNumber(end.amount))];
  return start.kind === 'preceding' ? first < last : first > last;
}

function boundText(bound: FrameBound): string {
  const words = bound.kind.replace('-', ' ').toUpperCase();
  return 'amount' in bound ? `${wholeNumber(bound.amount)} ${words}` : words;
}

function wholeNumber(expression: Expression | undefined): string {
  const value = expression?.op === 'literal' ? expression.value : undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return String(value);
  return refuse('this number of rows of a window', undefined);
}

/** The argument of a call at a position, constants among them. */
function argumentAt({ call }: WindowSqlCall, index: number): Expression | undefined {
  return [...call.function.arguments, ...call.function.constants][index];
}

function bucketCount(of: WindowSqlCall): string {
  const text = wholeNumber(argumentAt(of, 0));
  return text === '0' ? refuse('NTILE of no buckets', undefined) : text;
}

function cumulative(of: WindowSqlCall): string {
  const whole = overText({ ...of, order: [], frame: WHOLE_PARTITION });
  return `(count()${overText(of)} / count()${whole})`;
}

/** LAG and LEAD. */
function neighbour(name: 'lagInFrame' | 'leadInFrame'): WindowSql {
  return (of) => {
    const { reduced } = of.stages;
    const given = argumentAt(of, 1);
    const distance = given === undefined ? '1' : wholeNumber(given);
    const over = overText({ ...inTotalOrder(of), frame: WHOLE_PARTITION });
    const value = reduced.add(`${name}(tuple(${of.inputs[0]}), ${distance})${over}`);
    const otherwise = argumentAt(of, 2);
    if (otherwise === undefined) return `${value}.1`;
    if (otherwise.op !== 'literal') return refuse('this default of LAG or LEAD', undefined);
    const whole = overText({ ...of, order: [] });
    const position = positionOf(of);
    const room =
      name === 'lagInFrame' ? position : `${reduced.add(`count()${whole}`)} - ${position} + 1`;
    const other = literal(otherwise.value, of.type, { parts: of.parts });
    return `if(${room} > ${distance}, ${value}.1, ${other})`;
  };
}

function typeOf({ call }: WindowSqlCall): SqlType {
  return call.function.arguments[0]!.type;
}

/** The condition that a row counts. */
function countedOf(of: WindowSqlCall): string | undefined {
  return of.call.ignoresNulls ? `NOT ${isNull(of.inputs[0]!, typeOf(of))}` : undefined;
}

/** FIRST_VALUE and LAST_VALUE: the value at the least and greatest position of the frame. */
function edge(byPosition: 'argMin' | 'argMax'): WindowSql {
  return (of) => {
    const inputs = [`tuple(${of.inputs[0]})`, preparedPosition(of)];
    return `${frameReduce(of)(byPosition, inputs, countedOf(of))}.1`;
  };
}

/** Beyond the end of an Array there is the default, which is NULL. */
function nthValue(of: WindowSqlCall): string {
  const place = wholeNumber(argumentAt(of, 1));
  if (place === '0') return refuse('NTH_VALUE of row 0', undefined);
  const entry = `tuple(${preparedPosition(of)}, ${of.inputs[0]})`;
  const rows = frameReduce(of)('groupArray', [entry], countedOf(of));
  const name = of.parts.variable();
  return `arraySort(${name} -> ${name}.1, ${rows})[${place}].2`;
}

function percentileOf(of: WindowSqlCall) {
  const fraction = argumentAt(of, 1);
  return {
    ...of,
    value: of.inputs[0]!,
    type: typeOf(of),
    fraction: fraction?.op === 'literal' ? Number(fraction.value ?? -1) : -1,
    isCounted: countedOf(of) ?? '1',
  };
}
