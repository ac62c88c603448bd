import type { Random } from '../../src/demo/traffic/random.ts';
import { LOGS, METADATA, type Shape } from './events.ts';
import {
  type Expression,
  type From,
  isScalar,
  type Join,
  type Query,
  type Table,
  type Type,
} from './query.ts';
import { fieldsOf, type Readable, randomLeaf } from './random-expression.ts';

/** A table in FROM and the values that its alias gives. */
export type Source = {
  readonly table: Table;
  readonly scope: readonly Readable[];
  /** By name; of several tables, a name may stand for several columns. */
  readonly columns: ReadonlyMap<string, Type | 'ambiguous'>;
  /** What no two of its rows have in common, if there is such. */
  readonly unique?: readonly Expression[] | undefined;
};

/** What FROM gives to the rest of the query. */
export type FromScope = Pick<Source, 'scope' | 'unique'> & { readonly from: From };

export type Column = { readonly name: string; readonly type: Type };

/** What FROM needs of the query around it. */
export type FromContext = {
  readonly random: Random;
  readonly name: (prefix: string) => string;
  readonly subquery: (depth: number, outer: readonly Readable[]) => Query;
  readonly condition: (scope: readonly Readable[]) => Expression;
  /** Tables of WITH. */
  readonly tables: readonly { readonly name: string; readonly columns: readonly Column[] }[];
  /** What a subquery reads of the query around it. */
  readonly outer: readonly Readable[];
};

/** Names that a query makes; no column of `logs` ends in a digit. */
export const OWN_NAME = /\d$/;

export class FromMaker {
  readonly #context: FromContext;

  constructor(context: FromContext) {
    this.#context = context;
  }

  /** `isUnique`: the rows can be told apart, as far as their tables let it. */
  from(depth: number, isUnique: boolean): FromScope {
    const { random, outer } = this.#context;
    const first =
      outer.length > 0 && random.next() < 0.5
        ? this.#unnest(outer, isUnique)
        : this.#source(depth, isUnique);
    let { scope, unique, columns } = first;
    const merged = new Map<string, Type>();
    const joins: Join[] = [];
    for (let count = random.pick([0, 1, 1, 2]); count > 0; count--) {
      const right =
        random.next() < 0.55 ? this.#unnest(scope, isUnique) : this.#source(depth - 1, isUnique);
      const join = this.#join(right, {
        scope,
        columns,
        hasComma: joins.some(({ kind }) => kind === ','),
      });
      joins.push(join);
      scope = [...scope, ...right.scope];
      unique = unique && right.unique && [...unique, ...right.unique];
      for (const name of join.using ?? []) merged.set(name, right.columns.get(name) as Type);
      columns = joinedColumns(columns, right.columns, join.using ?? []);
    }
    const own = [...merged].filter(([name]) => columns.get(name) !== 'ambiguous');
    const bare = own.map(([name, type]): Readable => {
      return { expression: { op: 'column', type, name, isBare: false }, type };
    });
    return { from: { op: 'from', first: first.table, joins }, scope: [...scope, ...bare], unique };
  }

  /** `hasComma`: a comma stands before, behind which Google takes no RIGHT and FULL. */
  #join(
    right: Source,
    { hasComma, ...left }: Pick<Source, 'scope' | 'columns'> & { readonly hasComma: boolean },
  ): Join {
    const { random } = this.#context;
    const { table } = right;
    // What a list of the left gives, stands beside its own row only.
    const isFree = !hasComma && (table.op !== 'unnest' || !readsScope(table.list));
    const kind = random.pick([
      ',',
      ' CROSS JOIN',
      ' INNER JOIN',
      ' LEFT JOIN',
      ' LEFT JOIN',
      ...(isFree ? ([' RIGHT JOIN', ' FULL JOIN', ' FULL JOIN'] as const) : []),
    ] as const);
    if (kind === ',' || kind === ' CROSS JOIN') return { kind, table };
    // Only an array join may go without a condition.
    const mayBeBare = kind === ' INNER JOIN' || kind === ' LEFT JOIN';
    if (table.op === 'unnest' && mayBeBare && random.next() < 0.4) return { kind, table };
    const shared = [...right.columns].filter(
      ([name, type]) => left.columns.get(name) === type && type !== 'ambiguous' && isScalar(type),
    );
    if (shared.length > 0 && random.next() < 0.35) {
      const names = shared.map(([name]) => name);
      return { kind, table, using: [...new Set([random.pick(names), random.pick(names)])] };
    }
    return { kind, table, on: this.#joinCondition(left.scope, right.scope) };
  }

  #joinCondition(left: readonly Readable[], right: readonly Readable[]): Expression {
    const { random, condition, outer } = this.#context;
    const rest = condition([...left, ...right, ...(random.next() < 0.2 ? outer : [])]);
    const pairs = left.flatMap((one) =>
      right.filter((other) => areComparable(one.type, other.type)).map((other) => [one, other]),
    );
    if (pairs.length === 0 || random.next() < 0.2) return rest;
    const [one, other] = random.pick(pairs) as [Readable, Readable];
    const type = one.type;
    const isHour = type === 'TIMESTAMP' && random.next() < 0.6;
    const tested = isHour
      ? callOf('TIMESTAMP_TRUNC(?, HOUR)', type, [one.expression])
      : one.expression;
    const sides = random.below(2) === 0 ? [tested, other.expression] : [other.expression, tested];
    const equality = callOf('(? = ?)', 'BOOL', sides);
    return random.next() < 0.3 ? both(equality, rest) : equality;
  }

  #source(depth: number, isUnique: boolean): Source {
    const { random, tables, outer, subquery } = this.#context;
    const alias = this.#context.name('t');
    if (depth > 0 && random.next() < 0.35) {
      const query = subquery(depth - 1, random.next() < 0.3 ? outer : []);
      const columns = columnsOf(query);
      return { ...this.#columns(alias, columns), table: { op: 'subquery', query, alias } };
    }
    if (tables.length > 0 && random.next() < 0.5) {
      const { name, columns } = random.pick(tables);
      return { ...this.#columns(alias, columns), table: { op: 'common', name, alias } };
    }
    if (random.next() < 0.1) return this.#unnest([], isUnique);
    const id: Expression = {
      op: 'column',
      type: 'STRING',
      table: alias,
      name: 'id',
      isBare: false,
    };
    return { ...this.#columns(alias, LOGS), table: { op: 'logs', alias }, unique: [id] };
  }

  #columns(
    alias: string,
    columns: readonly (Column & { readonly shape?: Shape })[],
  ): Pick<Source, 'scope' | 'columns'> {
    const { random } = this.#context;
    const scope = columns.flatMap(({ name, type, shape }) => {
      // The names that queries make are found without their table; those of `logs` may be in twice.
      const isBare = OWN_NAME.test(name) && random.next() < 0.2 && !this.#isReused(name);
      const expression: Expression = { op: 'column', type, table: alias, name, isBare };
      const column = { expression, type, shape };
      if (type !== 'RECORD[]' || random.next() < 0.7) return [column];
      const position = random.pick(['SAFE_OFFSET(0)', 'SAFE_ORDINAL(2)']);
      const element = callOf(`?[${position}]`, 'RECORD', [expression]);
      return [column, ...fieldsOf(element, shape!)];
    });
    return { scope, columns: new Map(columns.map(({ name, type }) => [name, type])) };
  }

  /** Whether a table of that column may stand twice in one FROM. */
  #isReused(name: string): boolean {
    return this.#context.tables.some(({ columns }) =>
      columns.some((column) => column.name === name),
    );
  }

  /** One row for each element of a list that the tables before it give, or of one written out. */
  #unnest(scope: readonly Readable[], isUnique: boolean): Source {
    const { random, name } = this.#context;
    const lists = scope.filter(({ type }) => type.endsWith('[]'));
    const alias = name('e');
    const offset = isUnique || random.next() < 0.25 ? name('o') : undefined;
    const records = lists.filter(({ type }) => type === 'RECORD[]');
    const chosen =
      records.length > 0 && random.next() < 0.6
        ? random.pick(records)
        : lists.length > 0 && random.next() < 0.7
          ? random.pick(lists)
          : undefined;
    const list = chosen?.expression ?? this.#list();
    const type = list.type.slice(0, -2) as Type;
    const element: Expression = { op: 'column', type, name: alias, isBare: false };
    const own: readonly Readable[] =
      type === 'RECORD'
        ? fieldsOf(element, chosen?.shape ?? METADATA)
        : [{ expression: element, type }];
    const table: Table = { op: 'unnest', list, alias, offset };
    if (offset === undefined) return { table, scope: own, columns: new Map() };
    const index: Expression = { op: 'column', type: 'INT64', name: offset, isBare: false };
    return {
      table,
      scope: [...own, { expression: index, type: 'INT64' }],
      columns: new Map(),
      unique: [index],
    };
  }

  #list(): Expression {
    const { random } = this.#context;
    const type = random.pick(['INT64[]', 'STRING[]', 'TIMESTAMP[]', 'TIMESTAMP[]'] as const);
    // Of literals only: the list may be long, and every row of the tables before it has one.
    if (type !== 'TIMESTAMP[]') return randomLeaf(random, type, []);
    const operation = random.pick([
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL 6 HOUR)',
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL 6 DAY)',
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL -1 DAY)',
    ]);
    const ends = [1, 2].map(() => randomLeaf(random, 'TIMESTAMP', []));
    return callOf(operation, type, ends);
  }
}

/** A name that two tables have stands for neither, unless USING made one column of both. */
function joinedColumns(
  left: Source['columns'],
  right: Source['columns'],
  using: readonly string[],
): Source['columns'] {
  const columns = new Map([...left, ...right]);
  for (const name of right.keys()) {
    if (left.has(name) && !using.includes(name)) columns.set(name, 'ambiguous');
  }
  return columns;
}

export function both(left: Expression, right: Expression): Expression {
  return callOf('(? AND ?)', 'BOOL', [left, right]);
}

export function callOf(text: string, type: Type, inputs: readonly Expression[]): Expression {
  const takes = inputs.map((input) => input.type);
  return { op: 'call', type, operation: `${text} of ${takes.join(', ')}`, arguments: inputs };
}

export function columnsOf(query: Query): readonly Column[] {
  return query.items.map(({ name, expression }) => ({ name, type: expression.type }));
}

function areComparable(left: Type, right: Type): boolean {
  const areNumbers = [left, right].every((type) => type === 'INT64' || type === 'FLOAT64');
  return areNumbers || (isScalar(left) && left === right);
}

function readsScope(expression: Expression): boolean {
  switch (expression.op) {
    case 'column':
    case 'field':
    case 'subquery':
      return true;
    case 'call':
      return expression.arguments.some(readsScope);
    default:
      return false;
  }
}
