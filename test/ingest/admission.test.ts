import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Batch, MIXED_PROJECTS } from '../../engine/column/batch.ts';
import { type Admitted, admitEvents, refusalSentences } from '../../ingest/admission.ts';
import { REFUSALS_LISTED_MAX } from '../../ingest/limits.ts';
import { type BodyForm, decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { BUILT_IN_SOURCES, type Source } from '../../ingest/source.ts';
import { runsOf } from '../support/budget.ts';
import { anyCodePoint } from '../support/code-point.ts';
import { plain, readRoot, stringAt } from './token-reader.ts';

const HOUR_US = 3_600_000_000;
/** 2026-01-15T12:00:00Z */
const NOW_US = 1_768_478_400_000_000;
const RETENTION_US = 90 * 24 * HOUR_US;
const NEW_ID = '00000000-0000-4000-8000-00000000000';

function source(...projectPath: string[]): Source {
  return { name: 'test', id: BUILT_IN_SOURCES[0]!.id, projectPath };
}

async function admitText(
  text: string,
  from = source('project'),
  form: BodyForm = 'json',
): Promise<Admitted> {
  let count = 0;
  const randomId = (bytes: Uint8Array, offset: number) => {
    bytes.set(Buffer.from(`${NEW_ID}${count++}`), offset);
  };
  const body = await decodeBody([Buffer.from(text)], form);
  return admitEvents(body, { source: from, nowUs: NOW_US, retentionUs: RETENTION_US, randomId });
}

type Row = {
  id: string;
  us: number;
  message: string | null;
  project: string | null;
  key: string | number | null;
  root: unknown;
};

function rowsOf(batch: Batch): Row[] {
  return Array.from({ length: batch.rowCount }, (_, row) => ({
    id: stringAt(batch.bytes, batch.ids[row]!)!,
    us: batch.timestampsUs[row]! - NOW_US,
    message: stringAt(batch.bytes, batch.messages[row]!),
    project: stringAt(batch.bytes, batch.projects[row]!),
    key:
      batch.projectKeys[row] === MIXED_PROJECTS
        ? 'MIXED'
        : stringAt(batch.bytes, batch.projectKeys[row]!),
    root: plain(readRoot(batch, batch.tokenStarts[row]!, batch.slotStarts[row]!)),
  }));
}

async function admit(event: unknown, from?: Source): Promise<Row> {
  const { batch, refusals } = await admitText(JSON.stringify([event]), from);
  assert.deepEqual(refusals, { events: [], reasons: [] });
  return rowsOf(batch)[0]!;
}

async function refusal(event: unknown): Promise<string> {
  const { batch, refusals } = await admitText(JSON.stringify([event]));
  assert.equal(batch.rowCount, 0);
  assert.deepEqual(refusals.events, [0]);
  return refusalSentences(refusals)[0]!;
}

test('declared fields become columns, the others stay, metadata becomes a list', async () => {
  const row = await admit({
    a: 1,
    id: 'one',
    message: 'hi',
    timestamp: '2026-01-15T11:55:00Z',
    metadata: { level: 'info', list: [], none: null, nested: { deep: [{ x: 1.5 }] } },
    project: 'p',
    appname: { b: [1, 'two'] },
  });
  assert.deepEqual(row, {
    id: 'one',
    us: -300_000_000,
    message: 'hi',
    project: 'p',
    key: 'p',
    root: {
      a: 1,
      metadata: [{ level: 'info', list: [], none: null, nested: { deep: [{ x: 1.5 }] } }],
      appname: { b: [1, 'two'] },
    },
  });
});

test('an empty event gets an id and the time of its receipt', async () => {
  const row = await admit({});
  assert.deepEqual(row, {
    id: `${NEW_ID}0`,
    us: 0,
    message: null,
    project: null,
    key: null,
    root: {},
  });
  assert.equal((await admit({ id: null })).id, `${NEW_ID}0`);
});

test('event_message takes precedence over message, which then is an ordinary key', async () => {
  const both = await admit({ message: 'm', event_message: 'e' });
  assert.deepEqual([both.message, both.root], ['e', { message: 'm' }]);
  const none = await admit({ message: 'm', event_message: null });
  assert.deepEqual([none.message, none.root], ['m', {}]);
});

test('a value that is no string is stored as its JSON text', async () => {
  for (const [value, text] of [
    [1, '1'],
    [1.5, '1.5'],
    [true, 'true'],
    [false, 'false'],
    [[], '[]'],
    [{ a: ['\n'] }, '{"a":["\\n"]}'],
    [[{}], '[{}]'],
    ['', ''],
  ] as const) {
    const row = await admit({ event_message: value, id: value });
    assert.deepEqual([row.message, row.id], [text, text]);
  }
  const { batch } = await admitText(
    '[{"id":12345678901234567890,"message":-0,"event_message":1e999}]',
  );
  const [row] = rowsOf(batch);
  assert.deepEqual(
    [row!.id, row!.message, row!.root],
    ['12345678901234567890', '1e999', { message: -0 }],
  );
});

test('a timestamp may be ISO, a number or digits; anything else means now', async () => {
  for (const timestamp of [
    '2026-01-15T11:00:00Z',
    '2026-01-15T13:00:00+02:00',
    1_768_474_800,
    1_768_474_800_000,
    1_768_474_800_000_000,
    '1768474800000000000',
    1_768_474_800.0,
  ]) {
    assert.equal((await admit({ timestamp })).us, -HOUR_US, String(timestamp));
  }
  const exact = await admitText('[{"timestamp":1768478400000001999}]');
  assert.equal(rowsOf(exact.batch)[0]!.us, 1);
  for (const timestamp of ['yesterday', '', null, true, {}, [], [1], 0, -5, 1e300, 12_345]) {
    assert.equal((await admit({ timestamp })).us, 0, String(timestamp));
  }
});

test('the text of a timestamp that cannot be read is kept, as JSON where it was none', async () => {
  for (const [timestamp, text] of [
    ['yesterday', 'yesterday'],
    ['', ''],
    ['2026-02-30T00:00:00Z', '2026-02-30T00:00:00Z'],
    ['\u0000 \ud83d\ude00 "\n', '\u0000 \ud83d\ude00 "\n'],
    [12_345, '12345'],
    [-1.5, '-1.5'],
    [true, 'true'],
    [false, 'false'],
    [[], '[]'],
    [[1, 'a'], '[1,"a"]'],
    [{ seconds: 1 }, '{"seconds":1}'],
  ] as const) {
    const row = await admit({ a: 1, timestamp, metadata: { b: 2 }, c: 3 });
    const kept = { a: 1, timestamp_text: text, metadata: [{ b: 2 }], c: 3 };
    assert.deepEqual([row.us, row.root], [0, kept]);
  }
  for (const [digits, text] of [
    ['1e999', '1e999'],
    ['-1768478400000000000', '-1768478400000000000'],
  ] as const) {
    const { batch } = await admitText(`[{"timestamp":${digits}}]`);
    assert.deepEqual(rowsOf(batch)[0]!.root, { timestamp_text: text });
  }
  assert.deepEqual((await admit({ timestamp: null })).root, {});
});

test('any timestamp text is either read or kept', async () => {
  const text = fc.oneof(
    fc.string({ unit: anyCodePoint, maxLength: 200 }),
    fc.json({ maxDepth: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (timestamp) => {
      const { batch, refusals, unreadableTimestamps } = await admitText(
        JSON.stringify([{ timestamp }]),
      );
      const isRead = unreadableTimestamps === undefined;
      const roots = rowsOf(batch).map(({ root }) => root);
      const kept = isRead ? {} : { timestamp_text: timestamp };
      assert.deepEqual(roots, refusals.events.length > 0 ? [] : [kept]);
    }),
    { numRuns: runsOf(1000) },
  );
});

test('the timestamp_text of a sender stays where there is no other', async () => {
  const timestamp_text = { its: 'own' };
  for (const timestamp of [undefined, null, NOW_US]) {
    assert.deepEqual((await admit({ timestamp_text, timestamp })).root, { timestamp_text });
  }
  for (const event of [
    { timestamp_text, timestamp: 'soon', a: 1 },
    { timestamp: 'soon', timestamp_text, a: 1 },
  ]) {
    assert.deepEqual((await admit(event)).root, { timestamp_text: 'soon', a: 1 });
  }
});

test('timestamps that cannot be read are counted, those of refused events are not', async () => {
  const unreadableOf = async (events: readonly unknown[]) =>
    (await admitText(JSON.stringify(events))).unreadableTimestamps;
  assert.equal(await unreadableOf([{}, { timestamp: NOW_US }, { timestamp: null }, 7]), undefined);
  const refused = { timestamp: 'never', metadata: 1 };
  const events = [refused, { timestamp: 'soon' }, {}, { timestamp: 5 }, refused];
  assert.deepEqual(await unreadableOf(events), { count: 2, firstText: 'soon' });
  for (const unit of ['a', '\u00e9', '\u20ac', '\ud83d\ude00']) {
    assert.deepEqual(await unreadableOf([{ timestamp: unit.repeat(41) }]), {
      count: 1,
      firstText: unit.repeat(40),
    });
  }
});

test('thousands of timestamps that cannot be read are kept in their places', async () => {
  const events = Array.from({ length: 20_000 }, (_, n) => ({
    n,
    timestamp: n % 3 === 0 ? NOW_US : n % 3 === 1 ? true : `day ${n}`,
  }));
  const { batch, unreadableTimestamps } = await admitText(JSON.stringify(events));
  assert.deepEqual(
    rowsOf(batch).map(({ root }) => root),
    events.map(({ n, timestamp }) =>
      timestamp === NOW_US ? { n } : { n, timestamp_text: String(timestamp) },
    ),
  );
  assert.deepEqual(unreadableTimestamps, { count: 13_333, firstText: 'true' });
});

test('an hour ahead is allowed, a microsecond more is refused', async () => {
  assert.equal((await admit({ timestamp: NOW_US + HOUR_US })).us, HOUR_US);
  assert.equal(
    await refusal({ timestamp: NOW_US + HOUR_US + 1 }),
    'event 0: timestamp must not be more than an hour ahead, 2026-01-15T13:00:00.000Z at the latest; got 2026-01-15T13:00:00.000Z',
  );
});

test('the age of the retention is allowed, a microsecond more is refused', async () => {
  assert.equal((await admit({ timestamp: NOW_US - RETENTION_US })).us, -RETENTION_US);
  assert.equal(
    await refusal({ timestamp: NOW_US - RETENTION_US - 1 }),
    'event 0: timestamp 2025-10-17T11:59:59.999Z is older than the 90 days that RETENTION_DAYS keeps',
  );
});

test('metadata is a map, a list of maps or nothing', async () => {
  assert.deepEqual((await admit({ metadata: {} })).root, { metadata: [{}] });
  assert.deepEqual((await admit({ metadata: [{ a: 1 }, {}] })).root, { metadata: [{ a: 1 }, {}] });
  assert.deepEqual((await admit({ metadata: null })).root, {});
  assert.deepEqual((await admit({ metadata: [] })).root, {});
  for (const [metadata, got] of [
    ['x', 'a string'],
    [1, 'a number'],
    [false, 'a boolean'],
    [[1], 'a list with other values'],
    [[{}, null], 'a list with other values'],
  ] as const) {
    assert.equal(
      await refusal({ metadata }),
      `event 0: metadata must be a map or a list of maps; got ${got}`,
    );
  }
});

test('project is a string, or the text of a number or boolean', async () => {
  assert.equal((await admit({ project: 12 })).key, '12');
  assert.equal((await admit({ project: true })).key, 'true');
  assert.equal((await admit({ project: null })).key, null);
  assert.equal((await admit({ project: '' })).key, '');
  assert.equal(await refusal({ project: {} }), 'event 0: project must be a string; got a map');
  assert.equal(await refusal({ project: [] }), 'event 0: project must be a string; got a list');
});

test('the project key is read from metadata by the rule of the source', async () => {
  const rule = source('metadata', 'project_ref');
  const key = async (metadata: unknown) => (await admit({ project: 'other', metadata }, rule)).key;
  assert.equal(await key({ project_ref: 'p' }), 'p');
  assert.equal(
    await key([{ project_ref: 'p' }, { a: { project_ref: 'q' }, project_ref: 'p' }]),
    'p',
  );
  assert.equal(await key([{ project_ref: 'p' }, { project_ref: 'q' }]), 'MIXED');
  assert.equal(await key([{ project_ref: 'p' }, {}]), 'MIXED');
  assert.equal(await key([{}, { project_ref: 'p' }]), 'MIXED');
  assert.equal(await key([{}, {}]), null);
  assert.equal(await key(undefined), null);
  assert.equal(await key({ project_ref: 5 }), 'MIXED', 'it is read as a text');
  assert.equal(await key({ project_ref: true }), 'MIXED');
  assert.equal(await key({ project_ref: null }), null);
  assert.equal(await key({ project_ref: { project_ref: 'p' } }), null);
});

test('a name in another case counts if there is no exact one, as in queries', async () => {
  const rule = source('metadata', 'project_ref');
  assert.equal((await admit({ metadata: { Project_Ref: 'a', PROJECT_REF: 'b' } }, rule)).key, 'a');
  assert.equal((await admit({ metadata: { Project_Ref: 'a', project_ref: 'b' } }, rule)).key, 'b');
  assert.equal((await admit({ Metadata: { project_ref: 'c' } }, rule)).key, 'c');
  assert.equal(
    (await admit({ metadata: [], METADATA: [{ project_ref: 'c' }, 1] }, rule)).key,
    'MIXED',
  );
});

test('a list on the way to the project is read when it has one element, else the row is mixed', async () => {
  const rule = source('metadata', 'context', 'project');
  const key = async (context: unknown) => (await admit({ metadata: { context } }, rule)).key;
  assert.equal(await key({ project: 'p' }), 'p');
  assert.equal(await key([{ project: 'p' }]), 'p');
  assert.equal(await key([{ project: 'p' }, { project: 'p' }]), 'MIXED');
  assert.equal(await key([{}, {}]), null);
  assert.equal(await key([{ project: 'p' }, 1]), 'MIXED');
  assert.equal(await key('p'), null);
});

test('refused events are named by their place, the others are stored', async () => {
  const { batch, refusals } = await admitText(
    '[{"id":"a"}, 1, {"id":"b","metadata":2}, [], {"id":"c"}]',
  );
  assert.deepEqual(
    rowsOf(batch).map((row) => row.id),
    ['a', 'b', 'c'].filter((id) => id !== 'b'),
  );
  assert.deepEqual(refusalSentences(refusals), [
    'event 1: an event must be an object; got another value',
    'event 2: metadata must be a map or a list of maps; got a number',
    'event 3: an event must be an object; got another value',
  ]);
});

test('the first of many refusals are listed, and the others counted', async () => {
  const count = REFUSALS_LISTED_MAX + 7;
  const { refusals } = await admitText(JSON.stringify(new Array(count).fill(0)));
  assert.equal(refusalSentences(refusals).length, REFUSALS_LISTED_MAX + 1);
  assert.equal(refusals.events.length, count);
  assert.equal(refusalSentences(refusals).at(-1), '… and 7 more events');
});

test('address keys are not stored in an event, unless they are no strings', async () => {
  const { batch } = await admitText('{"source":"s","source_name":"n","collection":{"a":1},"x":1}');
  assert.deepEqual(rowsOf(batch)[0]!.root, { collection: { a: 1 }, x: 1 });
  for (const body of ['[{"source":"s"}]', '{"batch":[{"source":"s"}]}']) {
    assert.deepEqual(rowsOf((await admitText(body)).batch)[0]!.root, { source: 's' });
  }
  const lines = await admitText('{"source":"s"}', source('project'), 'ndjson');
  assert.deepEqual(rowsOf(lines.batch)[0]!.root, { source: 's' });
});

test('strings with escapes, surrogates and large messages arrive as sent', async () => {
  const event_message = `"\u0000\ud83d\ude00 ${'m'.repeat(3_000_000)}\n`;
  const row = await admit({ event_message, project: '\ud800x', metadata: { 'ke\ty': '\udfff' } });
  assert.deepEqual(
    [row.message, row.project, row.root],
    [event_message, '\ud800x', { metadata: [{ 'ke\ty': '\udfff' }] }],
  );
});

test('thousands of events of a body keep their order and their ids differ', async () => {
  const text = JSON.stringify(
    Array.from({ length: 30_000 }, (_, n) => ({ n, metadata: { n, text: `text ${n}` } })),
  );
  const body = await decodeBody([Buffer.from(text)], 'json');
  const { batch } = await admitEvents(body, {
    source: source('project'),
    nowUs: NOW_US,
    retentionUs: RETENTION_US,
    randomId: randomUuids(),
  });
  const rows = rowsOf(batch);
  assert.equal(new Set(rows.map((row) => row.id)).size, 30_000);
  assert.match(
    rows[2_000]!.id,
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.deepEqual(
    rows.map((row) => (row.root as { n: number }).n),
    Array.from({ length: 30_000 }, (_, n) => n),
  );
});

test('the id and time of an event that is a whole body can be ignored', async () => {
  const named = { id: 'mine', timestamp: '2026-01-15T11:00:00Z', event_message: 'm' };
  const admitAnonymous = async (body: unknown) => {
    const { batch } = await admitEvents(
      await decodeBody([Buffer.from(JSON.stringify(body))], 'json'),
      {
        source: source('project'),
        nowUs: NOW_US,
        retentionUs: RETENTION_US,
        randomId: (bytes, offset) => bytes.set(Buffer.from(`${NEW_ID}0`), offset),
        manners: { isSingleAnonymous: true },
      },
    );
    const { id, us, message, root } = rowsOf(batch)[0]!;
    return { id, us, message, root };
  };
  const fresh = { id: `${NEW_ID}0`, us: 0, message: 'm', root: {} };
  assert.deepEqual(await admitAnonymous({ ...named, timestamp: 'soon' }), fresh);
  assert.deepEqual(await admitAnonymous(named), fresh);
  assert.deepEqual(await admitAnonymous({ ...named, timestamp: '1999-01-01T00:00:00Z' }), fresh);
  const kept = { id: 'mine', us: -HOUR_US, message: 'm', root: {} };
  assert.deepEqual(await admitAnonymous([named]), kept);
  assert.deepEqual(await admitAnonymous({ batch: [named] }), kept);
});
