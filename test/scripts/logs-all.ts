import { edge, type Script, us } from './script.ts';

const EDGE = 'cloudflare.logs.prod';

/** The row of `logs.all` for an event made by `edge`. */
function row(timestamp: string, path: string, id: string = `${timestamp} ${path}`) {
  return {
    id,
    timestamp: us(timestamp),
    event_message: `GET ${path}`,
    metadata: [
      {
        request: [{ method: 'GET', path, url: `https://alpha.supabase.co${path}` }],
        response: [{ status_code: 200 }],
      },
    ],
  };
}

export const LOGS_ALL: readonly Script[] = [
  {
    name: 'gives the newest entry first, and of equal times the last that arrived',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:00:00Z', '/b'),
        edge('2026-01-15T11:30:00Z', '/first'),
        edge('2026-01-15T11:30:00Z', '/second'),
        edge('2026-01-15T10:00:00Z', '/a'),
      ],
    },
    calls: [
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha', project_tier: 'FREE' },
        rows: [
          row('2026-01-15T11:30:00Z', '/second'),
          row('2026-01-15T11:30:00Z', '/first'),
          row('2026-01-15T11:00:00Z', '/b'),
          row('2026-01-15T10:00:00Z', '/a'),
        ],
      },
    ],
  },
  {
    name: 'shows a project its own entries only',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:00:00Z', '/mine'),
        edge('2026-01-15T11:00:01Z', '/theirs', { project: 'beta' }),
        { id: 'x', timestamp: '2026-01-15T11:00:02Z', event_message: 'of none', metadata: {} },
      ],
    },
    calls: [
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha' },
        rows: [row('2026-01-15T11:00:00Z', '/mine')],
      },
      { endpoint: 'logs.all', parameters: { project: 'alph' }, rows: [] },
      { endpoint: 'logs.all', parameters: { project: 'ALPHA' }, rows: [] },
    ],
  },
  {
    name: 'starts strictly after the retention of the tier, whose name is compared exactly',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:00:00Z', '/hour'),
        edge('2026-01-14T12:00:00.000001Z', '/day+1'),
        edge('2026-01-14T12:00:00Z', '/day'),
        edge('2026-01-08T12:00:00.000001Z', '/week+1'),
        edge('2026-01-08T12:00:00Z', '/week'),
        edge('2025-10-17T12:00:00.000001Z', '/quarter+1'),
      ],
    },
    calls: [
      ...['FREE', 'pro', 'anything', ''].map((tier) => ({
        endpoint: 'logs.all' as const,
        parameters: { project: 'alpha', project_tier: tier },
        rows: [row('2026-01-15T11:00:00Z', '/hour'), row('2026-01-14T12:00:00.000001Z', '/day+1')],
      })),
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha', project_tier: 'PRO' },
        rows: [
          row('2026-01-15T11:00:00Z', '/hour'),
          row('2026-01-14T12:00:00.000001Z', '/day+1'),
          row('2026-01-14T12:00:00Z', '/day'),
          row('2026-01-08T12:00:00.000001Z', '/week+1'),
        ],
      },
      ...['PAYG', 'ENTERPRISE'].map((tier) => ({
        endpoint: 'logs.all' as const,
        parameters: {
          project: 'alpha',
          project_tier: tier,
          iso_timestamp_end: '2026-01-09T00:00:00Z',
        },
        rows: [
          row('2026-01-08T12:00:00.000001Z', '/week+1'),
          row('2026-01-08T12:00:00Z', '/week'),
          row('2025-10-17T12:00:00.000001Z', '/quarter+1'),
        ],
      })),
    ],
  },
  {
    name: 'takes the start of the window as exclusive and its end as inclusive',
    load: {
      [EDGE]: [
        edge('2026-01-15T10:00:00Z', '/start'),
        edge('2026-01-15T10:00:00.000001Z', '/start+1'),
        edge('2026-01-15T11:00:00Z', '/end'),
        edge('2026-01-15T11:00:00.000001Z', '/end+1'),
      ],
    },
    calls: [
      {
        endpoint: 'logs.all',
        parameters: {
          project: 'alpha',
          iso_timestamp_start: '2026-01-15T10:00:00Z',
          iso_timestamp_end: '2026-01-15T12:00:00+01:00',
        },
        rows: [row('2026-01-15T11:00:00Z', '/end'), row('2026-01-15T10:00:00.000001Z', '/start+1')],
      },
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha', iso_timestamp_start: '', iso_timestamp_end: '' },
        rows: [
          row('2026-01-15T11:00:00.000001Z', '/end+1'),
          row('2026-01-15T11:00:00Z', '/end'),
          row('2026-01-15T10:00:00.000001Z', '/start+1'),
          row('2026-01-15T10:00:00Z', '/start'),
        ],
      },
    ],
  },
  {
    name: 'gives an entry once for each metadata element, and not at all without one',
    load: {
      [EDGE]: [
        edge('2026-01-15T11:00:00Z', '/none', { id: 'none', metadata: [] }),
        edge('2026-01-15T11:00:01Z', '/two', { id: 'two', metadata: [{ n: 1 }, { n: 2 }] }),
        { id: 'missing', timestamp: '2026-01-15T11:00:02Z', project: 'alpha', message: 'm' },
      ],
    },
    calls: [
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha' },
        rows: [1, 2].map(() => ({
          id: 'two',
          timestamp: us('2026-01-15T11:00:01Z'),
          event_message: 'GET /two',
          metadata: [{ n: 1 }, { n: 2 }],
        })),
      },
    ],
  },
  {
    name: 'gives at most a hundred entries, the newest',
    load: {
      [EDGE]: Array.from({ length: 101 }, (_, index) =>
        edge(`2026-01-15T11:00:00.${String(index).padStart(6, '0')}Z`, '/many', { id: `${index}` }),
      ),
    },
    calls: [
      {
        endpoint: 'logs.all',
        parameters: { project: 'alpha' },
        rows: Array.from({ length: 100 }, (_, index) =>
          row(
            `2026-01-15T11:00:00.${String(100 - index).padStart(6, '0')}Z`,
            '/many',
            `${100 - index}`,
          ),
        ),
      },
    ],
  },
];
