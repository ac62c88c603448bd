import { must, type SqlType, unreachable } from '../../../engine/columns.ts';
import {
  type Column,
  type ColumnId,
  type Expression,
  expressionsOf,
  type LogicalPlan,
  type Reach,
  type ScanField,
  withinReach,
} from '../../../engine/index.ts';
import type { FieldPlan, FindField, UnnestedField } from '../fields/field-plan.ts';
import { EVENTS_TABLE, INDEXED_MESSAGE, NO_PROJECT } from '../schema.ts';
import { aggregateRows, type RenderContext } from './aggregate-rows.ts';
import { withAnswers } from './correlated-sql.ts';
import { dynamicElements } from './dynamic-sql.ts';
import { type ColumnSql, ExpressionSql } from './expression-sql.ts';
import { containingPattern } from './functions/like-sql.ts';
import { filtered, joinRows } from './join-rows.ts';
import { type NumberRange, numberedScan } from './numbered-scan.ts';
import { refuse } from './refusal.ts';
import {
  ascending,
  madeOf,
  named,
  nameOf,
  type OuterRows,
  overText,
  type Plans,
  type RelationSql,
  select,
  selectOf,
  withOrder,
} from './relation-sql.ts';
import { type Item, passedOn, SelectSql } from './select-sql.ts';
import { orderText, sortKeysOf } from './sort-sql.ts';
import { asColumn, constants, integer } from './sql-type.ts';
import { type StatementParts, withinExpression } from './statement-parts.ts';
import { findTopTimes, readsColumns, type TopTimes } from './top-times.ts';
import { windowRows } from './window-rows.ts';

type Of<Op extends LogicalPlan['op']> = Extract<LogicalPlan, { readonly op: Op }>;

/** The arrival of an event, as one value: it sorts as weir took the events in. */
const ARRIVAL = 'tuple(gateway, sequence, event)';
/** What stands for NULL: it sorts before all others, as the default of the type. */
const NO_ARRIVAL = "CAST(tuple('', 0, 0), 'Tuple(LowCardinality(String), UInt64, UInt32)')";

/** What DateTime64 of microseconds holds: from 1900-01-01, before 2300-01-01. */
const TIMESTAMP_US_MIN = -2_208_988_800_000_000;
const TIMESTAMP_US_END = 10_413_792_000_000_000;

/** Constant rows that a statement may hold: more are better sent as a table of their own. */
const ROWS_MAX = 1_000;

/** Which events the scans of a plan may read at all, whatever it asks for. */
export type ScannedEvents = {
  readonly reach: Reach;
  /** Only events with an earlier timestamp, in microseconds; all if left out. */
  readonly untilUs?: number | undefined;
  /** Only events with these numbers, which are their arrivals then. */
  readonly numbers?: NumberRange | undefined;
  /** The columns of the table that hold fields of events; none if left out. */
  readonly findField?: FindField | undefined;
};

type BoundScan = { readonly scan: LogicalPlan; readonly condition: string };

/**
 * Renders the operators of a plan, each as a SELECT over those of its inputs. Only `#scan` names the table of events, and
 * it adds the conditions of `ScannedEvents`.
 */
export class PlanSql implements Plans {
  readonly #parts: StatementParts;
  readonly #scanned: ScannedEvents;
  readonly #fields: Omit<FieldPlan, 'plan'>;
  readonly #rowsOutside: OuterRows | undefined;
  readonly #bound: BoundScan | undefined;

  /** `rowsOutside`: of the plan of a subquery. `bound`: a further condition of one scan. */
  constructor(
    parts: StatementParts,
    scanned: ScannedEvents,
    fields: Omit<FieldPlan, 'plan'>,
    rowsOutside?: OuterRows,
    bound?: BoundScan,
  ) {
    this.#parts = parts;
    this.#scanned = scanned;
    this.#fields = fields;
    this.#rowsOutside = rowsOutside;
    this.#bound = bound;
  }

  within(outer: OuterRows): Plans {
    return new PlanSql(this.#parts, this.#scanned, this.#fields, outer);
  }

  of(plan: LogicalPlan): RelationSql {
    const relation = this.#relation(plan);
    // Some operators read an input at several places: a few levels of these would be longer than any text can be.
    this.#parts.checkLength(relation.sql);
    return relation;
  }

  #relation(plan: LogicalPlan): RelationSql {
    switch (plan.op) {
      case 'scan':
        return this.#scan(plan);
      case 'one-row':
        return { sql: 'SELECT 1 AS one', columns: new Map(), order: [] };
      case 'rows':
        return this.#rows(plan);
      case 'filter':
        return this.#filter(plan);
      case 'project':
        return this.#project(plan);
      case 'unnest':
        return this.#unnest(plan);
      case 'join':
        return this.#join(plan);
      case 'union':
        return this.#union(plan);
      case 'aggregate':
        return this.#aggregate(plan);
      case 'sort':
        return this.#sort(plan);
      case 'limit':
        return this.#limit(plan);
      case 'window':
        return this.#window(plan);
      case 'outer':
        return this.#outer(plan);
      default:
        return unreachable(plan);
    }
  }

  #scan(scan: Of<'scan'>): RelationSql {
    const { source, columns, window, projectKey } = scan;
    const { startUs } = window;
    const endUs = Math.min(window.endUs, this.#scanned.untilUs ?? Number.POSITIVE_INFINITY);
    const conditions = [
      `source = ${this.#parts.text(source)}`,
      ...this.#projectConditions(projectKey),
    ];
    if (startUs >= TIMESTAMP_US_END || endUs <= TIMESTAMP_US_MIN) conditions.push('0');
    else {
      if (startUs > TIMESTAMP_US_MIN) conditions.push(`timestamp >= ${time(startUs)}`);
      if (endUs < TIMESTAMP_US_END) conditions.push(`timestamp < ${time(endUs)}`);
    }
    conditions.push(...this.#messageConditions(scan.messageTexts));
    if (this.#bound?.scan === scan) conditions.push(this.#bound.condition);
    const fields = new Map(
      this.#fields.scanned.get(scan)?.map(({ column, name }) => [column.id, name]),
    );
    if (fields.size > 0) conditions.push(`${this.#raiseUnreadable()} = 0`);
    const items = columns.map(({ column, field }) => {
      const sql = fields.get(column.id) ?? (field === 'root' ? this.#body() : SCANNED[field]);
      return { name: nameOf(column), sql };
    });
    const { numbers } = this.#scanned;
    if (numbers !== undefined) {
      const list = items.map(({ name, sql: value }) => `${value} AS ${name}`).join(', ');
      const sql = numberedScan({
        ...{
          table: EVENTS_TABLE,
          list: list === '' ? '1 AS one' : list,
          conditions,
          columns,
          numbers,
        },
        source: this.#parts.text(source),
      });
      return { sql, columns: named(columns.map(({ column }) => column)), order: [] };
    }
    return {
      ...madeOf(new SelectSql({ items, from: EVENTS_TABLE, where: conditions })),
      columns: new Map(
        columns.map(({ column, field }) => [
          column.id,
          { sql: nameOf(column), ...(fields.has(column.id) ? {} : SCANNED_FACTS[field]) },
        ]),
      ),
      order: [],
    };
  }

  /** With a list of projects, events of several projects and of none are out of reach. */
  #projectConditions(asked: string | undefined): readonly string[] {
    const { projectKey, reach } = withinReach(asked, this.#scanned.reach);
    if (reach === undefined) {
      if (projectKey === undefined) return [];
      const key = this.#parts.text(projectKey);
      // The first condition is one of the table's order.
      return [
        `project IN (${key}, ${this.#parts.text(NO_PROJECT)})`,
        `(project = ${key} OR is_mixed)`,
      ];
    }
    const keys = reach.filter((key) => key !== NO_PROJECT).map((key) => this.#parts.text(key));
    return keys.length === 0 ? ['0'] : ['NOT is_mixed', `project IN (${keys.join(', ')})`];
  }

  /** What follows from the conditions of the query, in the form that an index of texts is used for. */
  #messageConditions(needed: Of<'scan'>['messageTexts'] = []): readonly string[] {
    return needed.map((texts) => {
      const patterns = texts.map((text) => this.#parts.text(containingPattern(text)));
      return `(${patterns.map((pattern) => `${INDEXED_MESSAGE} LIKE ${pattern}`).join(' OR ')})`;
    });
  }

  #body(): string {
    return `if(${this.#raiseUnreadable()} = 0, toNullable(body), NULL)`;
  }

  /** ClickHouse finds no field at all in what it cannot parse. */
  #raiseUnreadable(): string {
    return this.#parts.raise('NOT is_readable', {
      code: 'query_failed',
      message:
        'ClickHouse cannot read an event that holds a number beyond 64 bits or half a surrogate pair',
      span: undefined,
      isExpected: true,
    });
  }

  #rows({ columns, rows }: Of<'rows'>): RelationSql {
    if (rows.length > ROWS_MAX) return refuse(`a list of ${rows.length} constant rows`, undefined);
    const order = this.#parts.variable();
    const lists = columns.map((column, index) => {
      const values = rows.map((row) => row[index] ?? null);
      return `${constants(values, column.type, this.#parts)} AS ${nameOf(column)}`;
    });
    const joined = [...lists, `range(${rows.length}) AS ${order}`];
    const names = [...columns.map(nameOf), order];
    return {
      sql: `SELECT ${names.join(', ')} FROM (SELECT 1 AS one) ARRAY JOIN ${joined.join(', ')}`,
      columns: named(columns),
      order: [ascending(order)],
    };
  }

  #filter(plan: Of<'filter'>): RelationSql {
    const below = this.#input(plan);
    const condition = this.#over(below).of(plan.predicate);
    return { ...below, ...filtered(below, [condition]) };
  }

  #project(plan: Of<'project'>): RelationSql {
    const below = this.#input(plan);
    const expressions = this.#over(below);
    const result = new Map<ColumnId, ColumnSql>();
    const items: Item[] = [];
    for (const { column, expression } of plan.columns) {
      const name = nameOf(column);
      const passed = expression.op === 'column' ? below.columns.get(expression.id) : undefined;
      const sql = passed?.sql ?? asColumn(expressions.of(expression), column.type);
      items.push({ name, sql });
      result.set(column.id, { ...passed, sql: name });
    }
    return { ...madeOf(select(items, below)), columns: result, order: below.order };
  }

  #unnest(plan: Of<'unnest'>): RelationSql {
    const { array, element, offset, outer, on } = plan;
    const fields = this.#fields.unnested.get(plan);
    if (fields !== undefined) return this.#unnestFields(plan, fields);
    const below = this.#input(plan);
    const parts = this.#parts;
    const list = parts.variable();
    const position = this.#parts.variable();
    const elements = this.#elements(array, below);
    const kept = on === undefined ? undefined : this.#keptElements(elements, plan, below);
    const inner = `SELECT *, ${kept ?? elements} AS ${list} FROM (${below.sql})`;
    const item = parts.variable();
    const values = kept === undefined ? list : `arrayMap(${item} -> ${item}.1, ${list})`;
    const joined = [`${values} AS ${nameOf(element)}`, `arrayEnumerate(${list}) AS ${position}`];
    const columns: Column[] = [element];
    if (offset !== undefined) {
      const offsets =
        kept === undefined ? offsetsOf(list, item) : `arrayMap(${item} -> ${item}.2, ${list})`;
      joined.push(`${offsets} AS ${nameOf(offset)}`);
      columns.push(offset);
    }
    return unnested({ ...below, sql: inner }, { outer, joined, columns, position });
  }

  /** Lists of the same length, each with one field of the elements. */
  #unnestFields(
    { input, offset, outer }: Of<'unnest'>,
    fields: readonly UnnestedField[],
  ): RelationSql {
    const below = this.of(input);
    const position = this.#parts.variable();
    const [{ list: first }] = fields as readonly [UnnestedField];
    const joined = fields.map(({ list, element }) => `${nameOf(list)} AS ${nameOf(element)}`);
    joined.push(`arrayEnumerate(${nameOf(first)}) AS ${position}`);
    const columns = fields.map(({ element }) => element);
    if (offset !== undefined) {
      joined.push(`${offsetsOf(nameOf(first), this.#parts.variable())} AS ${nameOf(offset)}`);
      columns.push(offset);
    }
    return unnested(below, { outer, joined, columns, position });
  }

  /** Pairs of each element for which the condition holds, and its offset. */
  #keptElements(
    elements: string,
    { element, offset, on }: Of<'unnest'>,
    below: RelationSql,
  ): string {
    const parts = this.#parts;
    return parts.once(elements, (list) => {
      const [pair, index] = [parts.variable(), parts.variable()];
      const own: [ColumnId, ColumnSql][] = [[element.id, { sql: `${pair}.1` }]];
      if (offset !== undefined) own.push([offset.id, { sql: `${pair}.2` }]);
      const columns = new Map([...below.columns, ...own]);
      const condition = this.#over({ ...below, columns }).of(must(on));
      return `arrayFilter(${pair} -> ifNull(${condition}, 0), arrayZip(${list}, ${offsetsOf(list, index)}))`;
    });
  }

  /** The elements of an array as an Array of ClickHouse. */
  #elements(array: Expression, below: RelationSql): string {
    const parts = this.#parts;
    const expressions = this.#over(below);
    if (array.op === 'dynamic-field' && array.type.kind === 'ARRAY') {
      const field = expressions.of({ ...array, type: { kind: 'DYNAMIC' } });
      return dynamicElements(field, parts);
    }
    const value = expressions.of(array);
    if (array.type.kind === 'DYNAMIC') return dynamicElements(value, parts);
    return parts.once(value, (list) => `${list}[1]`);
  }

  #join(join: Of<'join'>): RelationSql {
    return joinRows(join, this.of(join.left), this.of(join.right), this.#context);
  }

  #union({ inputs, columns }: Of<'union'>): RelationSql {
    const [input, position] = [this.#parts.variable(), this.#parts.variable()];
    const belows = inputs.map((each) => this.of(each));
    const arrivals = columns.map(({ from }) =>
      belows.some((below, index) => below.columns.get(from[index]!)?.isArrival === true),
    );
    const selects = belows.map((below, index) => {
      const items = columns.map(({ column, from }, at) => {
        const source = must(
          below.columns.get(from[index]!),
          'a column that is read is given below',
        );
        const sql = arrivals[at] && source.isArrival !== true ? NO_ARRIVAL : source.sql;
        return `${sql} AS ${nameOf(column)}`;
      });
      // Keys of several inputs may be of several types: the rows of each are numbered.
      const by = below.order.map(orderText).join(', ');
      const number = by === '' ? 'toUInt64(0)' : `row_number() OVER (ORDER BY ${by})`;
      const order = [`${index} AS ${input}`, `${number} AS ${position}`];
      return `SELECT ${[...items, ...order].join(', ')} FROM (${below.sql})`;
    });
    return {
      sql: selects.join(' UNION ALL '),
      columns: new Map(
        columns.map(({ column }, at) => [
          column.id,
          arrivals[at] ? { sql: nameOf(column), isArrival: true } : { sql: nameOf(column) },
        ]),
      ),
      order: [ascending(input), ascending(position)],
    };
  }

  #aggregate(plan: Of<'aggregate'>): RelationSql {
    const groups = aggregateRows(plan, this.#input(plan), this.#context);
    // Where nothing else is asked for, groups go by their keys.
    return this.#ordered(
      groups,
      plan.keys.map(({ column }) => ({
        value: nameOf(column),
        type: column.type,
        descending: false,
        nullsFirst: true,
      })),
    );
  }

  #window(plan: Of<'window'>): RelationSql {
    return windowRows(plan, this.#input(plan), this.#context);
  }

  #sort(plan: Of<'sort'>): RelationSql {
    const below = this.#input(plan);
    const parts = this.#parts;
    const items: Item[] = [];
    const sorted = plan.keys.map((key) => {
      const { expression } = key;
      const passed = expression.op === 'column' ? below.columns.get(expression.id) : undefined;
      if (passed !== undefined)
        return { ...key, value: passed.sql, isArrival: passed.isArrival, type: expression.type };
      const value = parts.variable();
      const sql = asColumn(this.#over(below).of(expression), expression.type);
      items.push({ name: value, sql });
      return { ...key, value, type: expression.type };
    });
    return this.#ordered(withItems(below, items), sorted);
  }

  /** The rows in the order of some columns, and where these are equal in the order that they have. */
  #ordered(below: RelationSql, keys: readonly SortedColumn[]): RelationSql {
    const items: Item[] = [];
    const order = keys.flatMap(({ value, type, isArrival, descending, nullsFirst }) => {
      const parts = isArrival ? [value] : sortKeysOf(value, type);
      return parts.map((part) => {
        if (part === value && COLUMN.test(value)) return { sql: value, descending, nullsFirst };
        const sql = this.#parts.variable();
        items.push({ name: sql, sql: part });
        return { sql, descending, nullsFirst };
      });
    });
    const names = new Set(order.map(({ sql }) => sql));
    // Rows that are equal by a key need not be sorted by it once more.
    const rest = below.order.filter(({ sql }) => !names.has(sql));
    return { ...withItems(below, items), order: [...order, ...rest] };
  }

  #limit(limit: Of<'limit'>): RelationSql {
    const { input, count, offset, per } = limit;
    const top = findTopTimes(limit);
    const isBound = top !== undefined && !this.#readsEvents(top);
    const below = (isBound ? this.#boundTo(top) : this).of(input);
    if (per !== undefined) return this.#limitPer(below, { count, offset, per });
    const rows = count === undefined ? '' : ` LIMIT ${rowCount(count)}`;
    const skipped = offset === undefined ? '' : ` OFFSET ${rowCount(offset)}`;
    return { ...below, ...madeOf(selectOf(below).firstRows(below.order, `${rows}${skipped}`)) };
  }

  /** Whether what lies between scan and sort reads events as a whole. */
  #readsEvents({ scan, between }: TopTimes): boolean {
    const { scanned, unnested } = this.#fields;
    const fields = new Set(scanned.get(scan)?.map(({ column }) => column.id));
    const roots = scan.columns.filter(
      ({ column, field }) => field === 'root' && !fields.has(column.id),
    );
    const events = new Set(roots.map(({ column }) => column.id));
    return between.some((node) => !unnested.has(node) && readsColumns(node, events));
  }

  /**
   * Renders plans in which a scan gives no events beyond the time of the last row that is wanted. That is found with few
   * columns, and then the events themselves are read from a small part of the table.
   */
  #boundTo({ scan, rows, time: id, descending, rowCount }: TopTimes): PlanSql {
    const relation = this.of(rows);
    const time = must(relation.columns.get(id), 'the time of the scan is passed on').sql;
    const [extreme, sign] = descending ? ['min', '>='] : ['max', '<='];
    const order = [{ sql: time, descending, nullsFirst: false }];
    const times = selectOf(relation)
      .selecting([passedOn(time)])
      .firstRows(order, ` LIMIT ${rowCount}`).sql;
    // Without any row it is 0, and does not matter.
    const last = `ifNull((SELECT ${extreme}(${time}) FROM (${withinExpression(times)})), 0)`;
    const bound = `timestamp ${sign} fromUnixTimestamp64Micro(${last}, 'UTC')`;
    return new PlanSql(this.#parts, this.#scanned, this.#fields, this.#rowsOutside, {
      ...{ scan, condition: bound },
    });
  }

  /** Of the rows of each value of a column those at some positions. */
  #limitPer(
    below: RelationSql,
    { count, offset, per }: Omit<Of<'limit'>, 'op' | 'input'>,
  ): RelationSql {
    const partition = [must(below.columns.get(must(per).id), 'the ordinal is given below').sql];
    const position = this.#parts.variable();
    const skipped = offset === undefined ? '0' : rowCount(offset);
    const end = count === undefined ? '' : ` AND ${position} - ${skipped} <= ${rowCount(count)}`;
    const rows = `SELECT *, toInt128(row_number()${overText({ partition, order: below.order })}) AS ${position} FROM (${below.sql})`;
    return { ...below, sql: `SELECT * FROM (${rows}) WHERE ${position} > ${skipped}${end}` };
  }

  /** The rows that a subquery is computed for. */
  #outer({ columns }: Of<'outer'>): RelationSql {
    const { name, ordinal, captures } = must(this.#rowsOutside, 'a subquery has rows outside');
    const items = columns.map(({ column, capture }) => {
      const sql = capture === undefined ? ordinal : must(captures.get(capture));
      return `${sql} AS ${nameOf(column)}`;
    });
    const list = items.length === 0 ? '1 AS one' : items.join(', ');
    return {
      sql: `SELECT ${list} FROM ${name}`,
      columns: named(columns.map(({ column }) => column)),
      order: [],
    };
  }

  /** The input of an operator, with what the subqueries in its expressions come to in each row. */
  #input(plan: Extract<LogicalPlan, { readonly input: LogicalPlan }>): RelationSql {
    return withAnswers(this.of(plan.input), expressionsOf(plan), this.#context);
  }

  get #context(): RenderContext {
    return { parts: this.#parts, plans: this };
  }

  #over(below: RelationSql): ExpressionSql {
    return new ExpressionSql(below, this.#parts, this);
  }
}

/** The rows of a relation, each with further columns. */
function withItems(below: RelationSql, items: readonly Item[]): RelationSql {
  if (items.length === 0) return below;
  return { ...below, ...madeOf(selectOf(below).selectingMore(items)) };
}

/** The rows of a relation, once for each element of lists that are joined. */
function unnested(
  below: RelationSql,
  {
    outer,
    joined,
    columns,
    position,
  }: {
    readonly outer: boolean;
    readonly joined: readonly string[];
    readonly columns: readonly Column[];
    readonly position: string;
  },
): RelationSql {
  const own = [...columns.map(nameOf), position];
  // Another unnest may take the same lists apart.
  const passed = Array.from(below.columns.values(), ({ sql }) => sql);
  const items = withOrder([...passed, ...own].map(passedOn), below);
  const join = `${outer ? 'LEFT ARRAY JOIN' : 'ARRAY JOIN'} ${joined.join(', ')}`;
  return {
    // Of two joins within one SELECT, ClickHouse loses columns of the second.
    ...madeOf(new SelectSql({ items, from: `(${below.sql}) ${join}` })),
    columns: new Map([...below.columns, ...named(columns)]),
    order: [...below.order, ascending(position)],
  };
}

/** The name of a column. */
const COLUMN = /^[cx]\d+$/;

type SortedColumn = {
  readonly value: string;
  readonly type: SqlType;
  readonly isArrival?: true | undefined;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
};

const SCANNED: Readonly<Record<Exclude<ScanField, 'root'>, string>> = {
  id: 'toNullable(id)',
  timestamp: 'toNullable(toUnixTimestamp64Micro(timestamp))',
  event_message: 'event_message',
  project: 'named_project',
  arrival: ARRIVAL,
};

const SCANNED_FACTS: Readonly<Partial<Record<ScanField, Partial<ColumnSql>>>> = {
  arrival: { isArrival: true },
  id: { isKnown: true },
  timestamp: { isKnown: true },
  root: { isRecord: true },
};

/** The offsets of the elements of an Array. */
function offsetsOf(list: string, index: string): string {
  return `arrayMap(${index} -> toNullable(toInt64(${index} - 1)), arrayEnumerate(${list}))`;
}

function time(us: number): string {
  return `fromUnixTimestamp64Micro(${integer(us)}, 'UTC')`;
}

function rowCount(count: Expression): string {
  const value = count.op === 'literal' ? count.value : undefined;
  const isCount = (typeof value === 'number' || typeof value === 'bigint') && value >= 0;
  return isCount ? String(BigInt(value)) : refuse('this number of rows', undefined);
}
