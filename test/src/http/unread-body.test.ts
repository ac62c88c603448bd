import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ask, PRIVATE, withApp } from '../harness.ts';

for (const [what, line, headers] of [
  ['an open path', 'GET /health', []],
  ['a path for who has a token', 'GET /api/sources', []],
  [
    'a call whose body is of no type of ours',
    'GET /api/endpoints/app.stats?project=p',
    ['Content-Type: image/png'],
  ],
  ['OPTIONS', 'OPTIONS /api/sources', []],
] as const) {
  test(`${what}: an unneeded body is read before the answer, which arrives whole`, async () => {
    await withApp({}, async (app) => {
      const socket = connect(app.port, '127.0.0.1').setEncoding('utf8');
      let text = '';
      socket.on('data', (part: string) => {
        text += part;
      });
      const lines = [
        `${line} HTTP/1.1`,
        ...['Host: x', `X-API-KEY: ${PRIVATE}`, 'Content-Length: 20000', 'Connection: close'],
        ...headers,
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n${'x'.repeat(10_000)}`);
      // Other requests are answered meanwhile, so the first has been read by then.
      for (let turn = 0; turn < 5; turn++) await ask(app, { path: '/health' });
      assert.equal(text, '');
      socket.write('x'.repeat(10_000));
      await once(socket, 'close');
      assert.match(text, /^HTTP\/1\.1 20[04] /);
    });
  });
}
