import { findAggregateFunction } from '../../aggregate/registry.ts';
import { INT64, isNumber, NUMBER, type SqlType, typeName } from '../../column/type.ts';
import { hint } from '../../nearest-name.ts';
import type { WindowFunction } from '../../operator/window-frame.ts';
import { findWindowFunction } from '../../operator/window-functions.ts';
import { refuse, type Span } from '../../query-error.ts';
import type {
  FrameBound as BoundSyntax,
  WindowFrame as FrameSyntax,
  Name,
  NamedWindow,
  Expression as Syntax,
  Window as WindowSyntax,
} from '../../sql/ast.ts';
import {
  type ColumnId,
  columnReference,
  columnsOf,
  type Expression,
  readsAny,
} from '../expression.ts';
import type {
  AggregateCall,
  FrameBound,
  SortKey,
  WindowCall,
  WindowColumn,
  WindowFrame,
} from '../logical-plan.ts';
import { bindAggregateCall } from './bind-aggregate.ts';
import type { CallSyntax } from './bind-expression.ts';
import type { Binding, ExpressionContext } from './binding.ts';
import { checkGroupable, coerce } from './coercion.ts';
import { chooseOverload } from './overload.ts';
import { sortKey } from './select-list.ts';
import { functionNames } from './special-forms.ts';

/** A call with OVER becomes a column of the Window below. */
export function bindWindowCall(
  name: string,
  syntax: CallSyntax & { readonly over: WindowSyntax },
  context: ExpressionContext,
): Expression {
  const { place } = context;
  const { span } = syntax;
  const { windows } = place;
  if (windows === undefined) {
    refuse(`a window function (OVER) cannot stand in ${place.text}`, span);
  }
  const inside = context.in({
    text: 'a window function',
    scope: place.scope,
    aggregates: place.aggregates,
    argumentScope: place.argumentScope,
  });
  const over = windows.resolved(syntax.over);
  const called = bindCalled(name, syntax, over, inside);
  const { rows, frame } = bindRows(over, inside);
  const all = [
    ...called.function.arguments,
    ...rows.partitionBy,
    ...rows.orderBy.map((key) => key.expression),
  ];
  // By an alias of the select list.
  if (all.some((each) => windows.areIn(each))) {
    refuse('a window function cannot stand in a window function', span);
  }
  const call = { function: called.function, ignoresNulls: called.ignoresNulls, frame };
  return windows.add(rows, call, called.type, span);
}

type Called = {
  readonly function: AggregateCall;
  readonly ignoresNulls: boolean;
  readonly type: SqlType;
};

function bindCalled(
  name: string,
  syntax: CallSyntax,
  over: WindowSyntax,
  inside: ExpressionContext,
): Called {
  const upper = name.toUpperCase();
  const written =
    (syntax.orderBy !== undefined && 'ORDER BY') ||
    (syntax.limit !== undefined && 'LIMIT') ||
    (syntax.having !== undefined && 'HAVING');
  if (written !== false) {
    refuse(`${upper} takes no ${written} in its arguments where it has OVER`, syntax.span);
  }
  const found = findWindowFunction(name);
  if (found !== undefined) return bindWindowFunction(found, syntax, over, inside);
  const aggregate = findAggregateFunction(name);
  if (aggregate === undefined) return refuseOver(name, syntax);
  if (syntax.distinct && (over.orderBy.length > 0 || over.frame !== undefined)) {
    const got = over.orderBy.length > 0 ? 'ORDER BY' : 'frame';
    refuse(`the window of ${upper}(DISTINCT …) takes no ${got}`, over.span);
  }
  const { call, type } = bindAggregateCall(aggregate, syntax, inside);
  return { function: call, ignoresNulls: false, type };
}

function refuseOver(name: string, syntax: CallSyntax): never {
  const { text, span } = syntax.name;
  const names = functionNames();
  if (names.includes(name)) {
    refuse(`${name.toUpperCase()} is neither an aggregate nor a window function: no OVER`, span);
  }
  const nearest = hint(
    name,
    names.map((each) => each.toUpperCase()),
  );
  return refuse(`there is no function ${text}${nearest}`, span);
}

function bindWindowFunction(
  found: WindowFunction,
  syntax: CallSyntax,
  over: WindowSyntax,
  inside: ExpressionContext,
): Called {
  const { span, nulls } = syntax;
  const name = found.name.toUpperCase();
  if (syntax.star) refuse(`${name} does not take *`, span);
  if (syntax.distinct) refuse(`${name} does not take DISTINCT`, span);
  if (nulls !== undefined && found.ignoresNulls === undefined) {
    refuse(`${name} does not take ${nulls.toUpperCase()} NULLS`, span);
  }
  checkWindow(found, over);
  const chosen = chooseOverload({
    name: found.name,
    overloads: found.overloads,
    arguments: syntax.arguments.map((argument) => inside.bind(argument)),
    span,
    binding: inside.binding,
  });
  const constants = chosen.arguments.slice(found.perRowCount);
  for (const [index, constant] of constants.entries()) {
    if (columnsOf(constant).size === 0) continue;
    const number = found.perRowCount + index + 1;
    refuse(`argument ${number} of ${name} must be a constant, the same for all rows`, span);
  }
  return {
    function: {
      name: found.name,
      arguments: chosen.arguments.slice(0, found.perRowCount),
      constants,
      distinct: false,
    },
    ignoresNulls: nulls === undefined ? found.ignoresNulls === true : nulls === 'ignore',
    type: chosen.type,
  };
}

function checkWindow(found: WindowFunction, over: WindowSyntax): void {
  const name = found.name.toUpperCase();
  if (found.order === 'required' && over.orderBy.length === 0) {
    refuse(`${name} needs a window with ORDER BY`, over.span);
  }
  if (found.order === 'forbidden' && over.orderBy.length > 0) {
    refuse(`the window of ${name} takes no ORDER BY`, over.orderBy[0]!.span);
  }
  if (!found.isFramed && over.frame !== undefined) {
    refuse(`the window of ${name} takes no frame`, over.frame.span);
  }
}

function bindRows(
  over: WindowSyntax,
  inside: ExpressionContext,
): { readonly rows: WindowRows; readonly frame: WindowFrame | undefined } {
  const partitionBy = over.partitionBy.map((key) => {
    const bound = inside.bind(key);
    checkGroupable('PARTITION BY', bound.type, key.span);
    return bound;
  });
  const orderBy = over.orderBy.map((item) =>
    sortKey(item, inside.bind(item.expression), inside.binding),
  );
  if (over.frame === undefined) return { rows: { partitionBy, orderBy }, frame: undefined };
  checkBounds(over.frame);
  const isRange = over.frame.unit === 'range';
  if (isRange && orderBy.length === 0) checkWithoutOrder(over.frame);
  const isShifted = [over.frame.start, over.frame.end].some((bound) => 'amount' in bound);
  if (!isRange || !isShifted) {
    return { rows: { partitionBy, orderBy }, frame: bindFrame(over.frame, INT64, inside) };
  }
  const key = rangeKey(over, orderBy, inside);
  const frame = bindFrame(over.frame, key.expression.type, inside);
  return { rows: { partitionBy, orderBy: [key] }, frame };
}

/** Refuses a frame that could only be empty, or begins after all rows. */
function checkBounds({ start, end, span }: FrameSyntax): void {
  if (start.kind === 'unbounded-following') {
    refuse('a frame cannot begin with UNBOUNDED FOLLOWING', span);
  }
  if (end.kind === 'unbounded-preceding') {
    refuse('a frame cannot end with UNBOUNDED PRECEDING', span);
  }
  if (BOUND_PLACES.indexOf(start.kind) <= BOUND_PLACES.indexOf(end.kind)) return;
  const words = (kind: string) => kind.replace('-', ' ').toUpperCase();
  refuse(`a frame that begins with ${words(start.kind)} cannot end with ${words(end.kind)}`, span);
}

/** From the first row of a partition to its last. */
const BOUND_PLACES: readonly BoundSyntax['kind'][] = [
  'unbounded-preceding',
  'preceding',
  'current-row',
  'following',
  'unbounded-following',
];

/** All rows are equal then. */
function checkWithoutOrder({ start, end, span }: FrameSyntax): void {
  if (start.kind === 'unbounded-preceding' && end.kind === 'unbounded-following') return;
  refuse(
    'a RANGE without ORDER BY holds all rows: ' +
      'write RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING, or an ORDER BY',
    span,
  );
}

/** The key that the amounts of a RANGE are added to: one number. */
function rangeKey(
  over: WindowSyntax,
  orderBy: readonly SortKey[],
  inside: ExpressionContext,
): SortKey {
  const [key] = orderBy;
  if (key === undefined || orderBy.length > 1) {
    refuse(`a RANGE with a number needs one key in ORDER BY; got ${orderBy.length}`, over.span);
  }
  const { type } = key.expression;
  if (isNumber(type)) return key;
  const number =
    type.kind === 'DYNAMIC' ? coerce(key.expression, NUMBER, inside.binding) : undefined;
  if (number !== undefined) return { ...key, expression: number };
  return refuse(
    `a RANGE with a number needs a number in ORDER BY; got ${typeName(type)}`,
    over.orderBy[0]!.span,
  );
}

function bindFrame(frame: FrameSyntax, type: SqlType, inside: ExpressionContext): WindowFrame {
  const bound = (syntax: BoundSyntax): FrameBound =>
    'amount' in syntax
      ? { kind: syntax.kind, amount: bindAmount(syntax.amount, type, inside) }
      : syntax;
  return { unit: frame.unit, start: bound(frame.start), end: bound(frame.end) };
}

/** Whether it is at least 0 is asked when the call's parameters are known. */
function bindAmount(syntax: Syntax, type: SqlType, inside: ExpressionContext): Expression {
  const amount = inside.bindAs(syntax, type, 'the bound of a frame');
  if (amount.type.kind === 'NULL' || (amount.op === 'literal' && amount.value === null)) {
    refuse('the bound of a frame cannot be NULL', syntax.span);
  }
  if (columnsOf(amount).size === 0) return amount;
  return refuse('the bound of a frame must be a constant, the same for all rows', syntax.span);
}

/** Rows of one division and one order, and what is computed over them. */
export type BoundWindow = WindowRows & {
  readonly calls: readonly SpannedColumn[];
  readonly span: Span;
};

/** What a call computes, and where the text names it first. */
type SpannedColumn = WindowColumn & { readonly span: Span };

type WindowRows = {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
};

/** The calls over windows of one SELECT, each computed once however often the text names it. */
export class Windows {
  readonly #binding: Binding;
  readonly #named: ReadonlyMap<string, WindowSyntax>;
  readonly #byKey = new Map<string, { readonly rows: WindowRows; readonly span: Span }>();
  readonly #calls = new Map<string, Map<string, SpannedColumn>>();
  readonly #ids = new Set<ColumnId>();

  constructor(binding: Binding, named: readonly NamedWindow[]) {
    this.#binding = binding;
    const byName = new Map<string, WindowSyntax>();
    this.#named = byName;
    for (const { name, window } of named) {
      const key = name.text.toLowerCase();
      if (byName.has(key)) refuse(`WINDOW names ${name.text} twice`, name.span);
      // Of the others only those before it are known to it.
      byName.set(key, this.resolved(window));
    }
  }

  /** A window with all that it has from the one it begins with. */
  resolved(window: WindowSyntax): WindowSyntax {
    const { base, partitionBy, orderBy, frame, span } = window;
    if (base === undefined) return window;
    const found = this.#find(base);
    if (partitionBy.length > 0) {
      refuse(
        `a window that extends ${base.text} keeps its PARTITION BY and cannot have another`,
        span,
      );
    }
    if (orderBy.length > 0 && found.orderBy.length > 0) {
      refuse(`window ${base.text} already has an ORDER BY`, span);
    }
    if (found.frame !== undefined && (orderBy.length > 0 || frame !== undefined)) {
      refuse(`window ${base.text} has a frame and cannot be extended`, span);
    }
    return {
      span,
      partitionBy: found.partitionBy,
      orderBy: orderBy.length > 0 ? orderBy : found.orderBy,
      frame: frame ?? found.frame,
    };
  }

  #find(name: Name): WindowSyntax {
    const found = this.#named.get(name.text.toLowerCase());
    if (found !== undefined) return found;
    const nearest = hint(name.text, this.#named.keys());
    return refuse(`there is no window ${name.text}${nearest}`, name.span);
  }

  /** The column that will hold the call's result. */
  add(rows: WindowRows, call: WindowCall, type: SqlType, span: Span): Expression {
    const key = this.#rowsKey(rows);
    if (!this.#byKey.has(key)) this.#byKey.set(key, { rows, span });
    const calls = this.#calls.get(key) ?? new Map<string, SpannedColumn>();
    this.#calls.set(key, calls);
    const callKey = this.#callKey(call);
    const known = calls.get(callKey);
    if (known !== undefined) return { ...columnReference(known.column) };
    const column = this.#binding.newColumn(call.function.name, type);
    calls.set(callKey, { column, call, span });
    this.#ids.add(column.id);
    const reference = columnReference(column);
    return this.#binding.at(reference, span, call.function.name.toUpperCase());
  }

  /** In the order of the text. */
  list(): readonly BoundWindow[] {
    return Array.from(this.#byKey, ([key, { rows, span }]) => {
      return { ...rows, span, calls: [...this.#calls.get(key)!.values()] };
    });
  }

  has(id: ColumnId): boolean {
    return this.#ids.has(id);
  }

  /** Whether an expression reads the result of a call over a window. */
  areIn(expression: Expression): boolean {
    return readsAny(expression, this.#ids);
  }

  #rowsKey({ partitionBy, orderBy }: WindowRows): string {
    const { identities } = this.#binding;
    return `${identities.ofAll(partitionBy)} / ${identities.ofOrder(orderBy)}`;
  }

  #callKey({ function: called, ignoresNulls, frame }: WindowCall): string {
    const rows =
      frame === undefined
        ? ''
        : `${frame.unit} ${this.#boundKey(frame.start)} ${this.#boundKey(frame.end)}`;
    return `${this.#binding.identities.ofCall(called)} / ${ignoresNulls} / ${rows}`;
  }

  #boundKey(bound: FrameBound): string {
    const amount = 'amount' in bound ? this.#binding.identities.of(bound.amount) : '';
    return `${bound.kind} ${amount}`;
  }
}
