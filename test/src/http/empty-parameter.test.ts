import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const UNITS = `-- id: 11111111-2222-4333-8444-555555555555
-- name: app.units
-- param: unit string default=ms from=measure
-- param: size string default=small enum(small, large)
-- param: tz string default=UTC
SELECT @unit AS unit, @size AS size,
  DATETIME(TIMESTAMP '2026-01-15T12:00:00Z', @tz) AS local
`;

let folder: string;
let service: ServiceUnderTest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-empty-'));
  await writeFile(join(folder, 'units.sql'), UNITS);
  service = await ServiceUnderTest.start({ ENDPOINTS_DIR: folder });
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function call(query: string, body?: object) {
  const path = `/api/endpoints/app.units${query}`;
  const answer = await service.ask(
    body === undefined ? 'GET' : 'POST',
    path,
    body && JSON.stringify(body),
    { 'Content-Type': 'application/json' },
  );
  return { status: answer.status, json: JSON.parse(answer.text) };
}

test('in a JSON body, an empty text is the value of a text parameter with a default', async () => {
  const cases: readonly [string, object | undefined, string][] = [
    ['', undefined, 'ms'],
    ['?unit=', undefined, 'ms'],
    ['?unit=&measure=s', undefined, 's'],
    ['', {}, 'ms'],
    ['', { unit: null }, 'ms'],
    ['', { unit: '' }, ''],
    ['', { unit: '', measure: 's' }, ''],
    ['', { measure: '' }, 'ms'],
    ['?unit=', {}, 'ms'],
  ];
  for (const [query, body, unit] of cases) {
    const { json } = await call(query, body);
    assert.equal(json.result[0].unit, unit, `${query} ${JSON.stringify(body)}`);
  }
});

test('in a JSON body, an empty text counts as absent for a parameter with listed values', async () => {
  const { json } = await call('', { size: '' });
  assert.equal(json.result[0].size, 'small');
});

test('a time zone whose plus sign became a space is refused with a hint', async () => {
  assert.equal((await call('?tz=%2B05:30')).json.result[0].local, '2026-01-15T17:30:00');
  const { status, json } = await call('?tz=+05:30');
  assert.equal(status, 422);
  assert.match(
    json.error.message,
    /got " 05:30" \(in a URL the sign \+ of an offset is written %2B\)/,
  );
  assert.doesNotMatch((await call('?tz=+noon')).json.error.message, /%2B/);
});
