import { edge, type Script } from './script.ts';

const EDGE = 'cloudflare.logs.prod';

function counts(timestamp: string, rest: number, storage = 0, auth = 0, realtime = 0) {
  return {
    timestamp,
    total_rest_requests: rest,
    total_storage_requests: storage,
    total_auth_requests: auth,
    total_realtime_requests: realtime,
  };
}

export const API_COUNTS: readonly Script[] = [
  {
    name: 'counts a path that holds several products in each of them',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:30:00Z', '/rest/v1/orders'),
        edge('2026-01-15T11:30:01Z', '/auth/v1/token'),
        edge('2026-01-15T11:31:00Z', '/rest/v1/auth'),
        edge('2026-01-15T11:31:01Z', '/storage/realtime'),
      ],
    },
    calls: [
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'hourly' },
        rows: [counts('2026-01-15T11:00:00', 2, 1, 2, 1)],
      },
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'minutely' },
        rows: [
          counts('2026-01-15T11:30:00', 1, 0, 1, 0),
          counts('2026-01-15T11:31:00', 1, 1, 1, 1),
        ],
      },
    ],
  },
  {
    name: 'gives a bucket of zeros when requests match and none is of a product',
    load: { [EDGE]: [edge('2026-01-15T11:30:00Z', '/functions/v1/hello')] },
    calls: [
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'daily' },
        rows: [counts('2026-01-15T00:00:00', 0)],
      },
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'beta', interval: 'daily' },
        rows: [],
      },
    ],
  },
  {
    name: 'starts at the window itself and not at its bucket, and has no end',
    load: {
      [EDGE]: [
        edge('2026-01-15T10:59:59.999999Z', '/rest/before'),
        edge('2026-01-15T11:00:00Z', '/rest/first'),
        edge('2026-01-15T12:59:59Z', '/rest/ahead'),
        edge('2026-01-08T11:59:59.999999Z', '/rest/week-before'),
        edge('2026-01-08T12:00:00Z', '/rest/week'),
      ],
    },
    calls: [
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'hourly' },
        rows: [counts('2026-01-15T11:00:00', 1), counts('2026-01-15T12:00:00', 1)],
      },
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'minutely' },
        rows: [counts('2026-01-15T11:00:00', 1), counts('2026-01-15T12:59:00', 1)],
      },
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'daily' },
        rows: [counts('2026-01-08T00:00:00', 1), counts('2026-01-15T00:00:00', 3)],
      },
    ],
  },
  {
    name: 'reads the project as a regular expression, unanchored',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:30:00Z', '/rest/a'),
        edge('2026-01-15T11:30:00Z', '/rest/b', { project: 'alphabet' }),
        edge('2026-01-15T11:30:00Z', '/rest/c?next=alpha', { project: 'gamma' }),
        edge('2026-01-15T11:30:00Z', '/rest/d', { project: 'delta' }),
      ],
    },
    calls: [
      { project: 'alpha', rest: 3 },
      { project: '^https://alpha\\.', rest: 1 },
      { project: '^https://(alpha|delta).*\\.supabase\\.co/', rest: 3 },
      { project: '.*', rest: 4 },
      { project: 'ALPHA', rest: 0 },
    ].map(({ project, rest }) => ({
      endpoint: 'usage.api-counts' as const,
      parameters: { project, interval: 'hourly' },
      rows: rest === 0 ? [] : [counts('2026-01-15T11:00:00', rest)],
    })),
  },
  {
    name: 'counts once for each metadata element and request element with a URL of its own',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:30:00Z', '', {
          metadata: [
            {
              request: [
                { url: 'https://alpha/1', path: '/rest' },
                { url: 'https://alpha/2', path: null },
              ],
            },
            { request: { url: 7, path: '/rest' } },
            { request: [] },
            { request: { url: 'https://alpha/3', path: ['/rest'] } },
            { other: 1 },
          ],
        }),
      ],
    },
    calls: [
      {
        endpoint: 'usage.api-counts',
        parameters: { project: 'alpha', interval: 'hourly' },
        rows: [counts('2026-01-15T11:00:00', 1)],
      },
    ],
  },
];
