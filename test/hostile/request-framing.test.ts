import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRaw, PRIVATE, withApp } from '../src/harness.ts';

const POST = `POST /api/logs?source_name=postgres.logs HTTP/1.1\r\nHost: weir\r\nX-API-KEY: ${PRIVATE}\r\nContent-Type: application/json\r\n`;
const SMUGGLED = `POST /api/logs?source_name=cloudflare.logs.prod HTTP/1.1\r\nHost: weir\r\nX-API-KEY: ${PRIVATE}\r\nContent-Length: 2\r\n\r\n{}`;

/** What two readers may understand in two ways, one of them in front of the other. */
const REFUSED: readonly (readonly [name: string, bytes: string])[] = [
  ['two hosts', 'GET /health HTTP/1.1\r\nHost: weir\r\nhost: other\r\nConnection: close\r\n\r\n'],
  ['no host', 'GET /health HTTP/1.1\r\n\r\n'],
  [
    'a length and chunks',
    `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunks and a length',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}${SMUGGLED}`],
  ['two lengths in one', `${POST}Content-Length: 2, 2\r\n\r\n{}${SMUGGLED}`],
  ['a length with a sign', `${POST}Content-Length: +2\r\n\r\n{}${SMUGGLED}`],
  ['a length below zero', `${POST}Content-Length: -2\r\n\r\n{}${SMUGGLED}`],
  ['a length in hexadecimal', `${POST}Content-Length: 0x2\r\n\r\n{}${SMUGGLED}`],
  ['a length of 20 digits', `${POST}Content-Length: 99999999999999999999\r\n\r\n{}`],
  ['a space before the colon', `${POST}Content-Length : 2\r\n\r\n{}${SMUGGLED}`],
  ['chunks that are not the last coding', `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n{}`],
  ['a coding that is nearly chunks', `${POST}Transfer-Encoding: xchunked\r\n\r\n{}`],
  ['a chunk of no size', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
  [
    'a chunk of too large a size',
    `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
  ],
  ['a folded header', `${POST}X-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`],
  ['a zero byte in a header', `${POST}X-Zero: a\0b\r\nContent-Length: 2\r\n\r\n{}`],
  ['a bare line feed', `${POST}X-Bare: a\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`],
  ['a version that is none', 'GET /health HTTP/9.9\r\nHost: weir\r\n\r\n'],
  ['what is not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
];

for (const [name, bytes] of REFUSED) {
  test(`refused once, with nothing stored: ${name}`, async () => {
    await withApp({}, async (app) => {
      const text = await askRaw(app, bytes);
      const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status);
      assert.deepEqual(statuses, ['400'], text);
      assert.deepEqual(app.stored, []);
      assert.ok(!text.includes(PRIVATE) && !/\bat .*:\d+:\d+/.test(text), text);
    });
  });
}
