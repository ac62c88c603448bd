import type { Random } from '../../src/demo/traffic/random.ts';
import { LOGS, TIMES } from './events.ts';
import {
  type CommonTable,
  type Expression,
  type From,
  type GroupKey,
  hasSubquery,
  type Item,
  isGrouped,
  isScalar,
  type OrderKey,
  type Query,
  readsColumn,
  SET_KINDS,
  type SetOperation,
  type Subquery,
  type Type,
  type Window,
} from './query.ts';
import {
  failingValue,
  randomAggregate,
  randomDirection,
  randomFailing,
} from './random-aggregate.ts';
import {
  type ExpressionOptions,
  type Readable,
  randomExpression,
  randomLeaf,
  randomScalar,
} from './random-expression.ts';
import {
  both,
  type Column,
  callOf,
  columnsOf,
  FromMaker,
  type FromScope,
  OWN_NAME,
} from './random-from.ts';
import { canPartition, randomWindow } from './random-window.ts';

/** A random query over `logs`, whose subqueries and common tables nest as deep as `depth`. */
export function randomQuery(random: Random, depth = 2): Query {
  return new QueryMaker(random).query({ depth, isOutermost: true, outer: [] });
}

type Place = {
  readonly depth: number;
  readonly isOutermost: boolean;
  /** What the query around it lets it read. */
  readonly outer: readonly Readable[];
  /** The types of its columns, if somebody wants certain ones. */
  readonly types?: readonly Type[] | undefined;
  /** Whether it may have one row at most; of one column then. */
  readonly isOneRow?: boolean;
  /** Whether its rows stand in an order that leaves nothing open. */
  readonly isInOrder?: boolean;
};

/** A query without WITH, order and limit. */
type Block = Omit<Query, 'with' | 'set' | 'orderBy' | 'limit' | 'offset'>;

class QueryMaker {
  readonly #random: Random;
  #tables: readonly { readonly name: string; readonly columns: readonly Column[] }[] = [];
  #nameCount = 0;
  /** Levels of subqueries that an expression may yet have. */
  #depth = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  query(place: Place): Query {
    const outer = this.#tables;
    const tables: CommonTable[] = [];
    for (let count = this.#commonTableCount(place); count > 0; count--) {
      const query = this.query({ depth: place.depth - 1, isOutermost: false, outer: [] });
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
    const set = this.#set(place);
    const types = set?.types ?? place.types;
    const isCounted = place.isOneRow === true && set === undefined && random.next() < 0.6;
    const isLimited = (place.isOneRow === true && !isCounted) || random.next() < 0.25;
    const hasOrder = isLimited || place.isInOrder === true || random.next() < 0.3;
    // A limit may spare an engine the rows that fail, and so may rows that come together.
    const isCertain = place.isOutermost && !isLimited && set === undefined && random.next() < 0.4;
    const made = this.#block({ ...place, types }, { isCertain, isCounted });
    const block = place.isOutermost && set === undefined ? this.#withStruct(made) : made;
    const isSortable = block.items.every(({ expression }) => isScalar(expression.type));
    const isOpen = isCounted || !isSortable;
    return {
      ...block,
      with: [],
      set: set?.operation,
      orderBy: hasOrder && !isOpen ? this.#order(block, set !== undefined) : [],
      limit: isLimited && !isOpen ? this.#limit(place) : undefined,
      offset: isLimited && !isOpen && random.next() < 0.3 ? random.pick([0, 1, 2]) : undefined,
    };
  }

  /** Sometimes with its values, but for the keys of groups, in one STRUCT, or in one within another. */
  #withStruct(block: Block): Block {
    const random = this.#random;
    const { distinct, having, items, groupBy } = block;
    if (distinct || having !== undefined || random.next() > 0.15) return block;
    const keys = items.filter(({ name }) => groupBy.some((key) => key.name === name));
    const fields = items.filter((item) => !keys.includes(item));
    if (fields.length === 0) return block;
    const struct = (of: readonly Item[]) =>
      this.#item({ op: 'struct', type: 'STRUCT', fields: of });
    const whole = struct(fields);
    return { ...block, items: [...keys, random.below(3) === 0 ? struct([whole]) : whole] };
  }

  #limit({ isOneRow }: Place): number {
    return isOneRow === true ? 1 : this.#random.pick([0, 1, 2, 3, 3, 5, 5, 10]);
  }

  /** The queries whose rows a query's own are put beside, if any. */
  #set({ depth, outer, types: wanted, isOutermost }: Place) {
    const random = this.#random;
    if (depth === 0 || random.next() > (isOutermost ? 0.15 : 0.08)) return undefined;
    const types = wanted ?? this.#times(random.pick([1, 2]), () => randomScalar(random));
    const queries = this.#times(random.pick([1, 1, 2]), () =>
      this.query({ depth: depth - 1, isOutermost: false, outer, types }),
    );
    const operation: SetOperation = { kind: random.pick(SET_KINDS), queries };
    return { types, operation };
  }

  #block(
    place: Place,
    { isCertain, isCounted }: { readonly isCertain: boolean; readonly isCounted: boolean },
  ): Block {
    const random = this.#random;
    const isWindowed = !isCounted && random.next() < 0.15;
    const { from, scope: own, unique } = this.#from(place, isWindowed);
    const scope = [...own, ...(random.next() < 0.7 ? place.outer : [])];
    this.#depth = place.depth;
    const where = this.#where(from, scope, place);
    const isGroupedOne = isCounted || (!isWindowed && random.next() < 0.35);
    const hasHaving = isGroupedOne && random.next() < (isCounted ? 0.1 : 0.25);
    const options = { types: place.types, isCertain: isCertain && !hasHaving };
    if (isGroupedOne) {
      const parts = this.#grouped(own, { ...options, isCounted });
      const having = hasHaving && isGrouped(parts) ? this.#having(own, parts.items) : undefined;
      return { op: 'query', ...parts, from, where, having };
    }
    if (isWindowed) return { op: 'query', ...this.#windowed(scope, unique, options), from, where };
    return { op: 'query', ...this.#plain(scope, options), from, where };
  }

  #from({ depth, outer }: Place, isUnique: boolean): FromScope {
    const random = this.#random;
    const maker = new FromMaker({
      random,
      tables: this.#tables,
      outer,
      name: (prefix) => this.#name(prefix),
      subquery: (depth, outer) => this.query({ depth, isOutermost: false, outer }),
      condition: (scope) => {
        this.#depth = 0;
        return this.#value('BOOL', scope, { depth: 1 });
      },
    });
    return maker.from(depth, isUnique);
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
    const correlation = logs === undefined ? undefined : this.#correlation(logs.alias, place.outer);
    const bounds =
      logs === undefined || random.next() > 0.3
        ? []
        : this.#times(random.pick([1, 1, 2]), () => this.#bound(logs.alias));
    const conditions = [correlation, ...bounds, any].filter((each) => each !== undefined);
    return conditions.length === 0 ? undefined : conditions.reduce(both);
  }

  /** That a column of `logs` equals something of the query around it. */
  #correlation(alias: string, outer: readonly Readable[]): Expression | undefined {
    const random = this.#random;
    const name = random.pick(['project', 'event_message', 'timestamp']);
    const type = name === 'timestamp' ? 'TIMESTAMP' : 'STRING';
    const others = outer.filter((readable) => readable.type === type);
    if (others.length === 0 || random.next() > 0.6) return undefined;
    const column: Expression = { op: 'column', type, table: alias, name, isBare: false };
    const sides = [column, random.pick(others).expression];
    const sign = random.pick(['=', '=', '=', '<', '>=']);
    return callOf(`(? ${sign} ?)`, 'BOOL', random.below(2) === 0 ? sides : sides.toReversed());
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

  #plain(scope: readonly Readable[], { types, isCertain }: ItemOptions) {
    const random = this.#random;
    const wanted = types ?? this.#itemTypes(isCertain);
    const items = wanted.map((type) =>
      this.#item(this.#value(type, scope, { depth: 2, isCertain })),
    );
    // With a column that has no table of its own, the name would be that of two.
    const isRenamed = !scope.some(({ expression }) => isLoose(expression)) && random.next() < 0.15;
    const first = isRenamed ? { ...items[0]!, name: random.pick(LOGS).name } : items[0]!;
    const areScalars = wanted.every(isScalar);
    return {
      items: [first, ...items.slice(1)],
      groupBy: [],
      distinct: areScalars && random.next() < 0.2,
    };
  }

  #itemTypes(isCertain: boolean): readonly Type[] {
    const random = this.#random;
    return this.#times(random.pick([1, 2, 3]), () =>
      !isCertain && random.next() < 0.06 ? random.pick(LISTS) : randomScalar(random),
    );
  }

  #grouped(
    scope: readonly Readable[],
    { types, isCertain, isCounted }: ItemOptions & { readonly isCounted: boolean },
  ) {
    const random = this.#random;
    const keyCount = isCounted ? 0 : types === undefined ? random.pick([0, 1, 1, 2]) : types.length;
    const keys = this.#times(keyCount, (index) => this.#item(this.#key(scope, types?.[index])));
    const wanted = isCounted ? types! : types === undefined ? random.pick(COUNTS) : [];
    const results = wanted.map((type) =>
      this.#item(
        isCounted
          ? this.#aggregate(scope, keys, false, type)
          : this.#aggregated(scope, keys, isCertain),
      ),
    );
    const groupBy = keys.map(
      ({ name, expression }): GroupKey => ({
        name,
        form: random.pick(hasSubquery(expression) ? SHORT_FORMS : FORMS),
      }),
    );
    return { items: [...keys, ...results], groupBy, distinct: false };
  }

  /** Reads a column at least, for no one groups by a constant. */
  #key(scope: readonly Readable[], wanted?: Type): Expression {
    const type = wanted ?? randomScalar(this.#random);
    const key = this.#value(type, scope, { depth: this.#random.pick([0, 1, 2]) });
    if (readsColumn(key)) return key;
    const others = scope.filter((readable) =>
      wanted === undefined ? isScalar(readable.type) : readable.type === wanted,
    );
    if (others.length > 0) return this.#random.pick(others).expression;
    const some = this.#scalarOf(scope);
    return callOf('IF(?, ?, ?)', type, [
      callOf('(? IS NULL)', 'BOOL', [some]),
      randomLeaf(this.#random, type, []),
      randomLeaf(this.#random, type, []),
    ]);
  }

  /** A column, or the length of one. */
  #scalarOf(scope: readonly Readable[]): Expression {
    const scalars = scope.filter((readable) => isScalar(readable.type));
    if (scalars.length > 0) return this.#random.pick(scalars).expression;
    const lists = scope.filter((readable) => readable.type.endsWith('[]'));
    return callOf('ARRAY_LENGTH(?)', 'INT64', [this.#random.pick(lists).expression]);
  }

  /** An aggregate, or something made of aggregates. */
  #aggregated(scope: readonly Readable[], keys: readonly Item[], isCertain: boolean): Expression {
    const random = this.#random;
    if (isCertain && random.next() < 0.3) return this.#chosenAggregate(scope, keys);
    if (random.next() > 0.3) return this.#aggregate(scope, keys, isCertain);
    const outputs = [1, 2].map((): Readable => {
      const expression = this.#aggregate(scope, keys, false);
      return { expression, type: expression.type };
    });
    return this.#outputValue(randomOf(random, outputs).type, outputs, { depth: 1, isCertain });
  }

  /** One of two aggregates. Either may fail, which counts in those groups alone where it is chosen. */
  #chosenAggregate(scope: readonly Readable[], keys: readonly Item[]): Expression {
    const random = this.#random;
    const isBold = random.next() < 0.6;
    const type = isBold ? 'INT64' : randomScalar(random);
    const one = this.#aggregate(scope, keys, true, type);
    const other = isBold
      ? randomFailing(random, (type) => this.#value(type, scope, { depth: 1, isCertain: true }))
      : this.#aggregate(scope, keys, true, type);
    const counted = this.#aggregate(scope, keys, false);
    const own = keys.map(({ expression }) => expression).filter((key) => !hasSubquery(key));
    const outputs = [counted, ...own].map((expression) => ({ expression, type: expression.type }));
    return this.#chosen(one, other, () => this.#outputValue('BOOL', outputs, { depth: 2 }));
  }

  /** One of two of the same type. */
  #chosen(one: Expression, other: Expression, condition: () => Expression): Expression {
    const [text, inputs] = this.#random.pick<readonly [string, readonly Expression[]]>([
      ['IF(?, ?, ?)', [condition(), one, other]],
      ['CASE WHEN ? THEN ? WHEN ? THEN ? ELSE ? END', [condition(), one, condition(), other, one]],
      ['COALESCE(?, ?)', [one, other]],
      ['IFNULL(?, ?)', [one, other]],
    ]);
    return callOf(text, one.type, inputs);
  }

  #aggregate(
    scope: readonly Readable[],
    keys: readonly Item[],
    isCertain: boolean,
    type?: Type,
  ): Expression {
    return randomAggregate(
      this.#random,
      {
        value: (type) => this.#value(type, scope, { depth: 1, isCertain }),
        averaged: () => this.#averaged(scope),
        keys: keys.map(({ expression }) => expression),
        isLast: isCertain,
      },
      type,
    );
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
    return this.#outputValue('BOOL', [...outputs, ...aggregates], { depth: 2 });
  }

  /** Rows with functions over windows beside their columns, and perhaps chosen by one. */
  #windowed(
    scope: readonly Readable[],
    unique: readonly Expression[] | undefined,
    { types, isCertain }: ItemOptions,
  ) {
    const random = this.#random;
    const window = (type?: Type): Readable => {
      const expression = this.#window(scope, unique, type);
      return { expression, type: expression.type };
    };
    const wanted = types ?? this.#times(random.pick([1, 2, 3]), () => randomScalar(random));
    const items = wanted.map((type) => {
      if (random.next() < 0.3) return this.#item(this.#value(type, scope, { depth: 1 }));
      if (isCertain && random.next() < 0.6) return this.#item(this.#chosenWindow(scope, unique));
      if (random.next() < 0.7) return this.#item(window(type).expression);
      const outputs = [window(type), window()];
      return this.#item(this.#outputValue(type, outputs, { depth: 1 }));
    });
    const chosen = callOf(`(? ${random.pick(['=', '<=', '>', '!='])} ?)`, 'BOOL', [
      window('INT64').expression,
      randomLeaf(random, 'INT64', []),
    ]);
    const qualify = random.next() < 0.35 ? chosen : undefined;
    return { items, groupBy: [], distinct: random.next() < 0.1, qualify };
  }

  /** One of two functions over windows. The other may fail, which counts in those rows alone where it is chosen. */
  #chosenWindow(scope: readonly Readable[], unique: readonly Expression[] | undefined): Expression {
    const certain = (type: Type) => this.#value(type, scope, { depth: 1, isCertain: true });
    const failing = (type: Type) =>
      type === 'INT64' ? failingValue(this.#random, certain) : certain(type);
    const [one, other] = [
      this.#window(scope, unique, 'INT64'),
      this.#window(scope, unique, 'INT64', failing),
    ];
    return this.#chosen(one, other, () => this.#value('BOOL', scope, { depth: 1 }));
  }

  #window(
    scope: readonly Readable[],
    unique: readonly Expression[] | undefined,
    type?: Type,
    argument?: (type: Type) => Expression,
  ): Window {
    return randomWindow(
      this.#random,
      {
        value: (type) => this.#value(type, scope, { depth: 1 }),
        ...(argument === undefined ? {} : { argument }),
        key: () => {
          const keys = scope.filter(({ type }) => canPartition(type));
          const type = keys.length === 0 ? 'BOOL' : randomOf(this.#random, keys).type;
          return this.#key(scope, type);
        },
        unique,
      },
      type,
    );
  }

  #order(
    { items, distinct }: Pick<Query, 'items' | 'distinct'>,
    isSet: boolean,
  ): readonly OrderKey[] {
    const random = this.#random;
    const order = items
      .map((item) => ({ item, place: random.next() }))
      .sort((left, right) => left.place - right.place);
    // Distinct rows and those of a set have no values but the items'; and a literal orders nothing.
    const isFree =
      !isSet &&
      !distinct &&
      items.every(({ expression }) => readsColumn(expression) && !hasSubquery(expression));
    const forms = isFree ? FORMS : SHORT_FORMS;
    return order.map(({ item }) => ({
      name: item.name,
      // A name that a table has too is not written, for it is not the item's alone.
      form: OWN_NAME.test(item.name) ? random.pick(forms) : 'ordinal',
      ...randomDirection(random),
    }));
  }

  #item(expression: Expression): Item {
    return { name: this.#name('c'), expression };
  }

  /** A value of rows, which may ask a query of its own. */
  #value(
    type: Type,
    scope: readonly Readable[],
    options: Pick<ExpressionOptions, 'depth'> & { readonly isCertain?: boolean },
  ): Expression {
    return randomExpression(this.#random, type, {
      isCertain: false,
      ...options,
      scope,
      subquery: this.#depth > 0 ? (type) => this.#subquery(type, scope) : undefined,
    });
  }

  /** A value of groups or windows. */
  #outputValue(
    type: Type,
    scope: readonly Readable[],
    options: Pick<ExpressionOptions, 'depth'> & { readonly isCertain?: boolean },
  ): Expression {
    return randomExpression(this.#random, type, { isCertain: false, ...options, scope });
  }

  #subquery(type: Type, scope: readonly Readable[]): Subquery | undefined {
    const random = this.#random;
    const depth = this.#depth;
    const place = { depth: depth - 1, isOutermost: false };
    const outer = random.next() < 0.7 ? scope.flatMap(asOuter) : [];
    const query = (parts: Partial<Place>) => {
      const made = this.query({ ...place, outer, ...parts });
      this.#depth = depth;
      return made;
    };
    if (type.endsWith('[]')) {
      const element = type.slice(0, -2) as Type;
      if (element === 'RECORD') return undefined;
      const list = query({ types: [element], isInOrder: true });
      return { op: 'subquery', type, kind: 'ARRAY', query: list };
    }
    if (type !== 'BOOL' || random.next() < 0.3) {
      if (!isScalar(type)) return undefined;
      return {
        op: 'subquery',
        type,
        kind: 'value',
        query: query({ types: [type], isOneRow: true }),
      };
    }
    if (random.next() < 0.5) return { op: 'subquery', type, kind: 'EXISTS', query: query({}) };
    const sought = randomScalar(random);
    const value = randomLeaf(random, sought, scope);
    const kind = random.pick(['IN', 'IN', 'NOT IN'] as const);
    return { op: 'subquery', type, kind, value, query: query({ types: [sought] }) };
  }

  #times<T>(count: number, make: (index: number) => T): readonly T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }

  #name(prefix: string): string {
    this.#nameCount += 1;
    return `${prefix}${this.#nameCount}`;
  }
}

type ItemOptions = {
  readonly types: readonly Type[] | undefined;
  readonly isCertain: boolean;
};

const SHORT_FORMS = ['alias', 'ordinal'] as const;
/** No two queries are the same expression, so these are for expressions without. */
const FORMS = [...SHORT_FORMS, 'expression'] as const;

const LISTS = ['INT64[]', 'FLOAT64[]', 'STRING[]', 'TIMESTAMP[]'] as const;

/** One to three results of a group, of any type. */
const COUNTS: readonly (readonly undefined[])[] = [
  [undefined],
  [undefined, undefined],
  [undefined, undefined, undefined],
];

function randomOf(random: Random, readables: readonly Readable[]): Readable {
  const scalars = readables.filter(({ type }) => isScalar(type));
  return random.pick(scalars.length > 0 ? scalars : readables);
}

/**
 * A value as a subquery reads it: by its table, for an event may have any name. It holds no times, so
 * these are found by name alone.
 */
function asOuter(readable: Readable): readonly Readable[] {
  const { expression, type } = readable;
  if (expression.op !== 'column' || type === 'RECORD') return [readable];
  if (expression.table !== undefined) {
    return [{ ...readable, expression: { ...expression, isBare: false } }];
  }
  // A table inside may have a column of the name, too.
  return [];
}

/** Whether it reads a column of `logs` without its table, as USING lets it. */
function isLoose(expression: Expression): boolean {
  if (expression.op !== 'column') return false;
  return expression.table === undefined && !OWN_NAME.test(expression.name);
}

function outputOf({ name, expression: { type } }: Item): Readable {
  return { expression: { op: 'column', type, name, isBare: false }, type };
}
