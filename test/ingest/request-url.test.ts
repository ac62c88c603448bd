import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AdmissionManners, admitEvents } from '../../ingest/admission.ts';
import { HOST_LENGTH_MAX } from '../../ingest/limits.ts';
import { decodeBody } from '../../ingest/post-body.ts';
import { randomUuids } from '../../ingest/random-id.ts';
import { BUILT_IN_SOURCES, type Source } from '../../ingest/source.ts';
import { plain, readRoot } from './token-reader.ts';

const EDGE = BUILT_IN_SOURCES.find(({ name }) => name === 'cloudflare.logs.prod')!;
const MANNERS: AdmissionManners = { requestUrlSource: EDGE.name };
const NOW_US = 1_768_478_400_000_000;

type Options = { readonly source?: Source; readonly manners?: AdmissionManners | undefined };

/** The root records of the events as JSON, so that the order of keys counts. */
async function roots(events: readonly unknown[], options: Options = {}): Promise<string[]> {
  const body = await decodeBody([Buffer.from(JSON.stringify(events))], 'json');
  const { batch } = await admitEvents(body, {
    source: options.source ?? EDGE,
    nowUs: NOW_US,
    retentionUs: NOW_US,
    randomId: randomUuids(),
    manners: 'manners' in options ? options.manners : MANNERS,
  });
  return Array.from({ length: batch.rowCount }, (_, row) =>
    JSON.stringify(plain(readRoot(batch, batch.tokenStarts[row]!, batch.slotStarts[row]!))),
  );
}

/** What `metadata.request.url` of an event becomes. */
async function urlOf(request: object, project: unknown = 'default'): Promise<unknown> {
  const [root] = await roots([{ metadata: { request }, project }]);
  return JSON.parse(root!).metadata[0].request.url;
}

test('a request of a gateway gets the URL of its project, last among its fields', async () => {
  const request = {
    headers: { referer: null },
    path: '/rest/v1/todos?select=*',
    protocol: 'HTTP/1.1',
  };
  const event = { appname: 'kong', metadata: { request, response: { status_code: 200 } }, z: 1 };
  assert.deepEqual(await roots([{ ...event, project: 'default' }]), [
    JSON.stringify({
      appname: 'kong',
      metadata: [
        {
          request: { ...request, url: 'http://default/rest/v1/todos?select=*' },
          response: { status_code: 200 },
        },
      ],
      z: 1,
    }),
  ]);
});

test('protocol and host of the request take precedence over those of a gateway', async () => {
  const path = '/a';
  assert.equal(await urlOf({ path, host: 'x.example.co' }), 'http://x.example.co/a');
  for (const protocol of ['https', 'https:', 'HTTPS/2', 'Https']) {
    assert.equal(await urlOf({ path, protocol }), 'https://default/a');
  }
  for (const protocol of ['http', 'HTTP/2.0', 'httpsx', 'ftp', '', 1, null]) {
    assert.equal(await urlOf({ path, protocol }), 'http://default/a');
  }
  assert.equal(await urlOf({ path: 'a b' }), 'http://default/a b');
  assert.equal(await urlOf({ path: '' }), 'http://default/');
  assert.equal(await urlOf({ path: '/ü"\\' }, 'päth"'), 'http://päth"/ü"\\');
});

test('a request with a URL, or with too little for one, is not changed', async () => {
  const path = '/a';
  const longest = 'h'.repeat(HOST_LENGTH_MAX);
  assert.equal(await urlOf({ path }, longest), `http://${longest}/a`);
  const unchanged = [
    [{ path, url: 'u' }, 'p'],
    [{ path, url: null }, 'p'],
    [{ path, URL: 'u' }, 'p'],
    [{ path: 1 }, 'p'],
    [{}, 'p'],
    [{ path }, null],
    [{ path }, ''],
    [{ path }, `${longest}h`],
  ] as const;
  for (const [request, project] of unchanged) {
    assert.deepEqual(await roots([{ metadata: { request }, project }]), [
      JSON.stringify({ metadata: [{ request }] }),
    ]);
  }
  for (const metadata of [[{ request: { path } }, {}], { request: [{ path }, { path }] }]) {
    const list = Array.isArray(metadata) ? metadata : [metadata];
    assert.deepEqual(await roots([{ metadata, project: 'p' }]), [
      JSON.stringify({ metadata: list }),
    ]);
  }
});

test('without the option, and for other sources, nothing is added', async () => {
  const event = { metadata: { request: { path: '/a' } }, project: 'p' };
  const sent = [JSON.stringify({ metadata: [event.metadata] })];
  assert.deepEqual(await roots([event], { manners: undefined }), sent);
  assert.deepEqual(await roots([event], { source: BUILT_IN_SOURCES[1]! }), sent);
  assert.notDeepEqual(await roots([event]), sent);
});

/** The rule again, over objects. */
function completed(event: Event): object {
  const list = Array.isArray(event.metadata) ? event.metadata : [event.metadata];
  const [only] = list;
  const { request } = only ?? {};
  const records = Array.isArray(request) ? request : [request];
  const record = records[0] as Record<string, unknown> | undefined;
  const isOne = list.length === 1 && records.length === 1 && typeof record === 'object';
  if (!isOne || record === null || typeof record['path'] !== 'string') return { metadata: list };
  if (Object.keys(record).some((key) => key.toLowerCase() === 'url')) return { metadata: list };
  const given = record['host'];
  const host = typeof given === 'string' && given !== '' ? given : event.project;
  if (host === undefined || host === '') return { metadata: list };
  const scheme = /^https(?:[:/]|$)/i.test(String(record['protocol'])) ? 'https' : 'http';
  const path = record['path'].startsWith('/') ? record['path'] : `/${record['path']}`;
  const full = { ...record, url: `${scheme}://${host}${path}` };
  const put = Array.isArray(request) ? [full] : full;
  const metadata = Object.entries(only!).map(([key, value]) => [
    key,
    key === 'request' ? put : value,
  ]);
  return { metadata: [Object.fromEntries(metadata)] };
}

type Metadata = { readonly [key: string]: unknown };
type Event = { readonly metadata: Metadata | readonly Metadata[]; readonly project?: string };

test('events of any form, many in one body, are completed as the rule over objects says', async () => {
  const text = fc.constantFrom('', '/a', 'b', 'https', 'HTTPS:', 'x.co', 'é"\n', '/rest/v1?x=1');
  const scalar = fc.oneof(text, fc.constantFrom(null, 1, true, 1.5), fc.constant([]));
  const request = fc
    .uniqueArray(
      fc.tuple(fc.constantFrom('path', 'host', 'protocol', 'url', 'URL', 'method', 'q'), scalar),
      { selector: ([key]) => key, maxLength: 6 },
    )
    .map((entries) => Object.fromEntries(entries));
  const requests = fc.oneof(request, fc.array(request, { minLength: 1, maxLength: 2 }), scalar);
  const metadata = fc
    .tuple(fc.dictionary(fc.constantFrom('a', 'response'), request), requests, fc.boolean())
    .map(([others, own, isFirst]) =>
      isFirst ? { request: own, ...others } : { ...others, request: own },
    );
  const event = fc.record(
    {
      metadata: fc.oneof(metadata, fc.array(metadata, { minLength: 1, maxLength: 2 })),
      project: text,
    },
    { requiredKeys: ['metadata'] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 5 }), async (events) => {
      const wanted = events.map((each) => JSON.stringify(completed(each as Event)));
      assert.deepEqual(await roots(events), wanted);
    }),
    { seed: 11, numRuns: 1000 },
  );
});
