import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BULK_ID_LENGTH_MAX } from '../../../ingest/limits.ts';
import { AnswerFilter } from '../../../src/doors/answer-filter.ts';
import { FILTER_PATH_LENGTH_MAX } from '../../../src/limits.ts';
import type { LogIntake } from '../../../src/store/log-intake.ts';
import { ask, DEFAULT_SOURCE, fakeIntake, post, type Stored, withApp } from '../harness.ts';

const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const DOCUMENT = { '@timestamp': '2026-01-15T11:55:00Z', message: 'order made', order: 7 };

test('the answer to a bulk has the members that filter_path names', async () => {
  await withApp({}, async (app) => {
    const body = '{"index":{"_id":"1"}}\n{}\n{"delete":{"_id":"2"}}\n';
    const answerTo = async (query: string) =>
      (await post(app, `/elasticsearch/postgres.logs/_bulk${query}`, body, NDJSON)).json;
    assert.deepEqual(await answerTo('?filter_path=errors,items.*.error.type,items.*.status'), {
      errors: true,
      items: [
        { index: { status: 201 } },
        { delete: { status: 400, error: { type: 'invalid_request' } } },
      ],
    });
    assert.deepEqual(await answerTo('?filter_path=took'), { took: 0 });
    assert.deepEqual(await answerTo('?filter_path=items.index.result'), {
      items: [{ index: { result: 'created' } }],
    });
    assert.deepEqual(await answerTo('?filter_path=none'), {});
    assert.deepEqual(await answerTo('?filter_path=-items,-took'), { errors: true });
  });
});

test('a long answer is filtered in pieces as it would be as a whole', async () => {
  await withApp({}, async (app) => {
    // Pieces without any item, and with some, follow each other.
    const lines = Array.from({ length: 3_500 }, (_, index) =>
      index >= 1_000 && index < 2_100 ? '{"delete":{}}\n' : `{"index":{"_id":"${index}"}}\n{}\n`,
    );
    const path = '/postgres.logs/_bulk';
    const whole = (await post(app, path, lines.join(''), NDJSON)).json as object;
    for (const paths of ['errors,items.*.error', 'items.index._id', '-items.delete', '**.status']) {
      const { text } = await post(app, `${path}?filter_path=${paths}`, lines.join(''), NDJSON);
      const filter = AnswerFilter.parse(new Map([['filter_path', [paths]]]));
      assert.equal(text, JSON.stringify(filter.keepAnswer(whole)), paths);
    }
  });
});

test('a bulk with a wrong filter_path stores nothing', async () => {
  await withApp({}, async (app) => {
    for (const [query, type] of [
      [`?filter_path=${'a'.repeat(FILTER_PATH_LENGTH_MAX + 1)}`, 'invalid_parameter'],
      ['?filter_path=took&filter_path=errors', 'repeated_parameter'],
    ]) {
      for (const [path, body] of [
        ['/_bulk', '{"index":{}}\n{}\n'],
        ['/logs-2026/_doc', '{}'],
      ]) {
        const { status, json } = await post(app, `${path}${query}`, body);
        assert.deepEqual([status, json.error.type], [400, type]);
      }
    }
    assert.equal(app.stored.length, 0);
  });
});

test('one document is stored under the id of the path, or a new one', async () => {
  const sent = [
    ['POST', '/postgres.logs/_doc', 'postgres.logs', undefined],
    ['POST', '/postgres.logs/_doc/order-7', 'postgres.logs', 'order-7'],
    ['PUT', '/elasticsearch/postgres.logs/_doc/order%2F7', 'postgres.logs', 'order/7'],
    ['PUT', '/logs-2026/_create/7', DEFAULT_SOURCE, '7'],
    ['POST', '/elasticsearch/logs-2026/_create/7', DEFAULT_SOURCE, '7'],
  ] as const;
  await withApp({}, async (app) => {
    for (const [method, path, source, id] of sent) {
      const { status, json, headers } = await ask(app, {
        method,
        path,
        headers: { 'Content-Type': 'application/json' },
        // Indented, as people write it.
        body: JSON.stringify(DOCUMENT, undefined, 2),
      });
      assert.equal(status, 201, path);
      assert.equal(headers['x-elastic-product'], 'Elasticsearch');
      const { _index, _id, result, _version } = json;
      assert.deepEqual([result, _version], ['created', 1]);
      assert.equal(_index, /(postgres\.logs|logs-2026)/.exec(path)![1]);
      if (id !== undefined) assert.equal(_id, id);
      assert.deepEqual(app.stored.at(-1), {
        source,
        events: [
          {
            id: _id,
            timestamp: DOCUMENT['@timestamp'],
            event_message: 'order made',
            metadata: { order: 7 },
          },
        ],
      });
    }
    assert.equal(app.stored.length, sent.length);
    const { json } = await post(app, '/logs/_doc/7?filter_path=result,_shards.failed', {});
    assert.deepEqual(json, { result: 'created', _shards: { failed: 0 } });
  });
});

test('a document that is refused is a 400 with the reason', async () => {
  await withApp({}, async (app) => {
    const longId = 'i'.repeat(BULK_ID_LENGTH_MAX + 1);
    const refused: readonly (readonly [path: string, body: string, reason: RegExp])[] = [
      ['/logs/_doc', '', /expected a value|expected an object/],
      ['/logs/_doc', '[]', /expected an object/],
      ['/logs/_doc', '{"a":1} {"b":2}', /expected the end of the text/],
      ['/logs/_doc', '{"a":', /expected a value/],
      [`/logs/_doc/${longId}`, '{}', /_id may have 512 characters; got 513/],
    ];
    for (const [path, body, reason] of refused) {
      const { status, json } = await post(app, path, body);
      assert.deepEqual([status, json.status, json.error.type], [400, 400, 'invalid_body'], body);
      assert.match(json.error.reason, reason);
    }
    assert.equal(app.stored.length, 0);
  });
  const stored: Stored[] = [];
  await withApp({ intake: refusing(stored) }, async (app) => {
    const { status, json } = await post(app, '/logs/_doc', DOCUMENT);
    assert.deepEqual([status, json.error.reason], [400, 'it is too old']);
  });
});

/** Refuses the first event of each body. */
function refusing(stored: Stored[]): LogIntake {
  const intake = fakeIntake(stored);
  return {
    ...intake,
    decode: async (posted) => ({
      ...(await intake.decode(posted)),
      store: async () => ({
        events: [0],
        reasons: ['it is too old'],
        repaired: [],
        storedEvents: 0,
      }),
    }),
  };
}

/** What senders set up, and the name of what they find in the answer to GET. */
const SET_UP: readonly (readonly [path: string, found: (json: never) => unknown])[] = [
  ['/_index_template/', (json: Found) => json['index_templates'][0].name],
  ['/_component_template/', (json: Found) => json['component_templates'][0].name],
  ['/_template/', (json: Found) => Object.keys(json)[0]],
  ['/_ilm/policy/', (json: Found) => Object.keys(json)[0]],
  ['/_data_stream/', (json: Found) => json['data_streams'][0].name],
  ['/_ingest/pipeline/', (json: Found) => Object.keys(json)[0]],
];

// biome-ignore lint/suspicious/noExplicitAny: each API has a form of its own
type Found = Readonly<Record<string, any>>;

test('what senders set up is there, and is acknowledged when they make it', async () => {
  await withApp({}, async (app) => {
    for (const base of ['', '/elasticsearch']) {
      for (const [path, found] of SET_UP) {
        for (const name of ['logs-app', '__proto__']) {
          const of = { path: `${base}${path}${name}` };
          const got = await ask(app, of);
          assert.deepEqual([got.status, found(got.json as never)], [200, name]);
          assert.equal(got.headers['x-elastic-product'], 'Elasticsearch');
          const head = await ask(app, { ...of, method: 'HEAD' });
          assert.deepEqual([head.status, head.text], [200, '']);
          const made = await ask(app, {
            ...of,
            method: 'PUT',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ index_patterns: ['x'.repeat(1_000_000)] }),
          });
          assert.deepEqual([made.status, made.json], [200, { acknowledged: true }]);
        }
      }
    }
    assert.equal(app.stored.length, 0);
  });
});

test('an index exists whatever its name, and nothing else does at its path', async () => {
  await withApp({}, async (app) => {
    const statusOf = async (method: string, path: string) =>
      (await ask(app, { method, path })).status;
    assert.equal(await statusOf('HEAD', '/logs-2026'), 200);
    assert.equal(await statusOf('HEAD', '/elasticsearch/logs-2026'), 200);
    assert.equal(await statusOf('GET', '/logs-2026'), 404);
    assert.equal(await statusOf('PUT', '/elasticsearch/logs-2026'), 404);
    assert.equal(await statusOf('HEAD', '/_none'), 404);
    // Paths of weir keep their meaning.
    assert.equal(await statusOf('HEAD', '/logs'), 405);
    assert.equal(await statusOf('HEAD', '/health'), 200);
  });
});

test('clients that look for nodes find the address at which they have asked', async () => {
  await withApp({}, async (app) => {
    const addressAt = async (path: string, headers: Readonly<Record<string, string>>) => {
      const { json } = await ask(app, { path, headers });
      return Object.values(json.nodes as Found).map(({ http }) => http.publish_address);
    };
    for (const path of ['/_nodes', '/_nodes/http', '/elasticsearch/_nodes/_all/http']) {
      assert.deepEqual(await addressAt(path, {}), [`127.0.0.1:${app.port}`]);
    }
    assert.deepEqual(await addressAt('/_nodes', { Host: 'logs.example' }), ['logs.example:80']);
    const https = { Host: 'logs.example', 'X-Forwarded-Proto': 'https' };
    assert.deepEqual(await addressAt('/_nodes', https), ['logs.example:443']);
  });
});

test('state and the root are filtered, too', async () => {
  await withApp({}, async (app) => {
    const answers = [
      [
        '/?filter_path=version.number,tagline',
        { version: { number: '8.19.0' }, tagline: 'You Know, for Search' },
      ],
      ['/elasticsearch?filter_path=cluster_name', { cluster_name: 'weir' }],
      ['/_license?filter_path=license.status&human=false', { license: { status: 'active' } }],
      [
        '/_xpack?filter_path=features.ilm',
        { features: { ilm: { available: true, enabled: true } } },
      ],
      ['/_cat/health?filter_path=status', [{ status: 'green' }]],
      ['/_index_template/a?filter_path=index_templates.name', { index_templates: [{ name: 'a' }] }],
    ] as const;
    for (const [path, json] of answers) {
      const answer = await ask(app, { path });
      assert.deepEqual([answer.status, answer.json], [200, json], path);
    }
    const long = await ask(app, { path: `/?filter_path=${'a'.repeat(300)}` });
    assert.equal(long.status, 400);
  });
});
