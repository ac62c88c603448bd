import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { must } from '../../../engine/assert.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';
import { countOf, postTo, RECEIVERS } from './receivers.ts';

const services = new Map<string, ServiceUnderTest>();
const serviceOf = (profile: string): ServiceUnderTest => must(services.get(profile));

before(async () => {
  for (const PROFILE of ['default', 'supabase']) {
    services.set(PROFILE, await ServiceUnderTest.start({ PROFILE }));
  }
});
after(async () => {
  for (const service of services.values()) await service.stop();
});

const OF_EVENTS = RECEIVERS.filter(({ path, isLines }) => isLines && path !== '/_bulk');

for (const profile of ['default', 'supabase']) {
  for (const receiver of OF_EVENTS) {
    test(`${receiver.path} accepts the valid lines and reports the invalid ones (${profile})`, async () => {
      const service = serviceOf(profile);
      const storedBefore = await countOf(service, 'weir_ingested_events_total');
      const refusedBefore = await countOf(service, 'weir_refused_events_total');
      const [first = '', second = ''] = String(receiver.body).split('\n');
      const cut = second.slice(0, -1);
      const answer = await postTo(
        service,
        receiver,
        [first, '{bad', '', '7', second, cut].join('\n'),
      );
      assert.equal(answer.status, 406, answer.text);
      const { message, error } = JSON.parse(answer.text);
      assert.deepEqual(profile === 'supabase' ? message : error.details, [
        'event 1: line 2 is not JSON: expected a key in quotes; got "b" at byte 2',
        'event 2: an event must be an object; got another value',
        `event 4: line 6 is not JSON: expected "," or "}" after a value; got the end of the line at byte ${cut.length + 1}`,
      ]);
      assert.equal((await countOf(service, 'weir_ingested_events_total')) - storedBefore, 2);
      assert.equal((await countOf(service, 'weir_refused_events_total')) - refusedBefore, 3);
    });
  }
}

test('a body of lines without any JSON is a 400', async () => {
  const service = serviceOf('default');
  for (const receiver of RECEIVERS.filter(({ isLines }) => isLines)) {
    const answer = await postTo(service, receiver, 'GET / 200\n{"cut":\n');
    assert.equal(answer.status, 400, receiver.path);
    assert.match(answer.text, /line 1 is not JSON: expected an? (?:value|object)/);
  }
});

/** The status of each item of a bulk request, with its reason if it has one. */
async function bulk(...lines: readonly string[]): Promise<readonly string[]> {
  const receiver = must(RECEIVERS.find(({ path }) => path === '/_bulk'));
  const answer = await postTo(serviceOf('default'), receiver, lines.join('\n'));
  assert.equal(answer.status, 200, answer.text);
  type Item = Record<
    string,
    { readonly status: number; readonly error?: { readonly reason: string } }
  >;
  const { items } = JSON.parse(answer.text) as { readonly items: readonly Item[] };
  return items.map((item) => {
    const [action, { status, error }] = must(Object.entries(item)[0]);
    return `${action} ${status} ${error?.reason ?? ''}`.trim();
  });
}

test('an invalid line of a bulk request is an error of its item', async () => {
  const BAD = 'index 400 line';
  const GOOD = '{"message":"a"}';
  const is = (got: readonly string[], ...wanted: readonly string[]): void => {
    assert.equal(got.length, wanted.length, got.join('\n'));
    for (const [index, text] of wanted.entries())
      assert.ok(got[index]!.startsWith(text), got[index]);
  };
  // A bad document.
  is(await bulk('{"index":{}}', '{bad', '{"create":{}}', GOOD), `${BAD} 2`, 'create 201');
  // A bad action: the line after it is its document.
  is(await bulk('{"index":', GOOD, '{"create":{}}', GOOD), `${BAD} 1`, 'create 201');
  is(await bulk('{"index":{}, "x":{}}', '{bad', '{"create":{}}', GOOD), `${BAD} 1`, 'create 201');
  // A bad action before another action: the line after it is not its document.
  is(await bulk('{"index":', '{"create":{}}', GOOD), `${BAD} 1`, 'create 201');
  // A truncated body: in a document, before it, and in an action.
  is(await bulk('{"create":{}}', GOOD, '{"index":{}}', '{"mess'), 'create 201', `${BAD} 4`);
  is(await bulk('{"create":{}}', GOOD, '{"index":{}}', ''), 'create 201', `${BAD} 3`);
  is(await bulk('{"create":{}}', GOOD, '{"ind'), 'create 201', `${BAD} 3`);
  is(
    await bulk('{"create":{}}', GOOD, '{"update":{}}', '{bad'),
    'create 201',
    'update 400 documents',
  );
});
