import type { Random } from '../../src/traffic/random.ts';
import { LOGS, METADATA, type Shape, TIMES } from './events.ts';
import {
  type CommonTable,
  type Expression,
  type From,
  type GroupKey,
  type Item,
  isGrouped,
  type Join,
  type OrderKey,
  type Query,
  type Scalar,
  type Table,
  type Type,
} from './query.ts';
import {
  type ExpressionOptions,
  fieldsOf,
  type Readable,
  randomExpression,
  randomLeaf,
  randomScalar,
} from './random-expression.ts';

/** A random query over `logs`, whose subqueries and common tables nest as deep as `depth`. */
export function randomQuery(random: Random, depth = 2): Query {
  return new QueryMaker(random).query({ depth, isOutermost: true });
}

type Place = { readonly depth: number; readonly isOutermost: boolean };

/** Names that `#name` makes; no column of `logs` ends in a digit. */
const OWN_NAME = /\d$/;

/** A table in FROM and the values that its alias gives. */
type Source = { readonly table: Table; readonly scope: readonly Readable[] };

type Column = { readonly name: string; readonly type: Type };

class QueryMaker {
  readonly #random: Random;
  #tables: readonly { readonly name: string; readonly columns: readonly Column[] }[] = [];
  #nameCount = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  query(place: Place): Query {
    const outer = this.#tables;
    const tables: CommonTable[] = [];
    for (let count = this.#commonTableCount(place); count > 0; count--) {
      const query = this.query({ depth: place.depth - 1, isOutermost: false });
      const name = this.#name('w');
      tables.push({ name, query });
      this.#tables = [...this.#tables, { name, columns: columnsOf(query) }];
    }
    const query = this.#select(place);
    this.#tables = outer;
    return { ...query, with: tables };
  }

  #commonTableCount({ depth, isOutermost }: Place): number {
    if (depth === 0 || this.#random.next() > (isOutermost ? 0.5 : 0.1)) return 0;
    return this.#random.pick([1, 1, 2]);
  }

  #select(place: Place): Query {
    const random = this.#random;
    const { from, scope } = this.#from(place.depth);
    const where = this.#where(from, scope, place);
    const hasOrder = random.next() < 0.5;
    const hasLimit = hasOrder && random.next() < 0.5;
    const hasHaving = random.next() < 0.3;
    // A limit or HAVING may spare an engine the rows that fail.
    const isCertain = place.isOutermost && !hasLimit && !hasHaving && random.next() < 0.4;
    const parts =
      random.next() < 0.35 ? this.#grouped(scope, isCertain) : this.#plain(scope, isCertain);
    return {
      op: 'query',
      with: [],
      ...parts,
      from,
      where,
      having: hasHaving && isGrouped(parts) ? this.#having(scope, parts.items) : undefined,
      orderBy: hasOrder ? this.#order(parts) : [],
      limit: hasLimit ? random.pick([0, 1, 2, 3, 3, 5, 5, 10]) : undefined,
      offset: hasLimit && random.next() < 0.3 ? random.pick([0, 1, 2]) : undefined,
    };
  }

  /** Any condition, or one by which segments and rows of `logs` are skipped, or both. */
  #where(from: From, scope: readonly Readable[], place: Place): Expression | undefined {
    const random = this.#random;
    const any =
      random.next() < (place.isOutermost ? 0.4 : 0.2)
        ? this.#value('BOOL', scope, { depth: 2 })
        : undefined;
    const logs = [from.first, ...from.joins.map((join) => join.table)].find(
      (table) => table.op === 'logs',
    );
    if (logs === undefined || random.next() > 0.3) return any;
    const bound = this.#bound(logs.alias);
    const bounds = random.next() < 0.3 ? both(bound, this.#bound(logs.alias)) : bound;
    return any === undefined ? bounds : both(bounds, any);
  }

  /** A comparison of the time or the project of an event with a value that some events have. */
  #bound(alias: string): Expression {
    const random = this.#random;
    const isTime = random.next() < 0.7;
    const type = isTime ? 'TIMESTAMP' : 'STRING';
    const name = isTime ? 'timestamp' : 'project';
    const column: Expression = { op: 'column', type, table: alias, name, isBare: false };
    const value = isTime ? random.pick(TIMES) + random.pick([0n, 0n, 1n]) : random.pick(['x', 'y']);
    const literal: Expression = { op: 'literal', type, value };
    const sign = isTime ? random.pick(['=', '<', '<=', '>', '>=']) : '=';
    const sides = random.below(3) === 0 ? [literal, column] : [column, literal];
    return callOf(`(? ${sign} ?)`, 'BOOL', sides);
  }

  #plain(scope: readonly Readable[], isCertain: boolean) {
    const random = this.#random;
    const items = this.#times(random.pick([1, 2, 3]), () =>
      this.#item(this.#value(randomScalar(random), scope, { depth: 2, isCertain })),
    );
    const renamed =
      random.next() < 0.15 ? { ...items[0]!, name: random.pick(LOGS).name } : items[0]!;
    return {
      items: [renamed, ...items.slice(1)],
      groupBy: [],
      distinct: random.next() < 0.2,
    };
  }

  #grouped(scope: readonly Readable[], isCertain: boolean) {
    const random = this.#random;
    const keys = this.#times(random.pick([0, 1, 1, 2]), () => this.#item(this.#key(scope)));
    const results = this.#times(random.pick([1, 2, 2, 3]), () =>
      this.#item(this.#aggregated(scope, keys, isCertain)),
    );
    const groupBy = keys.map(
      ({ name }): GroupKey => ({ name, form: random.pick(['alias', 'ordinal', 'expression']) }),
    );
    return { items: [...keys, ...results], groupBy, distinct: false };
  }

  /** Reads a column at least, for no one groups by a constant. */
  #key(scope: readonly Readable[]): Expression {
    const type = randomScalar(this.#random);
    const key = this.#value(type, scope, { depth: this.#random.pick([0, 1, 2]) });
    if (readsColumn(key)) return key;
    return this.#random.pick(scope.filter((readable) => isScalar(readable.type))).expression;
  }

  /** An aggregate, or something made of aggregates. */
  #aggregated(scope: readonly Readable[], keys: readonly Item[], isCertain: boolean): Expression {
    const random = this.#random;
    if (random.next() > 0.3) return this.#aggregate(scope, keys, isCertain);
    const outputs = [1, 2].map((): Readable => {
      const expression = this.#aggregate(scope, keys, false);
      return { expression, type: expression.type };
    });
    return this.#value(random.pick(outputs).type, outputs, { depth: 1, isCertain });
  }

  #aggregate(scope: readonly Readable[], keys: readonly Item[], isCertain: boolean): Expression {
    const random = this.#random;
    const value = (type: Type) => this.#value(type, scope, { depth: 1, isCertain });
    const call = (
      type: Scalar,
      name: Extract<Expression, { op: 'aggregate' }>['name'],
      argument?: Expression | undefined,
      isDistinct = false,
    ): Expression => ({ op: 'aggregate', type, name, argument, isDistinct });
    const number = random.pick(['INT64', 'FLOAT64'] as const);
    const scalar = randomScalar(random);
    const choices: readonly (() => Expression)[] = [
      () => call('INT64', 'COUNT'),
      () => call('INT64', 'COUNT', value(scalar)),
      () => call('INT64', 'COUNT', value(scalar), true),
      () => call('INT64', 'COUNTIF', value('BOOL')),
      () => call(number, 'SUM', value(number), random.next() < 0.2),
      () => call(scalar, random.pick(['MIN', 'MAX']), value(scalar), random.next() < 0.1),
      // The average of inexact sums is for the last step only.
      () => (isCertain ? call('FLOAT64', 'AVG', this.#averaged(scope)) : call('INT64', 'COUNT')),
      () => {
        // Of a group key, ANY_VALUE has but one value to choose from.
        if (keys.length === 0) return call('INT64', 'COUNT');
        const { expression } = random.pick(keys);
        return call(expression.type as Scalar, 'ANY_VALUE', expression);
      },
    ];
    return random.pick(choices)();
  }

  /** Finite, for of infinities Google's running mean is NaN, where their sum divided is not. */
  #averaged(scope: readonly Readable[]): Expression {
    const fields = scope.filter(
      ({ type, expression }) => type === 'FLOAT64' && expression.op === 'field',
    );
    return fields.length > 0 && this.#random.below(2) === 0
      ? this.#random.pick(fields).expression
      : this.#value('INT64', scope, { depth: 1, isCertain: true });
  }

  #having(scope: readonly Readable[], items: readonly Item[]): Expression {
    const outputs = items.map(outputOf);
    const aggregates = [1, 2].map((): Readable => {
      const expression = this.#aggregate(scope, [], false);
      return { expression, type: expression.type };
    });
    return this.#value('BOOL', [...outputs, ...aggregates], { depth: 2 });
  }

  #order({ items, distinct }: Pick<Query, 'items' | 'distinct'>): readonly OrderKey[] {
    const random = this.#random;
    const order = items
      .map((item) => ({ item, place: random.next() }))
      .sort((left, right) => left.place - right.place);
    // Distinct rows have no values but the items' own; and a literal orders nothing.
    const isFree = !distinct && items.every(({ expression }) => readsColumn(expression));
    const forms = ['alias', 'ordinal', ...(isFree ? (['expression'] as const) : [])] as const;
    return order.map(({ item }) => ({
      name: item.name,
      // A name that a table has too is not written, for it is not the item's alone.
      form: OWN_NAME.test(item.name) ? random.pick(forms) : 'ordinal',
      direction: random.pick(['', ' ASC', ' DESC']),
      nulls: random.pick(['', '', ' NULLS FIRST', ' NULLS LAST']),
    }));
  }

  #from(depth: number): { readonly from: From; readonly scope: readonly Readable[] } {
    const random = this.#random;
    const { table: first, scope: own } = this.#source(depth);
    let scope = own;
    const joins: Join[] = [];
    for (let count = random.pick([0, 1, 1, 2]); count > 0; count--) {
      const { table, scope: right } =
        random.next() < 0.6 ? this.#unnest(scope) : this.#source(depth - 1);
      joins.push(this.#join(table, scope, right));
      scope = [...scope, ...right];
    }
    return { from: { op: 'from', first, joins }, scope };
  }

  #join(table: Table, left: readonly Readable[], right: readonly Readable[]): Join {
    const random = this.#random;
    const kind = random.pick([
      ',',
      ' CROSS JOIN',
      ' INNER JOIN',
      ' LEFT JOIN',
      ' LEFT JOIN',
      ' LEFT JOIN',
    ] as const);
    if (kind === ',' || kind === ' CROSS JOIN') return { kind, table };
    // Only an array join may go without a condition.
    if (table.op === 'unnest' && random.next() < 0.4) return { kind, table };
    return { kind, table, on: this.#joinCondition(left, right) };
  }

  #joinCondition(left: readonly Readable[], right: readonly Readable[]): Expression {
    const random = this.#random;
    const rest = this.#value('BOOL', [...left, ...right], { depth: 1 });
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

  #source(depth: number): Source {
    const random = this.#random;
    const alias = this.#name('t');
    if (depth > 0 && random.next() < 0.35) {
      const query = this.query({ depth: depth - 1, isOutermost: false });
      const scope = this.#columns(alias, columnsOf(query));
      return { table: { op: 'subquery', query, alias }, scope };
    }
    if (this.#tables.length > 0 && random.next() < 0.5) {
      const { name, columns } = random.pick(this.#tables);
      return { table: { op: 'common', name, alias }, scope: this.#columns(alias, columns) };
    }
    if (random.next() < 0.1) return this.#unnest([]);
    return { table: { op: 'logs', alias }, scope: this.#columns(alias, LOGS) };
  }

  #columns(
    alias: string,
    columns: readonly (Column & { readonly shape?: Shape | undefined })[],
  ): readonly Readable[] {
    return columns.flatMap(({ name, type, shape }) => {
      // The names that queries make are found without their table; those of `logs` may be in twice.
      const isBare = OWN_NAME.test(name) && this.#random.next() < 0.2 && !this.#isReused(name);
      const expression: Expression = { op: 'column', type, table: alias, name, isBare };
      const column = { expression, type, shape };
      if (type !== 'RECORD[]' || this.#random.next() < 0.7) return [column];
      const position = this.#random.pick(['SAFE_OFFSET(0)', 'SAFE_ORDINAL(2)']);
      const element = callOf(`?[${position}]`, 'RECORD', [expression]);
      return [column, ...fieldsOf(element, shape!)];
    });
  }

  /** Whether a table of that column may stand twice in one FROM. */
  #isReused(name: string): boolean {
    return this.#tables.some(({ columns }) => columns.some((column) => column.name === name));
  }

  /** One row for each element of a list that the tables before it give, or of one written out. */
  #unnest(scope: readonly Readable[]): Source {
    const random = this.#random;
    const lists = scope.filter(({ type }) => type.endsWith('[]'));
    const alias = this.#name('e');
    const offset = random.next() < 0.25 ? this.#name('o') : undefined;
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
    const position: readonly Readable[] =
      offset === undefined
        ? []
        : [
            {
              expression: { op: 'column', type: 'INT64', name: offset, isBare: false },
              type: 'INT64',
            },
          ];
    return { table: { op: 'unnest', list, alias, offset }, scope: [...own, ...position] };
  }

  #list(): Expression {
    const random = this.#random;
    const type = random.pick(['INT64[]', 'STRING[]', 'TIMESTAMP[]', 'TIMESTAMP[]'] as const);
    const depth = type === 'TIMESTAMP[]' ? 1 : 0;
    // Of literals only: the list may be long, and every row of the tables before it has one.
    if (depth === 0) return randomLeaf(random, type, []);
    const operation = random.pick([
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL 6 HOUR)',
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL 6 DAY)',
      'GENERATE_TIMESTAMP_ARRAY(?, ?, INTERVAL -1 DAY)',
    ]);
    const ends = [1, 2].map(() => randomLeaf(random, 'TIMESTAMP', []));
    return callOf(operation, type, ends);
  }

  #item(expression: Expression): Item {
    return { name: this.#name('c'), expression };
  }

  #value(
    type: Type,
    scope: readonly Readable[],
    options: Pick<ExpressionOptions, 'depth'> & { readonly isCertain?: boolean },
  ): Expression {
    return randomExpression(this.#random, type, { isCertain: false, ...options, scope });
  }

  #times<T>(count: number, make: () => T): readonly T[] {
    return Array.from({ length: count }, make);
  }

  #name(prefix: string): string {
    this.#nameCount += 1;
    return `${prefix}${this.#nameCount}`;
  }
}

function both(left: Expression, right: Expression): Expression {
  return callOf('(? AND ?)', 'BOOL', [left, right]);
}

function callOf(text: string, type: Type, inputs: readonly Expression[]): Expression {
  const takes = inputs.map((input) => input.type);
  return { op: 'call', type, operation: `${text} of ${takes.join(', ')}`, arguments: inputs };
}

function columnsOf(query: Query): readonly Column[] {
  return query.items.map(({ name, expression }) => ({ name, type: expression.type }));
}

function outputOf({ name, expression: { type } }: Item): Readable {
  return { expression: { op: 'column', type, name, isBare: false }, type };
}

function areComparable(left: Type, right: Type): boolean {
  const areNumbers = [left, right].every((type) => type === 'INT64' || type === 'FLOAT64');
  return areNumbers || (isScalar(left) && left === right);
}

function isScalar(type: Type): boolean {
  return type !== 'RECORD' && !type.endsWith('[]');
}

export function readsColumn(expression: Expression): boolean {
  switch (expression.op) {
    case 'column':
    case 'field':
      return true;
    case 'aggregate':
      return true;
    case 'call':
      return expression.arguments.some(readsColumn);
    case 'list':
      return expression.elements.some(readsColumn);
    default:
      return false;
  }
}
