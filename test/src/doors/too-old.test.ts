import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { must } from '../../../engine/assert.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

/** An event of the year before in one sender's format, and the answer to it. */
type Post = {
  readonly path: string;
  readonly type?: string;
  readonly body: string;
  readonly status: number;
};

const OLD = '2025-01-15T12:00:00Z';
const OLD_S = '1736942400';
const SOURCE = '?source_name=postgres.logs';
const EVENT = JSON.stringify({ message: 'a', timestamp: OLD });

const POSTS: readonly Post[] = [
  { path: `/api/logs${SOURCE}`, body: EVENT, status: 406 },
  { path: `/logs/json${SOURCE}`, body: EVENT, status: 406 },
  {
    path: `/logs/syslog${SOURCE}`,
    type: 'text/plain',
    body: `<13>1 ${OLD} host app - - - a\n`,
    status: 406,
  },
  {
    path: `/logs/cloud-event${SOURCE}`,
    type: 'application/cloudevents+json',
    body: JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 'a', time: OLD }),
    status: 406,
  },
  {
    path: `/logs/cloudflare${SOURCE}`,
    body: JSON.stringify({ EdgeStartTimestamp: OLD }),
    status: 406,
  },
  {
    path: `/logs/elixir/logger${SOURCE}`,
    body: JSON.stringify({ batch: [{ message: 'a', timestamp: OLD }] }),
    status: 406,
  },
  {
    path: '/loki/api/v1/push',
    body: JSON.stringify({ streams: [{ stream: {}, values: [[`${OLD_S}000000000`, 'a']] }] }),
    status: 400,
  },
  {
    path: `/gelf${SOURCE}`,
    body: JSON.stringify({ short_message: 'a', timestamp: Number(OLD_S) }),
    status: 406,
  },
  {
    path: '/services/collector/event',
    body: JSON.stringify({ event: 'a', time: Number(OLD_S) }),
    status: 400,
  },
  {
    path: '/logs-2026/_doc',
    body: JSON.stringify({ message: 'a', '@timestamp': OLD }),
    status: 400,
  },
  { path: '/api/v2/logs', body: EVENT, status: 400 },
  // These report it inside the answer: in an item, in `partialSuccess`, in `errorMessage`, and in a line.
  {
    path: '/upload',
    type: 'application/vnd.fdo.journal',
    body: `__REALTIME_TIMESTAMP=${OLD_S}000000\nMESSAGE=a\n`,
    status: 202,
  },
  {
    path: `/firehose${SOURCE}`,
    body: JSON.stringify({ records: [{ data: Buffer.from(EVENT).toString('base64') }] }),
    status: 200,
  },
  {
    path: '/_bulk',
    type: 'application/x-ndjson',
    body: `{"index":{}}\n${JSON.stringify({ message: 'a', '@timestamp': OLD })}\n`,
    status: 200,
  },
  {
    path: '/v1/logs',
    body: JSON.stringify({
      resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: `${OLD_S}000000000` }] }] }],
    }),
    status: 200,
  },
];

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ RETENTION_DAYS: '7' });
});

after(() => service.stop());

for (const { path, type, body, status } of POSTS) {
  const [door] = path.split('?');
  test(`${door} refuses an event older than the retention and names RETENTION_DAYS`, async () => {
    const answer = await service.ask('POST', path, body, {
      'Content-Type': type ?? 'application/json',
    });
    assert.equal(answer.status, status, answer.text);
    const [sentence] = must(/timestamp 2025-[^"]*/.exec(answer.text), answer.text);
    assert.equal(
      sentence,
      'timestamp 2025-01-15T12:00:00.000Z is older than the 7 days that RETENTION_DAYS keeps',
    );
  });
}

test('a retention of one day is in the singular', async () => {
  const short = await ServiceUnderTest.start({ RETENTION_DAYS: '1' });
  try {
    const answer = await short.ask('POST', `/api/logs${SOURCE}`, EVENT);
    assert.match(answer.text, /is older than the 1 day that RETENTION_DAYS keeps/);
  } finally {
    await short.stop();
  }
});
