import type { TestEvent } from '../column/batch-of.ts';
import type { Expression, Query, Scalar, Value } from './query.ts';

/** A query and the events it runs over. */
export type Case = { readonly query: Query; readonly events: readonly TestEvent[] };

/**
 * A small case that still fails: parts are left out or replaced by simpler ones as long as that
 * keeps it failing. What makes no valid query does not fail, so nothing here need know what does.
 */
export async function shrink(
  failing: Case,
  fails: (candidate: Case) => Promise<boolean> | boolean,
): Promise<Case> {
  let smallest = failing;
  for (let triesLeft = TRIES_MAX; triesLeft > 0; ) {
    let next: Case | undefined;
    for (const candidate of simplerCases(smallest)) {
      triesLeft--;
      if (triesLeft === 0) break;
      if (await fails(candidate)) {
        next = candidate;
        break;
      }
    }
    if (next === undefined) return smallest;
    smallest = next;
  }
  return smallest;
}

/** Each try is a run of the query, a millisecond or some. */
const TRIES_MAX = 4_000;

function* simplerCases({ query, events }: Case): Generator<Case> {
  for (const inner of queriesWithin(query)) yield { query: inner, events };
  for (const simpler of simplerParts(query)) yield { query: withoutLostKeys(simpler), events };
  for (const fewer of shorterLists(events)) yield { query, events: fewer as readonly TestEvent[] };
  for (const [index, event] of events.entries()) {
    for (const simpler of simplerEvents(event))
      yield { query, events: events.with(index, simpler) };
  }
}

/** The queries inside a query, which may do in its place. */
function* queriesWithin(part: unknown): Generator<Query> {
  if (typeof part !== 'object' || part === null) return;
  for (const inner of Object.values(part)) {
    if (typeof inner === 'object' && inner !== null && isQuery(inner)) yield inner;
    yield* queriesWithin(inner);
  }
}

/** Without keys of groups and orders whose item is gone, at any depth. */
function withoutLostKeys<T>(part: T): T {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(withoutLostKeys) as T;
  const record = Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [name, withoutLostKeys<unknown>(inner)]),
  ) as T & object;
  if (!isQuery(record)) return record;
  const names = new Set(record.items.map((item) => item.name));
  const groupBy = record.groupBy.filter((key) => names.has(key.name));
  return { ...record, groupBy, orderBy: record.orderBy.filter((key) => names.has(key.name)) };
}

function isQuery(part: object): part is Query {
  return 'op' in part && part.op === 'query';
}

/** The part with one of the parts inside it made simpler, or left out. */
function* simplerParts<T>(part: T): Generator<T> {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    for (const [index, element] of part.entries()) {
      for (const simpler of simplerParts(element)) yield part.with(index, simpler) as T;
    }
    return;
  }
  if (isQuery(part)) yield* narrowerSets(part) as Generator<T>;
  if (isExpression(part)) yield* simplerExpressions(part) as Generator<T>;
  for (const [name, inner] of Object.entries(part)) {
    if (isDroppable(name, part) && inner !== undefined && inner !== false) {
      yield { ...part, [name]: inner === true ? false : undefined };
    }
    if (LISTS.has(name)) {
      for (const shorter of shorterLists(inner)) {
        if (!FILLED.has(name) || shorter.length > 0) yield { ...part, [name]: shorter };
      }
    }
    for (const simpler of simplerParts(inner)) yield { ...part, [name]: simpler };
  }
}

/** Lists whose length is free; a call takes the arguments it takes. */
const LISTS = new Set([
  'with',
  'items',
  'groupBy',
  'orderBy',
  'joins',
  'elements',
  'fields',
  'using',
  'queries',
  'partitionBy',
]);

/** Lists that are not written when they are empty, or mean another thing. */
const FILLED = new Set(['items', 'fields', 'using']);

const DROPPABLE = new Set([
  'where',
  'having',
  'qualify',
  'set',
  'limit',
  'offset',
  'on',
  'distinct',
  'isDistinct',
  'ignoresNulls',
  'frame',
  'separator',
]);

function* shorterLists(list: readonly unknown[]): Generator<readonly unknown[]> {
  if (list.length > 3) {
    const half = list.length >> 1;
    yield list.slice(half);
    yield list.slice(0, half);
  }
  for (const index of list.keys()) yield list.toSpliced(index, 1);
}

/** RIGHT and FULL JOIN need their condition. */
function isDroppable(name: string, part: object): boolean {
  const isNeeded =
    (name === 'on' || name === 'using') &&
    'kind' in part &&
    (part.kind === ' RIGHT JOIN' || part.kind === ' FULL JOIN');
  return DROPPABLE.has(name) && !isNeeded;
}

/** Without the same column in all queries of a set. */
function* narrowerSets(query: Query): Generator<Query> {
  const { set, items } = query;
  if (set === undefined) return;
  for (const index of items.keys()) {
    const queries = set.queries.map((other) => ({
      ...other,
      items: other.items.toSpliced(index, 1),
    }));
    yield { ...query, items: items.toSpliced(index, 1), set: { ...set, queries } };
  }
}

function isExpression(part: object): part is Expression {
  return 'op' in part && 'type' in part;
}

const SIMPLEST: Readonly<Record<Scalar, readonly Value[]>> = {
  BOOL: [true, false, null],
  INT64: [0n, 1n, null],
  FLOAT64: [0, null],
  STRING: ['x', null],
  TIMESTAMP: [BigInt(Date.parse('2026-01-15')) * 1000n, null],
  DATE: [0n, null],
};

/** The arguments of its type, and single values. */
function* simplerExpressions(expression: Expression): Generator<Expression> {
  if (expression.op === 'literal') return;
  if (expression.op === 'call') {
    yield* expression.arguments.filter((argument) => argument.type === expression.type);
  }
  if (expression.op === 'struct') yield* expression.fields.map((field) => field.expression);
  const { type } = expression;
  if (!(type in SIMPLEST)) return;
  for (const value of SIMPLEST[type as Scalar]) {
    yield { op: 'literal', type: type as Scalar, value };
  }
}

/** With fields left out, at any depth. */
function* simplerEvents(event: TestEvent): Generator<TestEvent> {
  for (const simpler of simplerFields(event)) {
    const { id, timestampUs } = simpler as Partial<TestEvent>;
    if (id !== undefined && timestampUs !== undefined) yield simpler as TestEvent;
  }
}

function* simplerFields(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    yield* shorterLists(value);
    for (const [index, element] of value.entries()) {
      for (const simpler of simplerFields(element)) yield value.with(index, simpler);
    }
    return;
  }
  const record = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(record)) {
    const { [name]: field, ...rest } = record;
    yield rest;
    for (const simpler of simplerFields(field)) yield { ...record, [name]: simpler };
  }
}
