import type { Kind } from '../workload/workload.ts';

/**
 * What a column holds, for each engine to choose its type and its codec by: `category` has few
 * distinct texts, `json` is the text of a record as it was sent, `time` is in microseconds.
 */
export type ColumnType = 'time' | 'uuid' | 'category' | 'text' | 'json' | 'integer' | 'float';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  /** The keys that lead to its value in an event. */
  readonly path: readonly string[];
};

/** Events of one kind as rows: the columns that somebody who knows the queries would make of them. */
export type Table = {
  readonly kind: Kind;
  readonly name: string;
  /** `project` and `timestamp`, which rows are sorted or indexed by, first. */
  readonly columns: readonly Column[];
  /** How queries reach their rows: those of one project, or also those of all projects at a time. */
  readonly reached: 'by project' | 'by time';
};

const ID: Column = { name: 'id', type: 'uuid', path: ['id'] };
const TIMESTAMP: Column = { name: 'timestamp', type: 'time', path: ['timestamp'] };
const MESSAGE: Column = { name: 'event_message', type: 'text', path: ['event_message'] };
const PROJECT: Column = { name: 'project', type: 'category', path: ['project'] };

export const TABLES: readonly Table[] = [
  {
    kind: 'lean',
    name: 'edge',
    reached: 'by time',
    columns: [
      PROJECT,
      TIMESTAMP,
      ...inMetadata('category', ['request', 'method']),
      ...inMetadata('text', ['request', 'url'], ['request', 'path']),
      ...inMetadata('integer', ['response', 'status_code'], ['response', 'origin_time']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'invocations',
    name: 'invocations',
    reached: 'by project',
    columns: [
      { ...PROJECT, path: ['metadata', 'project_ref'] },
      TIMESTAMP,
      ...inMetadata('category', ['function_id'], ['region']),
      ...inMetadata('integer', ['execution_time_ms'], ['response', 'status_code']),
      ...inMetadata('category', ['deployment_id'], ['version']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'full',
    name: 'full_edge',
    reached: 'by project',
    columns: [
      PROJECT,
      TIMESTAMP,
      ID,
      MESSAGE,
      { name: 'metadata', type: 'json', path: ['metadata'] },
    ],
  },
  {
    kind: 'auth',
    name: 'auth',
    reached: 'by time',
    columns: [
      PROJECT,
      TIMESTAMP,
      ...inMetadata('category', ['login_method']),
      ...inMetadata('integer', ['status'], ['duration']),
      ...inMetadata('uuid', ['actor_id']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'storage',
    name: 'storage',
    reached: 'by time',
    columns: [
      { ...PROJECT, path: ['metadata', 'project'] },
      TIMESTAMP,
      { name: 'bucket_name', type: 'category', path: ['metadata', 'bucket'] },
      ...inMetadata('text', ['path']),
      ...inMetadata('integer', ['size'], ['res', 'statusCode']),
      ...inMetadata('float', ['responseTime']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'postgres',
    name: 'postgres',
    reached: 'by time',
    columns: [
      PROJECT,
      TIMESTAMP,
      ...inMetadata('category', ['parsed', 'error_severity'], ['parsed', 'sql_state_code']),
      ...inMetadata('category', ['parsed', 'user_name']),
      ...inMetadata('integer', ['parsed', 'process_id']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'pooler',
    name: 'pooler',
    reached: 'by time',
    columns: [
      PROJECT,
      TIMESTAMP,
      ...inMetadata('category', ['pool'], ['action']),
      ...inMetadata('integer', ['wait_us']),
      ID,
      MESSAGE,
    ],
  },
  {
    kind: 'floats',
    name: 'floats',
    reached: 'by project',
    columns: [PROJECT, TIMESTAMP, ...inMetadata('float', ['value']), ID],
  },
];

export function tableOf(kind: Kind): Table {
  return TABLES.find((table) => table.kind === kind)!;
}

/** Columns by the last key of their paths. */
function inMetadata(type: ColumnType, ...paths: readonly (readonly string[])[]): readonly Column[] {
  return paths.map((path) => ({ name: path.at(-1)!, type, path: ['metadata', ...path] }));
}
