import {
  arrayOf,
  BOOL,
  FLOAT64,
  INT64,
  type SqlType,
  STRING,
  TIMESTAMP,
} from '../../engine/column/type.ts';
import type { TestEvent } from '../column/batch-of.ts';
import type { GoogleTable } from './google-sql.ts';
import type { GoogleInput } from './google-value.ts';

/** A source that cases read: its events for weir, and a table of the same rows for Google's engine. */
export type DataTable = {
  readonly name: string;
  /** Of one element of `metadata`; only the fields named here are there for Google's engine. */
  readonly element: SqlType;
  readonly events: readonly TestEvent[];
};

/** The clock of every case. */
export const NOW_US = Date.UTC(2026, 0, 15, 12, 0, 0) * 1000;

function at(clock: string): number {
  return Date.parse(`2026-01-15T${clock}Z`) * 1000;
}

export function record(fields: Readonly<Record<string, SqlType>>): SqlType {
  return {
    kind: 'STRUCT',
    fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
  };
}

const LOG_ELEMENT = record({
  n: INT64,
  f: FLOAT64,
  s: STRING,
  b: BOOL,
  v: arrayOf(INT64),
  r: record({ x: INT64, y: STRING }),
  items: arrayOf(record({ k: STRING, n: INT64 })),
});

/** Every kind of value, absence at every level, none, one and several elements. */
const LOGS: DataTable = {
  name: 'logs',
  element: LOG_ELEMENT,
  events: [
    {
      id: 'a',
      timestampUs: at('00:00:00'),
      event_message: 'first',
      project: 'x',
      metadata: [
        {
          n: 1,
          f: 0.5,
          s: 'x',
          b: true,
          v: [1, 2],
          r: { x: 10, y: 'ten' },
          items: [
            { k: 'p', n: 1 },
            { k: 'q', n: 2 },
          ],
        },
      ],
    },
    {
      id: 'b',
      timestampUs: at('00:59:59.999'),
      event_message: 'second',
      project: 'y',
      metadata: [
        { n: 2, s: 'y', b: false, v: [], items: [] },
        { n: 3, f: -1.25, s: 'xy', r: { y: 'none' }, items: [{ k: 'p' }] },
      ],
    },
    {
      id: 'c',
      timestampUs: at('01:00:00'),
      event_message: null,
      project: 'x',
      metadata: [{ n: null, f: 2.25, s: null, b: true, v: [3, 3, 4], r: { x: -5, y: null } }],
    },
    { id: 'd', timestampUs: at('01:30:00'), event_message: 'none', project: null, metadata: [] },
    { id: 'e', timestampUs: at('01:30:01'), event_message: 'absent', project: 'xy' },
    {
      id: 'f',
      timestampUs: at('02:10:00.000001'),
      event_message: 'Größe 😀',
      project: 'x',
      metadata: [
        { n: -7, f: 1024, s: 'Größe', b: false, v: [9], r: { x: 10, y: 'ten' } },
        { n: 9007199254740991, f: 0.125, s: '', v: [0], items: [{ k: 'q', n: 5 }] },
      ],
    },
    {
      id: 'g',
      timestampUs: at('11:59:59.999999'),
      event_message: 'last',
      project: 'y',
      metadata: [{ n: 2, f: -1.25, s: 'x', b: true, r: { x: 11 } }],
    },
  ],
};

/** A second source, for joins. */
const OWNERS: DataTable = {
  name: 'owners',
  element: record({ team: STRING, rank: INT64 }),
  events: [
    { id: 'o1', timestampUs: at('00:00:00'), project: 'x', metadata: [{ team: 'red', rank: 1 }] },
    { id: 'o2', timestampUs: at('01:00:00'), project: 'y', metadata: [{ team: 'blue', rank: 2 }] },
    { id: 'o3', timestampUs: at('01:00:00.5'), project: 'y', metadata: [{ team: 'red', rank: 3 }] },
    { id: 'o4', timestampUs: at('05:00:00'), project: null, metadata: [{ rank: 2 }] },
    { id: 'o5', timestampUs: at('06:00:00'), project: 'z', metadata: [{ team: 'green' }] },
  ],
};

export const DATA_TABLES: readonly DataTable[] = [LOGS, OWNERS];

/** The same array each time, so that Google's engine is given it once. */
export const GOOGLE_TABLES: readonly GoogleTable[] = DATA_TABLES.map(googleTable);

export function googleTable({ name, element, events }: DataTable): GoogleTable {
  return {
    name,
    columns: [
      { name: 'id', type: STRING },
      { name: 'timestamp', type: TIMESTAMP },
      { name: 'event_message', type: STRING },
      { name: 'project', type: STRING },
      { name: 'metadata', type: arrayOf(element) },
    ],
    rows: events.map(({ timestampUs, ...event }) => ({
      ...(event as { readonly [column: string]: GoogleInput }),
      timestamp: timestampUs,
    })),
  };
}
