import { invocation, type Script, us } from './script.ts';

const RELAY = 'deno-relay-logs';

/** A row of one bucket in which all times are equal. */
function bucket(timestamp: string, count: number, more: Readonly<Record<string, unknown>> = {}) {
  return {
    timestamp: us(timestamp),
    min_execution_time: 10,
    max_execution_time: 10,
    avg_execution_time: 10,
    p95_execution_time: 10,
    p99_execution_time: 10,
    count,
    error_count: 0,
    ...more,
  };
}

const NO_TIMES = {
  min_execution_time: null,
  max_execution_time: null,
  avg_execution_time: null,
  p95_execution_time: null,
  p99_execution_time: null,
};

/** Each interval with its first bucket and the end of its last, at noon of January 15th. */
const EDGES = [
  { interval: '5min', first: '2026-01-15T11:55:00Z', end: '2026-01-15T12:00:01Z' },
  { interval: '15min', first: '2026-01-15T11:45:00Z', end: '2026-01-15T12:01:00Z' },
  { interval: '1hr', first: '2026-01-15T11:00:00Z', end: '2026-01-15T12:01:00Z' },
  { interval: '1day', first: '2026-01-14T12:00:00Z', end: '2026-01-15T13:00:00Z' },
  { interval: '', first: '2026-01-14T12:00:00Z', end: '2026-01-15T13:00:00Z' },
  { interval: '2min', first: '2026-01-14T12:00:00Z', end: '2026-01-15T13:00:00Z' },
  { interval: '7day', first: '2026-01-08T00:00:00Z', end: '2026-01-15T13:00:00Z' },
];

const STEP_LENGTH = new Map([
  ['5min', 19],
  ['15min', 16],
  ['1hr', 16],
  ['7day', 10],
]);

/** The start of the bucket an ISO second lies in, cut from its text. */
function bucketOf(iso: string, interval: string): string {
  const kept = iso.slice(0, STEP_LENGTH.get(interval) ?? 13);
  return `${kept}${'0000-00-00T00:00:00'.slice(kept.length)}Z`;
}

function shifted(iso: string, microseconds: number): string {
  const shiftedUs = us(iso) + microseconds;
  const whole = new Date(Math.floor(shiftedUs / 1e6) * 1000).toISOString().slice(0, 19);
  return `${whole}.${String(shiftedUs % 1e6).padStart(6, '0')}Z`;
}

export const INVOCATION_STATS: readonly Script[] = [
  ...EDGES.map(({ interval, first, end }): Script => {
    const lastIso = shifted(end, -1);
    // An event more than an hour ahead is refused at the door, so the last instant is an hour on at most.
    return {
      name: `counts from the first bucket to the end of the last for the interval "${interval}"`,
      load: {
        [RELAY]: [
          invocation(shifted(first, -1)),
          invocation(first),
          invocation(shifted(first, 1)),
          invocation(lastIso),
          ...(interval === '5min' || interval === '15min' || interval === '1hr'
            ? [invocation(end)]
            : []),
        ],
      },
      calls: [
        {
          endpoint: 'functions.invocation-stats',
          parameters: { project: 'alpha', interval },
          rows: [bucket(bucketOf(first, interval), 2), bucket(bucketOf(lastIso, interval), 1)],
        },
      ],
    };
  }),
  {
    name: 'truncates the window to the bucket when the clock stands between two',
    now: '2026-01-15T12:00:30.500Z',
    load: {
      [RELAY]: [invocation('2026-01-15T11:45:00Z'), invocation('2026-01-15T11:44:59.999999Z')],
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha', interval: '15min' },
        rows: [bucket('2026-01-15T11:45:00Z', 1)],
      },
    ],
  },
  {
    name: 'computes the statistics of a bucket over the times it has',
    load: {
      [RELAY]: Array.from({ length: 200 }, (_, index) =>
        invocation('2026-01-15T11:30:00Z', { execution_time_ms: 200 - index }, `${index}`),
      ),
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha', interval: '1day' },
        rows: [
          bucket('2026-01-15T11:00:00Z', 200, {
            min_execution_time: 1,
            max_execution_time: 200,
            avg_execution_time: 100.5,
            p95_execution_time: 190,
            p99_execution_time: 198,
          }),
        ],
      },
    ],
  },
  {
    name: 'reads only numbers as times and status codes',
    load: {
      [RELAY]: [
        invocation('2026-01-15T11:30:00Z', { execution_time_ms: 1.5 }),
        invocation('2026-01-15T11:30:01Z', { execution_time_ms: null }),
        invocation('2026-01-15T11:30:02Z', {
          execution_time_ms: '7',
          response: { status_code: '500' },
        }),
        invocation('2026-01-15T11:30:03Z', { execution_time_ms: { ms: 3 }, response: {} }),
        invocation('2026-01-15T11:30:04Z', {
          execution_time_ms: 2.5,
          response: { status_code: 400 },
        }),
        invocation('2026-01-15T10:30:00Z', { execution_time_ms: '7' }),
        invocation('2026-01-15T10:30:01Z', {
          execution_time_ms: true,
          response: { status_code: 399.5 },
        }),
      ],
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha' },
        rows: [
          bucket('2026-01-15T10:00:00Z', 2, NO_TIMES),
          bucket('2026-01-15T11:00:00Z', 5, {
            min_execution_time: 1.5,
            max_execution_time: 2.5,
            avg_execution_time: 2,
            p95_execution_time: 2.5,
            p99_execution_time: 2.5,
            error_count: 1,
          }),
        ],
      },
    ],
  },
  {
    name: 'counts once for each metadata element and response element',
    load: {
      [RELAY]: [
        invocation('2026-01-15T11:00:00Z', { response: [] }),
        invocation('2026-01-15T11:00:01Z', {
          response: [{ status_code: 200 }, { status_code: 500 }],
        }),
        invocation('2026-01-15T11:00:02Z', { response: null }),
        {
          id: 'two elements',
          timestamp: '2026-01-15T11:00:03Z',
          metadata: ['alpha', 'beta', 'alpha'].map((project_ref) => ({
            project_ref,
            function_id: 'f2',
            execution_time_ms: 10,
            response: { status_code: 404 },
          })),
        },
      ],
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha' },
        rows: [bucket('2026-01-15T11:00:00Z', 4, { error_count: 3 })],
      },
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'beta', function_id: '' },
        rows: [bucket('2026-01-15T11:00:00Z', 1, { error_count: 1 })],
      },
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha', function_id: 'f2' },
        rows: [bucket('2026-01-15T11:00:00Z', 2, { error_count: 2 })],
      },
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha', function_id: 'f3' },
        rows: [],
      },
    ],
  },
  {
    name: 'takes a number or a boolean that names the project or the function for its text',
    load: {
      [RELAY]: [
        invocation('2026-01-15T11:00:00Z', { project_ref: 7 }),
        invocation('2026-01-15T11:00:01Z', { project_ref: '7', function_id: 12 }),
        invocation('2026-01-15T11:00:02Z', { project_ref: 8 }),
        invocation('2026-01-15T11:00:03Z', { project_ref: true }),
      ],
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: '7' },
        rows: [bucket('2026-01-15T11:00:00Z', 2)],
      },
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: '7', function_id: '12' },
        rows: [bucket('2026-01-15T11:00:00Z', 1)],
      },
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'true' },
        rows: [bucket('2026-01-15T11:00:00Z', 1)],
      },
    ],
  },
  {
    name: 'is not changed by what another project sends under the same names',
    load: {
      [RELAY]: [
        invocation('2026-01-15T11:00:00Z'),
        invocation('2026-01-15T11:00:00Z', {
          project_ref: 'hostile',
          execution_time_ms: 'long',
          response: { status_code: '500' },
          function_id: { f1: 1 },
          id: 'metadata id',
          timestamp: 'metadata timestamp',
        }),
        invocation('2026-01-15T11:00:00Z', { project_ref: ['alpha'], response: 7 }),
        invocation('2026-01-15T11:00:00Z', { project_ref: 7, response: [[{ status_code: 500 }]] }),
        invocation('2026-01-15T11:00:01Z', { response: { status_code: 500 } }),
      ],
    },
    calls: [
      {
        endpoint: 'functions.invocation-stats',
        parameters: { project: 'alpha', function_id: 'f1' },
        rows: [bucket('2026-01-15T11:00:00Z', 2, { error_count: 1 })],
      },
    ],
  },
];
