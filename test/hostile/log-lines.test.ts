import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LOG_TEXT_LENGTH_MAX, STACK_REPEAT_MS } from '../../src/limits.ts';
import { createLog, type LogEntry } from '../../src/log.ts';
import { ask, PRIVATE, STATS_ID, withApp } from '../src/harness.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { naughtyStrings } from './naughty-strings.ts';

function lineOf(entry: LogEntry): string {
  const lines: string[] = [];
  createLog(
    (line) => lines.push(line),
    () => '2026-01-15T12:00:00Z',
  )(entry);
  assert.equal(lines.length, 1);
  return lines[0]!;
}

function expectPlainLine(text: string): void {
  const line = lineOf({ level: 'error', event: 'e', path: text });
  assert.ok(line.endsWith('\n'));
  const shown = line.slice(0, -1);
  assert.ok(!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(shown), JSON.stringify(shown.slice(0, 200)));
  const { path } = JSON.parse(shown) as { readonly path: string };
  if (text.length <= LOG_TEXT_LENGTH_MAX) assert.equal(path, text);
  else assert.equal(path, `${text.slice(0, LOG_TEXT_LENGTH_MAX)}… (${text.length} characters)`);
}

test('an entry is one line of plain characters, whatever its texts', () => {
  for (const text of naughtyStrings()) expectPlainLine(text);
  fc.assert(fc.property(fc.string({ unit: anyCodePoint, maxLength: 100 }), expectPlainLine));
  const hidden = fc.constantFrom(
    '\u001b',
    '\u009b',
    '\u2028',
    '\u202e',
    '\u{e0001}',
    '\ud800',
    'a',
  );
  fc.assert(fc.property(fc.string({ unit: hidden }), expectPlainLine));
});

/** A mistake of ours, told with all that must not leave. */
function mistake(): Promise<never> {
  return Promise.reject(new Error('what nobody else should know'));
}

test('answers contain no stack or file position, and the log no token', async () => {
  await withApp({ run: mistake }, async (app) => {
    for (const [path, headers] of [
      [`/api/endpoints/query/${STATS_ID}?project=a&api_key=${PRIVATE}`, { 'X-API-KEY': undefined }],
      [
        `/api/endpoints/app.stats?project=a&api_key=${PRIVATE}`,
        { Authorization: `Bearer ${PRIVATE}` },
      ],
      ['/api/endpoints/app%2Estats?project=%0Aa%1B%5B31m', { Accept: 'application/problem+json' }],
    ] as const) {
      const { status, text } = await ask(app, { path, headers });
      assert.equal(status, 500);
      assert.ok(!text.includes('what nobody') && !/\.ts|:\d+:\d+|node:|\n/.test(text), text);
    }
    assert.equal(app.entries.length, 3);
    for (const entry of app.entries) {
      const line = lineOf(entry);
      assert.ok(line.includes('what nobody else should know'));
      assert.ok(!line.includes(PRIVATE), line);
    }
  });
});

test('the stack of a bug is logged at intervals, and each occurrence in a line', async () => {
  let nowMs = 0;
  await withApp({ run: mistake, monotonicMs: () => nowMs }, async (app) => {
    const path = `/api/endpoints/query/${STATS_ID}?project=a`;
    for (nowMs of [0, STACK_REPEAT_MS - 1, STACK_REPEAT_MS]) {
      assert.equal((await ask(app, { path })).status, 500);
    }
    const errors = app.entries.map(({ error }) => String(error));
    assert.deepEqual(
      errors.map((error) => /\n +at /.test(error)),
      [true, false, true],
    );
    assert.equal(errors[1], 'Error: what nobody else should know');
  });
});

test('the caller’s request id is used if it is harmless', async () => {
  await withApp({}, async (app) => {
    for (const [id, isTaken] of [
      ['a-b.c:1+/=', true],
      ['a'.repeat(128), true],
      ['a'.repeat(129), false],
      ['a b', false],
      ['a"b', false],
      ['\u009b31m', false],
      ['a\tb', false],
    ] as const) {
      const { headers } = await ask(app, { path: '/health', headers: { 'X-Request-Id': id } });
      assert.equal(headers['x-request-id'] === id, isTaken, JSON.stringify(id));
    }
  });
});
