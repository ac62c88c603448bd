import { must } from '../../assert.ts';
import type { CommonTable, Query } from '../../sql/ast.ts';
import type { Binding } from './binding.ts';
import { refuse } from './refusal.ts';
import type { Relation } from './relation.ts';
import { sameName } from './scope.ts';

/** Binds a whole query where the given CTEs are in scope. */
export type BindQuery = (query: Query, tables: CommonTables, binding: Binding) => Relation;

/** The CTEs in scope at one place, the nearest first; an inner name hides the same outer one. */
export class CommonTables {
  readonly #outer: CommonTables | undefined;
  readonly #table: CommonTable | undefined;
  readonly #bindQuery: BindQuery;
  /** Bound once for its errors; the first use takes it, later ones bind their own. */
  #unused: Relation | undefined;

  private constructor(
    bindQuery: BindQuery,
    outer?: CommonTables | undefined,
    table?: CommonTable | undefined,
    unused?: Relation | undefined,
  ) {
    this.#bindQuery = bindQuery;
    this.#outer = outer;
    this.#table = table;
    this.#unused = unused;
  }

  static none(bindQuery: BindQuery): CommonTables {
    return new CommonTables(bindQuery);
  }

  /** With the tables of one WITH, each of which sees those before it. */
  with(tables: readonly CommonTable[], binding: Binding): CommonTables {
    let scope: CommonTables = this;
    const names = new Set<string>();
    for (const table of tables) {
      const name = table.name.text.toLowerCase();
      if (names.has(name)) refuse(`WITH names ${table.name.text} twice`, table.name.span);
      names.add(name);
      const relation = this.#bindQuery(table.query, scope, binding);
      scope = new CommonTables(this.#bindQuery, scope, table, relation);
    }
    return scope;
  }

  /** A copy of the table with columns of its own; `undefined` if there is none of that name. */
  find(name: string, binding: Binding): Relation | undefined {
    const entry = this.#findEntry(name);
    if (entry === undefined) return undefined;
    const relation = entry.#unused;
    entry.#unused = undefined;
    if (relation !== undefined) return relation;
    const { query } = must(entry.#table);
    const outer = must(entry.#outer);
    return binding.nested(query.span, () => this.#bindQuery(query, outer, binding));
  }

  names(): readonly string[] {
    const names: string[] = [];
    for (let at: CommonTables | undefined = this; at !== undefined; at = at.#outer) {
      if (at.#table !== undefined) names.push(at.#table.name.text);
    }
    return names;
  }

  #findEntry(name: string): CommonTables | undefined {
    for (let at: CommonTables | undefined = this; at !== undefined; at = at.#outer) {
      if (at.#table !== undefined && sameName(at.#table.name.text, name)) return at;
    }
    return undefined;
  }
}
