import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { EVENT_FIELDS_MAX } from '../../../ingest/limits.ts';
import { findEntriesEnd, journalExport } from '../../../ingest/wire/journal-export.ts';
import { runsOf } from '../../support/budget.ts';
import { translated } from './translated.ts';

/** A field as the journal exports it if its value is not printable text. */
function binary(name: string, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([Buffer.from(`${name}\n`), size, bytes, Buffer.from('\n')]);
}

async function eventsOf(...parts: readonly (string | Uint8Array)[]): Promise<readonly unknown[]> {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return (await translated(journalExport, body)).events;
}

const HEAD = '__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1768478100000000\nPRIORITY=6\n';

test('fields become the time, the message, the project and metadata', async () => {
  const events = await eventsOf(
    `${HEAD}_SYSTEMD_UNIT=shop.service\nMESSAGE=order=made\nPROJECT=alpha\n\n`,
    `${HEAD}A=1\nA=2\n`,
    binary('MESSAGE', 'first\nsecond\n\nA=3'),
  );
  const head = { __CURSOR: 's=1;i=2', PRIORITY: '6' };
  assert.deepEqual(events, [
    {
      timestamp: '1768478100000000',
      event_message: 'order=made',
      project: 'alpha',
      metadata: { ...head, _SYSTEMD_UNIT: 'shop.service' },
    },
    {
      timestamp: '1768478100000000',
      event_message: 'first\nsecond\n\nA=3',
      metadata: { ...head, A: ['1', '2'] },
    },
  ]);
});

test('an entry without a message has its fields as message, and empty lines are no entries', async () => {
  assert.deepEqual(await eventsOf('\n\nA=1\n\n\n'), [
    { event_message: '{"A":"1"}', metadata: { A: '1' } },
  ]);
  assert.deepEqual(await eventsOf('\n\n'), []);
});

test('values that are not UTF-8 are repaired, and lengths count bytes as sent', async () => {
  const body = Buffer.concat([
    binary('MESSAGE', Buffer.from([0x61, 0xff, 0x62])),
    Buffer.from('A=1\n'),
  ]);
  const { events, isRepaired } = await translated(journalExport, body);
  assert.equal(isRepaired, true);
  assert.deepEqual(events, [{ event_message: 'a\ufffdb', metadata: { A: '1' } }]);
});

test('a body in another form is refused as a whole', async () => {
  const long = Buffer.from('A\n\xff\xff\xff\xff\xff\xff\xff\xffb\n', 'latin1');
  const bodies = [
    '{"MESSAGE":"a"}',
    'message=a\n',
    '=a\n',
    'MESSAGE\n',
    'MESSAGE',
    `${'A'.repeat(65)}=a\n`,
    binary('A', 'abc').subarray(0, -1),
    Buffer.concat([binary('A', 'abc').subarray(0, -1), Buffer.from('B\n')]),
    long,
  ];
  for (const body of bodies) {
    const error = await eventsOf('MESSAGE=a\n\n', body).catch((caught: unknown) => caught);
    assert.ok(error instanceof MalformedBodyError, String(body).slice(0, 50));
    assert.match(error.message, /journal's export format: expected .* at byte \d+/);
  }
});

test('an entry with too many fields is refused by itself', async () => {
  const events = await eventsOf('A=1\n\n', 'A=1\n'.repeat(EVENT_FIELDS_MAX + 1), '\nA=1\n');
  assert.deepEqual(
    events.map((event) => event === null),
    [false, true, false],
  );
});

test('a line without "=" does not make the rest be searched for one', async () => {
  const entry = Buffer.concat([...Array<Buffer>(100).fill(binary('A', '')), Buffer.from('\n')]);
  assert.equal((await eventsOf(Buffer.concat(Array(2_000).fill(entry)))).length, 2_000);
});

test('the end of the last whole entry is found wherever the bytes are cut', () => {
  const entries = [`${HEAD}MESSAGE=a\n\n`, binary('MESSAGE', 'b\n\nc'), '\n', 'D=1\n\n\n'];
  const body = Buffer.concat(entries.map((part) => Buffer.from(part)));
  const [first, second] = [entries[0]!.length, entries[0]!.length + entries[1]!.length + 1];
  const ends = [first, second, second + 5, second + 6];
  for (let size = 0; size <= body.length; size++) {
    const wanted = ends.findLast((end) => end <= size) ?? 0;
    assert.equal(findEntriesEnd(body.subarray(0, size)), wanted, `${size}`);
  }
  assert.equal(findEntriesEnd(Buffer.from('x'.repeat(1_000))), 0);
});

test('any fields come out as they went in', async () => {
  const name = fc.constantFrom('A', 'B_1', '_C', '__D');
  const value = fc.string({ unit: 'grapheme' });
  const entry = fc.uniqueArray(fc.tuple(name, value), { minLength: 1, selector: ([key]) => key });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (entries) => {
      const parts = entries.flatMap((fields) => [
        ...fields.map(([key, text]) => (/\n/.test(text) ? binary(key, text) : `${key}=${text}\n`)),
        '\n',
      ]);
      const events = (await eventsOf(...parts)) as readonly { readonly metadata: object }[];
      assert.deepEqual(
        events.map(({ metadata }) => metadata),
        entries.map((fields) => Object.fromEntries(fields)),
      );
    }),
    { numRuns: runsOf(300) },
  );
});
