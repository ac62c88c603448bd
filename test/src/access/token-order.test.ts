import { deepEqual, throws } from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant } from '../../../src/access/grant.ts';
import { type OrderContext, parseTokenOrder } from '../../../src/access/token-order.ts';
import { NARROWED_NAMES_MAX } from '../../../src/limits.ts';

const CONTEXT: OrderContext = {
  nowMs: Date.parse('2026-01-15T12:00:00Z'),
  sources: ['postgres.logs', 'logs'],
  endpoints: ['logs.all', '2034724d-89c8-43a9-aabc-52f7404f4bdd'],
};
const MAKER: Grant = {
  id: 'm',
  name: 'maker',
  scopes: ['query', 'manage'],
  projects: 'all',
  sources: 'all',
  endpoints: 'all',
};

test('an unknown source or endpoint is refused with the nearest name', () => {
  const order = { name: 'a', scopes: ['query', 'ingest'] };
  for (const [more, message] of [
    [
      { sources: ['postgres.log'] },
      'there is no source "postgres.log"; did you mean postgres.logs?',
    ],
    [{ default_source: 'nowhere' }, 'there is no source "nowhere"'],
    [{ endpoints: ['logs.al'] }, 'there is no saved query "logs.al"; did you mean logs.all?'],
  ] as const) {
    throws(() => parseTokenOrder({ ...order, ...more }, CONTEXT), {
      code: 'invalid_body',
      message,
    });
  }
  const endpoints = ['2034724D-89C8-43A9-AABC-52F7404F4BDD'];
  deepEqual(parseTokenOrder({ ...order, endpoints }, CONTEXT).endpoints, endpoints);
});

test('a request for a token is parsed, with scopes in order and the expiry in UTC', () => {
  deepEqual(
    parseTokenOrder(
      {
        name: 'edge of alpha',
        scopes: ['query', 'ingest', 'query'],
        projects: ['alpha'],
        sources: ['logs'],
        endpoints: ['logs.all'],
        default_source: 'logs',
        expires_at: '2026-01-15T15:00:00+02:00',
      },
      CONTEXT,
    ),
    {
      name: 'edge of alpha',
      scopes: ['ingest', 'query'],
      projects: ['alpha'],
      sources: ['logs'],
      endpoints: ['logs.all'],
      default_source: 'logs',
      expires_at: '2026-01-15T13:00:00.000Z',
    },
  );
  deepEqual(parseTokenOrder({ name: 'a', scopes: ['manage'] }, { ...CONTEXT, maker: MAKER }), {
    name: 'a',
    scopes: ['manage'],
  });
});

const QUERY = { name: 'a', scopes: ['query'] };

for (const [order, message] of [
  [null, /described by a JSON object/],
  [[], /described by a JSON object/],
  [{ scopes: ['query'] }, /name must be a string/],
  [{ ...QUERY, name: '' }, /name must be letters/],
  [{ ...QUERY, name: 'a\nb' }, /name must be letters/],
  [{ ...QUERY, name: 'a'.repeat(129) }, /at most 128 characters/],
  [{ name: 'a' }, /scopes must be a list/],
  [{ name: 'a', scopes: [] }, /scopes must have at least one of ingest, query, explore or manage/],
  [{ ...QUERY, projects: [] }, /projects must be a list of 1 to 100 project keys.*leave it out/],
  [{ ...QUERY, projects: 'alpha' }, /projects must be a list/],
  [{ ...QUERY, projects: [''] }, /projects must be a list/],
  [
    { ...QUERY, projects: Array.from({ length: NARROWED_NAMES_MAX + 1 }, (_, n) => `p${n}`) },
    /projects must be a list/,
  ],
  [{ ...QUERY, project: ['alpha'] }, /must be described by .*projects.*; got "project"/],
  [{ ...QUERY, sources: ['nowhere'] }, /there is no source "nowhere"/],
  [{ ...QUERY, endpoints: ['nothing'] }, /there is no saved query "nothing"/],
  [{ name: 'a', scopes: ['ingest'], endpoints: ['logs.all'] }, /for tokens with the scope query/],
  [{ ...QUERY, default_source: 'logs' }, /for tokens with the scope ingest/],
  [
    { name: 'a', scopes: ['ingest'], sources: ['logs'], default_source: 'postgres.logs' },
    /default_source must be one of sources, logs; got "postgres.logs"/,
  ],
  [{ name: 'a', scopes: ['ingest'], default_source: 'nowhere' }, /there is no source "nowhere"/],
  [{ ...QUERY, expires_at: 'soon' }, /expires_at must be an ISO 8601 time; got "soon"/],
  [{ ...QUERY, expires_at: '2026-01-15T12:00:00Z' }, /expires_at must be in the future/],
  [{ name: 'a', scopes: ['manage'], projects: ['alpha'] }, /manage .* cannot be bound/],
  [{ name: 'a', scopes: ['manage', 'query'], sources: ['logs'] }, /manage .* cannot be bound/],
] as const) {
  test(`a request for a token is refused: ${JSON.stringify(order).slice(0, 80)}`, () => {
    throws(() => parseTokenOrder(order, CONTEXT), { code: 'invalid_body', message });
  });
}

test('a token cannot make one that may do more or that outlives it', () => {
  const of = (order: object, maker: Grant) => () =>
    parseTokenOrder({ ...QUERY, ...order }, { ...CONTEXT, maker });
  throws(of({ scopes: ['query', 'ingest'] }, MAKER), {
    code: 'forbidden',
    message: 'the token maker does not have the scope ingest, and cannot give it',
  });
  const ending = { ...MAKER, expiresMs: Date.parse('2026-02-01T00:00:00Z') };
  throws(of({}, ending), { code: 'forbidden', message: /expires at 2026-02-01T00:00:00\.000Z/ });
  throws(of({ expires_at: '2026-02-01T00:00:00.001Z' }, ending), { code: 'forbidden' });
  of({ expires_at: '2026-02-01T00:00:00Z' }, ending)();
});
