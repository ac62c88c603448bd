import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { EVENT_FIELDS_MAX } from '../../../ingest/limits.ts';
import { syslog } from '../../../ingest/wire/syslog.ts';
import { translated } from './translated.ts';

const TEXT = { mediaType: 'text/plain' };

test('messages of RFC 5424 are read with their header and their data', async () => {
  const body = [
    '<165>1 2026-01-15T11:55:00.003Z web-1 app 4242 ID47 [a@1 k="v" q="say \\"hi\\" \\]"][b@1] \ufeffhello world',
    '<34>1 - - - - - - plain',
    '',
  ].join('\n');
  const { events } = await translated(syslog, body, TEXT);
  assert.deepEqual(events, [
    {
      timestamp: '2026-01-15T11:55:00.003Z',
      event_message: 'hello world',
      metadata: {
        facility: 'local4',
        severity: 'notice',
        priority: 165,
        hostname: 'web-1',
        app_name: 'app',
        proc_id: '4242',
        msg_id: 'ID47',
        structured_data: { 'a@1': { k: 'v', q: 'say "hi" ]' }, 'b@1': {} },
      },
    },
    { event_message: 'plain', metadata: { facility: 'auth', severity: 'crit', priority: 34 } },
  ]);
});

test('a backslash is removed before an escaped character and kept before others, however many there are', async () => {
  const [before, after] = ['\\\\ \\] \\x ü\\" € ', '\\ ] \\x ü" € '];
  const body = `<34>1 - - - - - [a b="${before.repeat(3_000)}"]`;
  const { events } = await translated(syslog, body, TEXT);
  const [{ metadata }] = events as readonly [
    { readonly metadata: { readonly structured_data: unknown } },
  ];
  assert.deepEqual(metadata.structured_data, { a: { b: after.repeat(3_000) } });
});

test('a time without a year is in the nearest one', async () => {
  const body = '<13>Dec 31 23:59:59 web-1 cron[7]: late\n<13>Jan  2 03:04:05 web-1 started\n';
  const { events } = await translated(syslog, body, TEXT);
  const metadata = { facility: 'user', severity: 'notice', priority: 13, hostname: 'web-1' };
  assert.deepEqual(events, [
    {
      timestamp: '2025-12-31T23:59:59.000Z',
      event_message: 'late',
      metadata: { ...metadata, app_name: 'cron', proc_id: '7' },
    },
    { timestamp: '2026-01-02T03:04:05.000Z', event_message: 'started', metadata },
  ]);
});

test('frames with a length may hold lines, and those of Logplex have no structured data', async () => {
  const frames = [
    '<40>1 2026-01-15T11:55:00+00:00 host app web.3 - State changed\nfrom starting to up',
    '<40>1 2026-01-15T11:55:01+00:00 host heroku router - [a] at=info',
  ];
  const body = frames.map((frame) => `${Buffer.byteLength(frame)} ${frame}`).join('');
  const { events } = await translated(syslog, body, { mediaType: 'application/logplex-1' });
  assert.deepEqual(
    events.map((event) => (event as { event_message: string }).event_message),
    ['State changed\nfrom starting to up', '[a] at=info'],
  );
});

test('a text without a known header is a message as a whole', async () => {
  const { events } = await translated(syslog, 'just words\n<999>x\n<13>odd\n', TEXT);
  assert.deepEqual(events, [
    { event_message: 'just words' },
    { event_message: '<999>x' },
    {
      event_message: 'odd',
      metadata: { facility: 'user', severity: 'notice', priority: 13 },
    },
  ]);
});

test('a frame that is cut off is refused', async () => {
  await assert.rejects(translated(syslog, '50 <13>1 short', TEXT), MalformedBodyError);
});

test('invalid UTF-8 is repaired, and frame lengths count the bytes as sent', async () => {
  const frames = ['5 <13>', [0xff], '5 <13>', [0xc3], '6 <13>ok\n'].map((part) =>
    Buffer.from(part),
  );
  const { events, isRepaired } = await translated(syslog, Buffer.concat(frames), TEXT);
  assert.equal(isRepaired, true);
  assert.deepEqual(
    events.map((event) => (event as { event_message: string }).event_message),
    ['\ufffd', '\ufffd', 'ok'],
  );
  const cut = Buffer.concat([Buffer.from([0xe2, 0x82]), Buffer.from('\nb')]);
  assert.deepEqual((await translated(syslog, cut, TEXT)).events, [
    { event_message: '\ufffd' },
    { event_message: 'b' },
  ]);
});

test('any text is read or refused, in a time that grows with its length', async () => {
  const part = fc.constantFrom('<13>', '1 ', '- ', '[a', ' k="', '\\"', '"]', '\n', 'x', '40 ');
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 60 }), async (parts) => {
      await translated(syslog, parts.join(''), TEXT).catch((error: unknown) => {
        assert(error instanceof MalformedBodyError, String(error));
      });
    }),
    { numRuns: 1_000 },
  );
  const hostile = `<13>1 - - - - - [${'a b="'.repeat(100_000)}\n`;
  assert.equal((await translated(syslog, hostile, TEXT)).events.length, 1);
});

const HEADER = '<13>1 - host app - - ';

test('structured data of any size is read, or the message refused by itself', async () => {
  const message = async (text: string): Promise<unknown> => {
    const { events } = await translated(syslog, `${HEADER}${text}\n${HEADER}- last`, TEXT);
    assert.equal(events.length, 2);
    return (events[0] as { readonly event_message?: string } | null)?.event_message;
  };
  // What is no element begins the message, however long it is.
  const long = 'x'.repeat(3_000_000);
  assert.equal(await message(`[a b="${long}`), `[a b="${long}`);
  assert.equal(await message(`[a][b c="${long}"] m`), 'm');
  assert.equal(await message(`[a][b c="d]"] m`), '[b c="d]"] m');
  const parameters = ' b="c"'.repeat(EVENT_FIELDS_MAX - 1);
  assert.equal(await message(`[a${parameters}] m`), 'm');
  assert.equal(await message(`[a${parameters} b="c"] m`), undefined);
  assert.equal(await message('[a]'.repeat(EVENT_FIELDS_MAX + 1)), undefined);
});
