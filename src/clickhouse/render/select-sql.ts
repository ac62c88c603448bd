import { type OrderKey, orderText } from './sort-sql.ts';
import { canRaise } from './statement-parts.ts';

/** An expression of a SELECT, and what it is called: a column that is passed on keeps its name. */
export type Item = { readonly name: string; readonly sql: string };

export function passedOn(name: string): Item {
  return { name, sql: name };
}

type Parts = {
  /** `undefined`: all columns that there are. */
  readonly items: readonly Item[] | undefined;
  /** The text after FROM: a table, or a SELECT in parentheses with its joins. */
  readonly from: string;
  readonly where?: readonly string[];
  /** The order of the rows, by columns of `from`, and how many of them are taken. */
  readonly first?: { readonly order: readonly OrderKey[]; readonly count: string };
  /** The rows are groups: there are few, and what is computed of them costs nothing. */
  readonly areGroups?: boolean | undefined;
};

/** Names of columns, and no characters of a pattern. */
const NAME = /(?<![\\\w])[cx]\d+\w*/g;
/** What may be written several times: a column or a part of one. */
const CHEAP = /^(?:toNullable\([a-z]\w*\)|[a-z]\w*(?:\.\d+|\[\d+\])*)$/;
const TABLE = /^\w+$/;
const ANYTHING = /./s;

/**
 * A SELECT whose parts are known. One over it becomes one with it where that is the same: ClickHouse takes long to analyse
 * a SELECT within another.
 */
export class SelectSql {
  readonly #parts: Parts;
  readonly sql: string;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.sql = textOf(parts);
  }

  /** All columns of a SELECT. */
  static over(sql: string, areGroups = false): SelectSql {
    return new SelectSql({ items: undefined, from: `(${sql})`, areGroups });
  }

  selecting(items: readonly Item[]): SelectSql {
    const { first, areGroups } = this.#parts;
    const inserted = this.#inserted(
      items.map(({ sql }) => sql),
      ANYTHING,
    );
    // An expression over the first rows must not be computed for others.
    const isTooEarly = first !== undefined && !(areGroups && !inserted?.some(canRaise));
    if (inserted === undefined || isTooEarly) return this.#asRows().selecting(items);
    const changed = items.map(({ name }, index) => ({ name, sql: inserted[index]! }));
    return new SelectSql({ ...this.#parts, items: changed });
  }

  /** With all that is selected already. */
  selectingMore(items: readonly Item[]): SelectSql {
    const own = this.#parts.items?.map(({ name }) => passedOn(name)) ?? [passedOn('*')];
    return this.selecting([...own, ...items]);
  }

  /** The rows for which a condition holds. */
  where(condition: string): SelectSql {
    const { from, where = [], first } = this.#parts;
    // Over more than a table, ClickHouse may test one of several conditions earlier than the others.
    const isInOrder = canRaise(condition) || (where.some(canRaise) && !TABLE.test(from));
    const isMerged = first === undefined && !isInOrder;
    const [inserted] = (isMerged && this.#inserted([condition], CHEAP)) || [];
    const all = inserted === undefined ? undefined : [...where, `(${inserted})`];
    if (all !== undefined) return new SelectSql({ ...this.#parts, where: all });
    return new SelectSql({ ...this.#asRows().#parts, where: [condition] });
  }

  /** The first rows in an order. */
  firstRows(order: readonly OrderKey[], count: string): SelectSql {
    const { first } = this.#parts;
    const keys = order.map(({ sql }) => sql);
    const inserted = first === undefined ? this.#inserted(keys, CHEAP) : undefined;
    if (inserted === undefined) return this.#asRows().firstRows(order, count);
    const changed = order.map((key, index) => ({ ...key, sql: inserted[index]! }));
    return new SelectSql({ ...this.#parts, first: { order: changed, count } });
  }

  /** All rows, in an order. */
  inOrder(items: readonly Item[], order: readonly OrderKey[]): SelectSql {
    const { from, first } = this.#parts;
    const selected = this.selecting(items);
    const keys = this.#inserted(
      order.map(({ sql }) => sql),
      CHEAP,
    );
    const changed = keys && order.map((key, index) => ({ ...key, sql: keys[index]! }));
    const isNested = selected.#parts.from !== from;
    const isOther = first !== undefined && changed && orderBy(changed) !== orderBy(first.order);
    if (isNested || changed === undefined || isOther) return this.#asRows().inOrder(items, order);
    const rows = first ?? { order: changed, count: '' };
    return new SelectSql({ ...selected.#parts, first: rows });
  }

  /** Groups of the rows; `items` are keys and functions over groups. */
  groups(items: readonly Item[], keys: readonly string[]): string {
    const { from, where = [], first } = this.#parts;
    const expressions = items.map(({ sql }) => sql);
    const inserted = first === undefined ? this.#inserted(expressions, ANYTHING) : undefined;
    if (inserted === undefined) return this.#asRows().groups(items, keys);
    const changed = items.map(({ name }, index) => ({ name, sql: inserted[index]! }));
    const by = keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
    return `${textOf({ items: changed, from, where })}${by}`;
  }

  #asRows(): SelectSql {
    return SelectSql.over(this.sql, this.#parts.areGroups);
  }

  /**
   * Rewrites expressions over the columns of this SELECT, so that they read the columns of `from`. `undefined` if something
   * would then be computed twice, or an error be raised for other rows. `kind`: which values of columns may be put into them.
   */
  #inserted(expressions: readonly string[], kind: RegExp): readonly string[] | undefined {
    const { items } = this.#parts;
    if (items === undefined) return expressions;
    // ClickHouse may compute what stands beside an ARRAY JOIN before it.
    if (expressions.some(canRaise)) return undefined;
    const values = new Map(items.map(({ name, sql }) => [name, sql]));
    const used = new Set<string>();
    let isSame = true;
    const inserted = expressions.map((expression) =>
      expression.replaceAll(NAME, (name) => {
        const sql = values.get(name);
        if (sql === undefined || sql === name) return name;
        const isWhole = expression === name;
        // Within a SELECT of its own, a name may be that of another column.
        if (expression.includes('SELECT ')) isSame = false;
        if (CHEAP.test(sql)) return sql;
        const isMovable = isWhole || !(canRaise(sql) || sql.includes('SELECT '));
        if (!kind.test(sql) || used.has(name) || !isMovable) isSame = false;
        used.add(name);
        return isWhole ? sql : `(${sql})`;
      }),
    );
    return isSame ? inserted : undefined;
  }
}

function textOf({ items, from, where = [], first }: Parts): string {
  const list = items?.map(({ name, sql }) => (sql === name ? name : `${sql} AS ${name}`)) ?? ['*'];
  const conditions = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
  const rows = first === undefined ? '' : `${orderBy(first.order)}${first.count}`;
  return `SELECT ${list.length === 0 ? '1 AS one' : list.join(', ')} FROM ${from}${conditions}${rows}`;
}

function orderBy(order: readonly OrderKey[]): string {
  return order.length === 0 ? '' : ` ORDER BY ${order.map(orderText).join(', ')}`;
}
