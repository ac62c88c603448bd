import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { makeToken } from '../support/granted.ts';
import { ServiceUnderTest } from '../support/service-under-test.ts';

/** A post in the form that a platform documents, and the events that it becomes. */
type Drain = {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How the platform sends the token. */
  readonly token: (token: string) => Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly object[];
};

const SOURCE = '?source_name=app.logs';
const TIME = '2026-01-15T11:55:00';
const TIME_US = 1_768_478_100_000_000;

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const basic = (token: string) => ({
  Authorization: `Basic ${Buffer.from(`weir:${token}`).toString('base64')}`,
});

const frames = [
  `<40>1 ${TIME}+00:00 host heroku web.3 - State changed from starting to up`,
  `<190>1 ${TIME}+00:00 host app web.3 - order made [7]`,
].map((text) => `${text.length} ${text}`);

const VERCEL = {
  id: '1573817187330377061717300000',
  timestamp: TIME_US / 1_000,
  message: 'order made',
  source: 'lambda',
  projectId: 'prj_7',
  level: 'info',
  proxy: { method: 'GET', statusCode: 200 },
};
const VERCEL_EVENT = {
  event_message: 'order made',
  timestamp: TIME_US,
  metadata: [
    {
      source: 'lambda',
      projectId: 'prj_7',
      level: 'info',
      proxy: [{ method: 'GET', statusCode: 200 }],
    },
  ],
};

const DRAINS: readonly Drain[] = [
  {
    name: 'Heroku',
    path: `/api/logs/logplex${SOURCE}`,
    headers: {
      'Content-Type': 'application/logplex-1',
      'Logplex-Msg-Count': '2',
      'Logplex-Frame-Id': '09C557EAFCFB6CF2740EE62F62971098',
      'Logplex-Drain-Token': 'd.fc6b856b-3332-4546-93de-7d0ee272c3bd',
      'User-Agent': 'Logplex/v49',
    },
    token: basic,
    body: frames.join(''),
    events: [
      ['State changed from starting to up', 'syslog', 'emerg', 40, 'heroku'] as const,
      ['order made [7]', 'local7', 'info', 190, 'app'] as const,
    ].map(([event_message, facility, severity, priority, app_name]) => ({
      event_message,
      timestamp: TIME_US,
      metadata: [
        {
          facility,
          severity,
          priority,
          drain_token: 'd.fc6b856b-3332-4546-93de-7d0ee272c3bd',
          hostname: 'host',
          app_name,
          proc_id: 'web.3',
        },
      ],
    })),
  },
  {
    name: 'Vercel, JSON',
    path: `/api/logs/vercel${SOURCE}`,
    headers: { 'Content-Type': 'application/json', 'x-vercel-signature': '7f4677df' },
    token: (token) => ({ 'X-API-KEY': token }),
    body: JSON.stringify([VERCEL, VERCEL]),
    events: [VERCEL_EVENT, VERCEL_EVENT],
  },
  {
    name: 'Vercel, NDJSON',
    path: `/api/logs/vercel${SOURCE}`,
    headers: { 'Content-Type': 'application/x-ndjson' },
    token: bearer,
    body: `${JSON.stringify(VERCEL)}\n${JSON.stringify(VERCEL)}\n`,
    events: [VERCEL_EVENT, VERCEL_EVENT],
  },
  {
    name: 'Netlify, NDJSON',
    path: `/api/logs/json${SOURCE}&api_key=TOKEN`,
    headers: { 'Content-Type': 'application/x-ndjson' },
    token: () => ({}),
    body: `{"type":"functions","timestamp":"${TIME}.000Z","message":"order made","level":"info"}\n`,
    events: [
      {
        event_message: 'order made',
        timestamp: TIME_US,
        metadata: [{ type: 'functions', level: 'info' }],
      },
    ],
  },
  {
    name: 'Fly, by Vector',
    path: `/api/logs/vector${SOURCE}`,
    headers: { 'Content-Type': 'application/json' },
    token: bearer,
    body: `[{"fly":{"app":{"name":"shop"},"region":"ams"},"log":{"level":"info"},"message":"order made","timestamp":"${TIME}.000000000Z"}]`,
    events: [
      {
        event_message: 'order made',
        timestamp: TIME_US,
        metadata: [{ fly: [{ app: [{ name: 'shop' }], region: 'ams' }], log: [{ level: 'info' }] }],
      },
    ],
  },
];

let service: ServiceUnderTest;
before(async () => {
  service = await ServiceUnderTest.start({ SOURCES: 'app.logs' });
});
after(() => service.stop());

for (const [index, drain] of DRAINS.entries()) {
  const { name, path, headers, body, events } = drain;
  test(`what ${name} posts is stored, in the project of its token`, async () => {
    const project = `project-${index}`;
    const { token } = await makeToken(service, project, {
      scopes: ['ingest'],
      projects: [project],
    });
    // The header of the service's own token is left out.
    const answer = await service.ask('POST', path.replace('TOKEN', token), body, {
      'X-API-KEY': '',
      ...drain.token(token),
      ...headers,
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['weir-warnings'], undefined);
    const sql =
      'SELECT t.event_message, t.timestamp, t.metadata FROM `app.logs` AS t WHERE t.project = @project ORDER BY t.event_message = "order made [7]"';
    const question = JSON.stringify({ sql, parameters: { project } });
    const found = await service.ask('POST', '/api/query', question);
    assert.deepEqual((JSON.parse(found.text) as { readonly result: unknown }).result, events);
  });
}

test('Vercel finds its code in the answer, whether it gets or posts, in the URL or in a header', async () => {
  const code = '7f4677dfb49b149c4a67d45e84e0bcaab835ea50';
  const answers = [
    await service.ask('GET', `/api/logs/vercel?x-vercel-verify=${code}`),
    await service.ask('HEAD', '/logs/vercel', undefined, { 'x-vercel-verify': code }),
    await service.ask('POST', `/api/logs/vercel${SOURCE}&x-vercel-verify=${code}`, '[]'),
  ];
  for (const { status, headers, text } of answers) {
    assert.deepEqual([status, headers['x-vercel-verify']], [200, code], text);
  }
  const bad = await service.ask('GET', '/api/logs/vercel?x-vercel-verify=a%0d%0ab:c');
  assert.deepEqual([bad.status, bad.headers['x-vercel-verify']], [200, undefined]);
});

test('with the secret of a drain, posts of Vercel are stored only if they are signed with it, as they were sent', async () => {
  const secret = 'drain-secret';
  const guarded = await ServiceUnderTest.start({
    SOURCES: 'app.logs',
    VERCEL_DRAIN_SECRET: secret,
  });
  const post = async (body: string | Buffer, headers: Readonly<Record<string, string>>) => {
    const answer = await guarded.ask('POST', `/api/logs/vercel${SOURCE}`, body, headers);
    const { error } = JSON.parse(answer.text) as { readonly error?: { readonly code: string } };
    return [answer.status, error?.code];
  };
  const sign = (body: string | Buffer, key = secret) => ({
    'x-vercel-signature': createHmac('sha1', key).update(body).digest('hex'),
  });
  const body = JSON.stringify([VERCEL]);
  const compressed = gzipSync(body);
  const gzip = { 'Content-Encoding': 'gzip' };
  try {
    const wrong = [403, 'invalid_signature'];
    assert.deepEqual(await post(body, {}), wrong);
    assert.deepEqual(await post(body, sign(body, 'another')), wrong);
    assert.deepEqual(await post(`${body} `, sign(body)), wrong);
    assert.deepEqual(await post(body, { 'x-vercel-signature': 'none' }), wrong);
    assert.deepEqual(await post(compressed, { ...gzip, ...sign(body) }), wrong);
    assert.deepEqual(await post(body, sign(body)), [200, undefined]);
    assert.deepEqual(await post(compressed, { ...gzip, ...sign(compressed) }), [200, undefined]);
    const sql = JSON.stringify({ sql: 'SELECT COUNT(*) AS n FROM `app.logs`' });
    const { text } = await guarded.ask('POST', '/api/query', sql);
    assert.deepEqual(JSON.parse(text).result, [{ n: 2 }]);
  } finally {
    await guarded.stop();
  }
});
