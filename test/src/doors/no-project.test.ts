import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DECODED_APART_BYTES_MIN } from '../../../ingest/limits.ts';
import { makeToken } from '../../support/granted.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { postTo, RECEIVERS } from './receivers.ts';

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start();
});

after(() => service.stop());

async function warningOf(
  source: string,
  events: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const path = `/api/logs?source_name=${source}`;
  const answer = await service.ask('POST', path, JSON.stringify(events), headers);
  assert.equal(answer.status, 200, answer.text);
  return answer.headers['weir-warnings'];
}

for (const receiver of RECEIVERS) {
  test(`${receiver.path} warns how many events of ${receiver.type} have no project`, async () => {
    const answer = await postTo(service, receiver, receiver.body);
    assert.equal(Math.trunc(answer.status / 100), 2, answer.text);
    const isBulk = receiver.path === '/_bulk';
    const sentences = isBulk
      ? [
          '1 event names no project: the source postgres.logs expects it in the field project',
          '1 event names no project: the source gotrue.logs.prod expects it in the field project',
        ]
      : ['2 events name no project: the source gotrue.logs.prod expects it in the field project'];
    assert.equal(answer.headers['weir-warnings'], sentences.join('; '));
  });
}

test('the project is found by the source’s rule', async () => {
  const named = { project: 'alpha' };
  const inMetadata = { metadata: { project: 'alpha' } };
  assert.equal(await warningOf('postgres.logs', [named]), undefined);
  assert.equal(
    await warningOf('postgres.logs', [named, inMetadata, {}]),
    '2 events name no project: the source postgres.logs expects it in the field project',
  );
  assert.equal(await warningOf('realtime.logs.prod', [inMetadata]), undefined);
  // Each of the two projects' answers has one of these events.
  const mixed = { metadata: [{ project: 'alpha' }, { project: 'beta' }] };
  assert.equal(await warningOf('realtime.logs.prod', [mixed]), undefined);
  assert.equal(
    await warningOf('realtime.logs.prod', [named, inMetadata]),
    '1 event names no project: the source realtime.logs.prod expects it in the field metadata.project',
  );
});

test('events posted by a token of one project get that project', async () => {
  const { token } = await makeToken(service, 'alpha', { scopes: ['ingest'], projects: ['alpha'] });
  assert.equal(await warningOf('realtime.logs.prod', [{}], { 'X-API-KEY': token }), undefined);
});

test('refused events are not counted, and other warnings come first', async () => {
  const path = '/api/logs?source_name=postgres.logs';
  const events = JSON.stringify([7, { timestamp: 'soon' }, { metadata: 7 }]);
  const answer = await service.ask('POST', path, events);
  assert.equal(answer.status, 406);
  assert.match(
    String(answer.headers['weir-warnings']),
    /^the timestamp of 1 event .*; 1 event names no project: /,
  );
});

test('a large body, decoded in a separate thread, is warned of like a small one', async () => {
  const filler = 'x'.repeat(DECODED_APART_BYTES_MIN);
  assert.equal(
    await warningOf('postgres.logs', [{ event_message: filler }, { project: 'alpha' }]),
    '1 event names no project: the source postgres.logs expects it in the field project',
  );
});

test('the warnings of a bulk request for many sources fit into a header that clients accept', async () => {
  const { result } = JSON.parse((await service.ask('GET', '/api/sources')).text);
  const lines = result.map(
    ({ name }: { name: string }) => `{"index":{"_index":"${name}"}}\n{"message":"a"}\n`,
  );
  const type = { 'Content-Type': 'application/x-ndjson' };
  const answer = await service.ask('POST', '/_bulk', lines.join(''), type);
  const warnings = String(answer.headers['weir-warnings']);
  assert.equal(warnings.split('; ').length, 6);
  assert.match(warnings, /; so do events of 5 more sources$/);
});
