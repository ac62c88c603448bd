import type { Span } from '../../query-error.ts';
import type { CommonTable, Query } from '../../sql/ast.ts';
import { placedAt } from '../../sql/placed-at.ts';
import type { Binding } from './binding.ts';
import type { OuterScope } from './outer-scope.ts';
import { refuse } from './refusal.ts';
import type { Relation } from './relation.ts';
import { sameName } from './scope.ts';

/**
 * Binds a whole query where the given CTEs are in scope; `outer`: what a subquery sees of the query
 * around it.
 */
export type BindQuery = (
  query: Query,
  tables: CommonTables,
  binding: Binding,
  outer?: OuterScope,
) => Relation;

type Entry = {
  readonly outer: CommonTables;
  readonly table: CommonTable;
  /** Bound once for its errors; the first use takes it, later ones bind their own. */
  unused: Relation | undefined;
  /** Of another text than the one that is bound: its places mean nothing there. */
  readonly isForeign: boolean;
};

/** The CTEs in scope at one place, the nearest first; an inner name hides the same outer one. */
export class CommonTables {
  readonly #bindQuery: BindQuery;
  /** The nearest; absent: there is none, or none but those of `#outer`. */
  readonly #entry: Entry | undefined;
  readonly #outer: CommonTables | undefined;
  /** Whether a source may be named here, too. */
  readonly seesSources: boolean;

  private constructor(
    bindQuery: BindQuery,
    scope: {
      readonly outer?: CommonTables | undefined;
      readonly entry?: Entry;
      readonly seesSources: boolean;
    },
  ) {
    this.#bindQuery = bindQuery;
    this.#outer = scope.outer;
    this.#entry = scope.entry;
    this.seesSources = scope.seesSources;
  }

  static none(bindQuery: BindQuery): CommonTables {
    return new CommonTables(bindQuery, { seesSources: true });
  }

  /**
   * The tables of some texts that were bound before, and no source: whoever stands here sees what they
   * select, and nothing of what they select it from. Each sees those before it in its own text, and is bound when it is
   * used; what is wrong with it then stands where it is used.
   */
  static only(texts: readonly (readonly CommonTable[])[], bindQuery: BindQuery): CommonTables {
    let visible: CommonTables | undefined;
    for (const tables of texts) {
      let outer = CommonTables.none(bindQuery);
      for (const table of tables) {
        const entry: Entry = { outer, table, unused: undefined, isForeign: true };
        outer = new CommonTables(bindQuery, { outer, entry, seesSources: true });
        visible = new CommonTables(bindQuery, { outer: visible, entry, seesSources: false });
      }
    }
    return visible ?? new CommonTables(bindQuery, { seesSources: false });
  }

  /** With the tables of one WITH, each of which sees those before it. */
  with(tables: readonly CommonTable[], binding: Binding): CommonTables {
    let scope: CommonTables = this;
    const names = new Set<string>();
    for (const table of tables) {
      const name = table.name.text.toLowerCase();
      if (names.has(name)) refuse(`WITH names ${table.name.text} twice`, table.name.span);
      names.add(name);
      const unused = this.#bindQuery(table.query, scope, binding);
      const entry: Entry = { outer: scope, table, unused, isForeign: false };
      const { seesSources } = scope;
      scope = new CommonTables(this.#bindQuery, { outer: scope, entry, seesSources });
    }
    return scope;
  }

  /** A copy of the table with columns of its own, for a use at `span`; `undefined` if there is none of that name. */
  find(name: string, span: Span, binding: Binding): Relation | undefined {
    const entry = this.#entries().find(({ table }) => sameName(table.name.text, name));
    if (entry === undefined) return undefined;
    const { outer, unused, isForeign } = entry;
    entry.unused = undefined;
    if (unused !== undefined) return unused;
    const query = isForeign ? placedAt(entry.table.query, span) : entry.table.query;
    return binding.nested(query.span, () => this.#bindQuery(query, outer, binding));
  }

  /** Binds a subquery that sees these tables. */
  bind(query: Query, binding: Binding, outer: OuterScope | undefined): Relation {
    return this.#bindQuery(query, this, binding, outer);
  }

  /** Binds a query of a text of its own, placed where it is used: it sees sources and views alone. */
  bindApart(query: Query, binding: Binding): Relation {
    const tables = CommonTables.none(this.#bindQuery);
    return binding.nested(query.span, () => this.#bindQuery(query, tables, binding));
  }

  names(): readonly string[] {
    return this.#entries().map(({ table }) => table.name.text);
  }

  #entries(): readonly Entry[] {
    const entries: Entry[] = [];
    for (let at: CommonTables | undefined = this; at !== undefined; at = at.#outer) {
      if (at.#entry !== undefined) entries.push(at.#entry);
    }
    return entries;
  }
}
