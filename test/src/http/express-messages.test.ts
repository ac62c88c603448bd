import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import express from 'express';
import { useExpressMessages } from '../../../src/http/express-messages.ts';
import { HttpServer, type RequestListener } from '../../../src/http/http-server.ts';
import { getProfile } from '../../../src/profile.ts';

test('requests and responses keep their original prototypes', async () => {
  const app = express();
  const prototypes: unknown[] = [];
  const note: RequestListener = (incoming, response) => {
    prototypes.push(Object.getPrototypeOf(incoming), Object.getPrototypeOf(response));
  };
  app.get('/path', (incoming, response) => {
    note(incoming, response);
    // They have Express's methods, and the response is Node's.
    response
      .status(201)
      .set('X-Path', incoming.path)
      .end(`asked ${incoming.get('host')}`);
  });
  const listener: RequestListener = (incoming, response) => {
    note(incoming, response);
    (app as unknown as RequestListener)(incoming, response);
  };
  const messages = useExpressMessages(app);
  const address = { host: '127.0.0.1', port: 0 };
  const server = await HttpServer.listen({ listener, messages }, address, getProfile('default'));
  try {
    const answer = await get(server.port);
    assert.deepEqual(answer, {
      status: 201,
      path: '/path',
      text: `asked 127.0.0.1:${server.port}`,
    });
    const [requestBefore, responseBefore, requestAfter, responseAfter] = prototypes;
    assert.equal(requestAfter, requestBefore);
    assert.equal(responseAfter, responseBefore);
  } finally {
    await server.drain({ drainMs: 0 });
  }
});

function get(port: number): Promise<{ status: unknown; path: unknown; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/path' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode, path: response.headers['x-path'], text }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
