import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { NO_TENANT } from '../../../engine/pool/fair-queue.ts';
import { ServiceError } from '../../../src/errors.ts';
import { BodyReader } from '../../../src/http/body.ts';
import { PART_BYTES } from '../../../src/limits.ts';

const BYTES_MAX = 3 * PART_BYTES;

type Result = { readonly status: number; readonly text: string };

/** Sends pieces to a reader of parts that end at a line feed. Answers 200, or the status of the error. */
async function send(
  pieces: readonly (Buffer | 'abort')[],
  work: (part: Buffer) => Promise<void>,
): Promise<{ readonly result: Result | undefined; readonly heldBytes: number }> {
  const reader = new BodyReader({ nowMs: () => performance.now() });
  let done: Promise<void> = Promise.resolve();
  const server = createServer((request, response) => {
    const findEnd = (bytes: Buffer): number => bytes.lastIndexOf('\n') + 1;
    const terms = { bytesMax: BYTES_MAX, tenant: NO_TENANT, findEnd };
    done = reader
      .useParts(request, response, terms, (part) => work(Buffer.concat(part)))
      .then(() => void response.end('done'))
      .catch((error: ServiceError) => {
        response.statusCode = error.status;
        response.end(error.message);
        request.resume();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST' });
  const answered = new Promise<Result | undefined>((resolve) => {
    request.on('response', async (response) => {
      const chunks = await response.toArray().catch(() => []);
      resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
    });
    request.on('error', () => resolve(undefined));
  });
  for (const piece of pieces) {
    if (piece === 'abort') request.destroy();
    else if (!request.write(piece)) await Promise.race([once(request, 'drain'), answered]);
  }
  if (!request.destroyed) request.end();
  const result = await answered;
  await done;
  request.destroy();
  server.closeAllConnections();
  server.close();
  return { result, heldBytes: reader.heldBytes };
}

test('a long body is used in parts that end where an event does, and none of it is held in the end', async () => {
  const line = Buffer.from(`${'x'.repeat(1_000)}\n`);
  const count = 5_000;
  const whole = Buffer.concat(Array<Buffer>(count).fill(line));
  const parts: Buffer[] = [];
  const { result, heldBytes } = await send([whole, Buffer.from('end')], async (part) => {
    parts.push(part);
  });
  assert.deepEqual(result, { status: 200, text: 'done' });
  assert.equal(heldBytes, 0);
  assert.ok(parts.length >= 5, `${parts.length}`);
  for (const part of parts.slice(0, -1)) {
    assert.equal(part.at(-1), 10);
    assert.ok(part.length < 2 * PART_BYTES, `${part.length}`);
  }
  assert.deepEqual(Buffer.concat(parts), Buffer.concat([whole, Buffer.from('end')]));
});

test('a short body is one part, and an empty one an empty part', async () => {
  for (const pieces of [[Buffer.from('a\nb')], []]) {
    const parts: string[] = [];
    const { result } = await send(pieces, async (part) => void parts.push(part.toString()));
    assert.equal(result?.status, 200);
    assert.deepEqual(parts, [pieces.join('')]);
  }
});

test('an event that is longer than a body may be is refused, and what was before it is used', async () => {
  const parts: number[] = [];
  const line = Buffer.concat([Buffer.alloc(PART_BYTES, 'x'), Buffer.from('\n')]);
  const { result, heldBytes } = await send(
    [line, Buffer.alloc(2 * BYTES_MAX, 'y')],
    async (part) => void parts.push(part.length),
  );
  assert.ok(result === undefined || result.status === 413, JSON.stringify(result));
  assert.deepEqual(parts, [line.length]);
  assert.equal(heldBytes, 0);
});

test('a failure of a part ends the body', async () => {
  let count = 0;
  const lines = Buffer.concat(Array<Buffer>(40).fill(Buffer.from(`${'x'.repeat(100_000)}\n`)));
  const { heldBytes } = await send([lines], async () => {
    if (++count === 2) throw new ServiceError('storage_failed', 'the disk is full');
  });
  assert.equal(count, 2);
  assert.equal(heldBytes, 0);
});

test('a sender that disconnects is not taken for the end of the body', async () => {
  const parts: string[] = [];
  const { result, heldBytes } = await send([Buffer.from('a\nb'), 'abort'], async (part) => {
    parts.push(part.toString());
  });
  assert.equal(result, undefined);
  assert.deepEqual(parts, []);
  assert.equal(heldBytes, 0);
});
