import type { SqlType } from '../../engine/column/type.ts';
import { arrayOf, BOOL, FLOAT64, INT64, STRING, TIMESTAMP } from '../../engine/column/type.ts';
import type { Random } from '../../src/demo/traffic/random.ts';
import type { EventValue, TestEvent } from '../column/batch-of.ts';
import type { Type, Value } from './query.ts';

/** The records inside an event: the fields they have, and of which type a query may take them. */
export type Shape = {
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly type: Type;
    /** Of records only. */
    readonly shape?: Shape;
  }[];
};

const INNER: Shape = {
  name: 'inner',
  fields: [
    { name: 'k', type: 'STRING' },
    { name: 'n', type: 'INT64' },
    { name: 'v', type: 'FLOAT64[]' },
  ],
};

export const METADATA: Shape = {
  name: 'metadata',
  fields: [
    { name: 'n', type: 'INT64' },
    { name: 's', type: 'STRING' },
    { name: 'f', type: 'FLOAT64' },
    { name: 'b', type: 'BOOL' },
    { name: 'v', type: 'FLOAT64[]' },
    { name: 't', type: 'STRING[]' },
    { name: 'o', type: 'RECORD', shape: INNER },
    { name: 'r', type: 'RECORD[]', shape: INNER },
  ],
};

/** The columns of `logs` that queries read. */
export const LOGS: readonly { readonly name: string; readonly type: Type; shape?: Shape }[] = [
  { name: 'id', type: 'STRING' },
  { name: 'timestamp', type: 'TIMESTAMP' },
  { name: 'event_message', type: 'STRING' },
  { name: 'project', type: 'STRING' },
  { name: 'metadata', type: 'RECORD[]', shape: METADATA },
];

const SQL_TYPES: Readonly<Record<string, SqlType>> = {
  BOOL,
  INT64,
  FLOAT64,
  STRING,
  TIMESTAMP,
  'FLOAT64[]': arrayOf(FLOAT64),
  'STRING[]': arrayOf(STRING),
};

function sqlTypeOf(type: Type, shape?: Shape): SqlType {
  if (shape === undefined) return SQL_TYPES[type]!;
  const record: SqlType = {
    kind: 'STRUCT',
    fields: shape.fields.map((field) => ({
      name: field.name,
      type: sqlTypeOf(field.type, field.shape),
    })),
  };
  return type === 'RECORD' ? record : arrayOf(record);
}

/** The declared columns of `logs` with their types in SQL, all kinds of values settled. */
export function logsColumns(): readonly { readonly name: string; readonly type: SqlType }[] {
  return LOGS.map(({ name, type, shape }) => ({ name, type: sqlTypeOf(type, shape) }));
}

/** Moments on the edges of hours and days, before 1970 too, and beside them. */
export const TIMES: readonly bigint[] = [
  '2026-01-14T23:59:59.999Z',
  '2026-01-15T00:00:00Z',
  '2026-01-15T00:30:00Z',
  '2026-01-15T01:00:00Z',
  '2026-01-15T01:59:59Z',
  '2026-01-15T02:00:00Z',
  '2026-01-16T00:00:00Z',
].map((text) => BigInt(Date.parse(text)) * 1000n);

/** Days since 1970, on the edges of months and years, and a leap day. */
export const DAYS: readonly bigint[] = [
  '2026-01-15',
  '2026-01-14',
  '2025-12-31',
  '2024-02-29',
  '1969-12-31',
].map((text) => BigInt(Date.parse(text) / 86_400_000));

export const TEXTS = ['', 'x', 'y', 'xy', 'Zx', 'é', ' x', '7', '🦊x'];
export const INTEGERS = [0n, 1n, 2n, 3n, -1n, 5n];
export const FLOATS = [0, 0.5, 1, 2.25, -1.5];

/**
 * Some events. `isMixed`: now and then a field has a value of another kind than its name says, as
 * events may; else the types of `METADATA` hold, as another engine would want them.
 */
export function randomEvents(
  random: Random,
  { count, isMixed }: { readonly count: number; readonly isMixed: boolean },
): readonly TestEvent[] {
  // Events of one project lie in the order of time once they are sealed.
  const projects = random.pick([['x'], ['x', 'y', 'xy', null]]);
  return Array.from({ length: count }, (_, index) => {
    const metadata = random.below(8) === 0 ? undefined : records(random, METADATA, isMixed);
    return {
      id: `e${index}`,
      timestampUs: Number(random.pick(TIMES)) + random.pick([0, 0, 1]),
      event_message: random.below(6) === 0 ? null : random.pick(TEXTS),
      project: random.pick(projects),
      ...(metadata === undefined ? {} : { metadata }),
    };
  });
}

function records(random: Random, shape: Shape, isMixed: boolean): readonly EventValue[] {
  const count = random.pick([0, 1, 1, 1, 2, 3]);
  return Array.from({ length: count }, () => record(random, shape, isMixed));
}

function record(random: Random, shape: Shape, isMixed: boolean): EventValue {
  const fields = shape.fields.flatMap((field): (readonly [string, EventValue])[] => {
    if (random.below(5) === 0) return [];
    if (random.below(8) === 0) return [[field.name, null]];
    if (isMixed && random.below(5) === 0) return [[field.name, random.pick(ODD)]];
    return [[field.name, fieldValue(random, field, isMixed)]];
  });
  return Object.fromEntries(fields);
}

const ODD: readonly EventValue[] = [
  ...['one', '2', 2, 2.5, true, [], {}, [1, 'x'], { n: 1, k: 'y' }],
  ...[2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n],
];

function fieldValue(
  random: Random,
  { type, shape }: Shape['fields'][number],
  isMixed: boolean,
): EventValue {
  const list = (items: readonly EventValue[]) =>
    Array.from({ length: random.below(4) }, () =>
      random.below(6) === 0 ? null : random.pick(items),
    );
  switch (type) {
    case 'BOOL':
      return random.below(2) === 0;
    case 'INT64':
      return Number(random.pick(INTEGERS));
    case 'FLOAT64':
      return random.pick(FLOATS);
    case 'FLOAT64[]':
      return list(FLOATS);
    case 'STRING[]':
      return list(TEXTS);
    case 'RECORD':
      return record(random, shape!, isMixed);
    case 'RECORD[]':
      return records(random, shape!, isMixed);
    default:
      return random.pick(TEXTS);
  }
}

/** An event as the row of `logs` it is; only for events that are as `METADATA` says. */
export function rowOf(event: TestEvent): ReadonlyMap<string, Value> {
  const values: Readonly<Record<string, EventValue | undefined>> = {
    ...event,
    timestamp: event.timestampUs,
  };
  return new Map(
    LOGS.map(({ name, type, shape }) => [name, typedValue(values[name], type, shape)]),
  );
}

function typedValue(value: EventValue | undefined, type: Type, shape?: Shape): Value {
  if (value === undefined || value === null) return null;
  if (type.endsWith('[]')) {
    const element = type.slice(0, -2) as Type;
    return (value as readonly EventValue[]).map((item) => typedValue(item, element, shape));
  }
  if (shape !== undefined) {
    const fields = value as Readonly<Record<string, EventValue>>;
    return new Map(
      shape.fields.map((field) => [
        field.name,
        typedValue(fields[field.name], field.type, field.shape),
      ]),
    );
  }
  return type === 'INT64' || type === 'TIMESTAMP' ? BigInt(value as number) : (value as Value);
}
