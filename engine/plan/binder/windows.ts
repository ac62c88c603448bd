import type { SqlType } from '../../column/type.ts';
import type { Span } from '../../query-error.ts';
import type { Name, NamedWindow, Window as WindowSyntax } from '../../sql/ast.ts';
import type { ColumnId, Expression } from '../expression.ts';
import { columnReference, readsAny } from '../expression-walk.ts';
import type { FrameBound, SortKey, WindowCall, WindowColumn } from '../logical-plan.ts';
import type { Binding } from './binding.ts';
import { hint } from './nearest-name.ts';
import { refuse } from './refusal.ts';

/** Rows of one division and one order, and what is computed over them. */
export type BoundWindow = WindowRows & {
  readonly calls: readonly BoundCall[];
  readonly span: Span;
};

/** A call, and where the text names it first. */
type BoundCall = WindowColumn & { readonly span: Span };

export type WindowRows = {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
};

/** The calls over windows of one SELECT, each computed once however often the text names it. */
export class Windows {
  readonly #binding: Binding;
  readonly #named: ReadonlyMap<string, WindowSyntax>;
  readonly #byKey = new Map<string, { readonly rows: WindowRows; readonly span: Span }>();
  readonly #calls = new Map<string, Map<string, BoundCall>>();
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
    const calls = this.#calls.get(key) ?? new Map<string, BoundCall>();
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
