import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { parseJsonObject } from '../../src/http/json-body.ts';
import { CALL_BODY_BYTES_MAX, JSON_DEPTH_MAX } from '../../src/limits.ts';
import { post, STATS_ID, withApp } from '../src/harness.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';

const CALL = `/api/endpoints/query/${STATS_ID}`;

function nested(opening: string, closing: string, depth: number): string {
  return `{"project":"a","x":${opening.repeat(depth - 1)}0${closing.repeat(depth - 1)}}`;
}

test('a body may be nested up to the limit and no deeper', async () => {
  await withApp({}, async (app) => {
    for (const [opening, closing] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"\\"[[":', '}]'],
    ] as const) {
      const levels = opening.length === 1 || !opening.startsWith('[{') ? 1 : 2;
      const depth = Math.floor((JSON_DEPTH_MAX - 1) / levels) + 1;
      assert.equal((await post(app, CALL, nested(opening, closing, depth))).status, 200);
      const { status, json } = await post(app, CALL, nested(opening, closing, depth + 1));
      assert.equal(status, 400);
      assert.equal(json.error.code, 'invalid_body');
      assert.match(json.error.message, /may be nested 32 levels deep; got more at character \d+/);
    }
  });
});

test('a body of nothing but brackets is refused at the limit, whatever its length', () => {
  for (const text of ['['.repeat(CALL_BODY_BYTES_MAX), '{"a":'.repeat(CALL_BODY_BYTES_MAX / 5)]) {
    assert.throws(
      () => parseJsonObject(text),
      (error: unknown) => {
        assert.ok(error instanceof ServiceError);
        // It was not gone through any further.
        assert.ok(Number(/character (\d+)$/.exec(error.message)![1]) <= 5 * JSON_DEPTH_MAX + 5);
        return true;
      },
    );
  }
});

test('any flat object has the members that it was written with', () => {
  const member = fc.tuple(fc.string({ unit: anyCodePoint }), fc.jsonValue({ maxDepth: 5 }));
  fc.assert(
    fc.property(fc.array(member), (members) => {
      const text = `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`;
      const last = new Map(
        members.map(([key, value]) => [key, JSON.parse(JSON.stringify(value)) as unknown]),
      );
      const got = new Map(parseJsonObject(text));
      assert.equal(got.size, last.size);
      for (const [key, value] of last) assert.deepEqual(got.get(key), value);
    }),
  );
});

test('any text is an object or is refused', () => {
  const piece = fc.constantFrom(...'{}[]":,\\u12e-.0 tfn', 'true', '"a":', '\u2028', '\ud800');
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 40 }), (text) => {
      try {
        parseJsonObject(text);
      } catch (error) {
        assert.ok(error instanceof ServiceError && error.code === 'invalid_body', String(error));
      }
    }),
    { numRuns: runsOf(2000) },
  );
});

/** Names that an object of JavaScript has before anybody sets them. */
const INBORN = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

test('parameters may have the names of properties of JavaScript objects', async () => {
  await withApp({}, async (app) => {
    for (const name of INBORN) {
      const text = `{"project":"a",${JSON.stringify(name)}:{"project":"b","isAdmin":true}}`;
      const { status, json } = await post(app, CALL, text);
      assert.equal(status, 200);
      assert.equal(json.result[0].project, 'a');
      const inUrl = await post(app, `${CALL}?${name}=b&${name}[project]=b`, '{"project":"a"}');
      assert.equal(inUrl.json.result[0].project, 'a');
      // As a source, a path and an endpoint it is one that there is not.
      assert.equal((await post(app, `/api/logs?source_name=${name}`, '[]')).status, 404);
      assert.equal((await post(app, `/api/endpoints/${name}`, '{}')).status, 404);
    }
    assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
  });
});
