import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_FIELDS_MAX } from '../../../ingest/limits.ts';
import { gelf } from '../../../ingest/wire/gelf.ts';
import { translated } from './translated.ts';

async function eventsOf(body: string): Promise<readonly unknown[]> {
  return (await translated(gelf, body)).events;
}

const MESSAGE = {
  version: '1.1',
  host: 'web-1',
  short_message: 'order made',
  full_message: 'order made\nby 7',
  timestamp: 1_768_478_100.123,
  level: 6,
  _order: 7,
  _project: 'alpha',
  _host: 'another',
  other: null,
};

const EVENT = {
  timestamp: 1_768_478_100.123,
  event_message: 'order made',
  project: 'alpha',
  metadata: {
    version: '1.1',
    host: 'web-1',
    full_message: 'order made\nby 7',
    level: 6,
    order: 7,
    _host: 'another',
    other: null,
  },
};

test('a message is an event, and additional fields lose their underscore', async () => {
  assert.deepEqual(await eventsOf(JSON.stringify(MESSAGE)), [EVENT]);
});

test('a message may have several lines, or several messages one each', async () => {
  const line = JSON.stringify(MESSAGE);
  assert.deepEqual(await eventsOf(`\n${JSON.stringify(MESSAGE, null, 2)}\n`), [EVENT]);
  assert.deepEqual(await eventsOf(`${line}\n\n${line}`), [EVENT, EVENT]);
  assert.deepEqual(await eventsOf('\n \n'), []);
});

test('the digits of a time are kept', async () => {
  const { events } = await translated(
    gelf,
    '{"short_message":"a","timestamp":"1768478100.123456"}',
  );
  assert.deepEqual(events, [{ event_message: 'a', timestamp: '1768478100.123456', metadata: {} }]);
});

test('a line that is no message is refused by itself, and alone it is a 400', async () => {
  const members = Array.from({ length: EVENT_FIELDS_MAX }, (_, index) => `"k${index}":1`).join();
  const wrong = [
    '{}',
    '{"short_message":7}',
    '{"cut":',
    'text',
    `{"short_message":"a",${members}}`,
  ];
  const good = '{"short_message":"a"}';
  for (const line of wrong) {
    const events = await eventsOf(`${good}\n${line}\n${good}`);
    assert.deepEqual(
      events.map((event) => event === null),
      [false, true, false],
      line.slice(0, 50),
    );
    await assert.rejects(eventsOf(line), /short_message|is not JSON|keys/, line.slice(0, 50));
  }
});
