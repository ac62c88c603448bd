import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { HOSTILE_POSTS } from '../../bench/workload/hostile-posts.ts';
import { must } from '../../engine/assert.ts';
import type { Batch } from '../../engine/column/batch.ts';
import {
  type DecodingBounds,
  DecodingThread,
  type DecodingThreadOptions,
} from '../../ingest/decoding-thread.ts';
import { BodyLimitError, MalformedBodyError, OverloadError } from '../../ingest/ingest-error.ts';
import { DECODING_NICE } from '../../ingest/limits.ts';
import { MemoryPool } from '../../ingest/memory-pool.ts';
import {
  type DecodingOptions,
  LocalDecoding,
  type PostDecoding,
  type PostedBody,
} from '../../ingest/post-decoding.ts';
import { BUILT_IN_SOURCES } from '../../ingest/source.ts';
import { journalExport } from '../../ingest/wire/journal-export.ts';
import type { WireFormat } from '../../ingest/wire/wire-format.ts';
import { DATADOG_DOORS } from '../../src/doors/datadog-door.ts';
import {
  ELASTICSEARCH_DOCUMENT_DOOR,
  ELASTICSEARCH_DOOR,
} from '../../src/doors/elasticsearch-door.ts';
import { FIREHOSE_DOOR } from '../../src/doors/firehose-door.ts';
import { GELF_DOOR } from '../../src/doors/gelf-door.ts';
import { LOGFLARE_DOORS } from '../../src/doors/logflare-doors.ts';
import { LOKI_DOOR } from '../../src/doors/loki-door.ts';
import { OTLP_DOOR } from '../../src/doors/otlp-door.ts';
import { otlpOtherDoor } from '../../src/doors/otlp-other-door.ts';
import { createSplunkDoors } from '../../src/doors/splunk-door.ts';
import { NO_NICE_VALUES, niceValues } from '../support/nice-values.ts';
import { moduleUrl } from '../support/program-words.ts';
import { countedIds } from './counted-ids.ts';

const MEBIBYTE = 1024 * 1024;
const NOW_US = Date.parse('2026-01-15T12:00:00Z') * 1000;
const BOUNDS: DecodingBounds = {
  heapBytesMax: 64 * MEBIBYTE,
  newObjectsBytesMax: 12 * MEBIBYTE,
  loanBytesMax: 64 * MEBIBYTE,
};
const OPTIONS = {
  retentionUs: 7 * 86_400_000_000,
  manners: { isSingleAnonymous: true, requestUrlSource: 'cloudflare.logs.prod' },
};
const SOURCES = BUILT_IN_SOURCES.slice(0, 3);

type Reader = ReadonlyMap<string, WireFormat<unknown>>;

/** How the bodies of each path are read, by their media types; `/logs` has forms of ours. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['/v1/logs', OTLP_DOOR.formats],
  ['/v1/traces', otlpOtherDoor('traces', () => {}).formats],
  ['/v1/metrics', otlpOtherDoor('metrics', () => {}).formats],
  ['/loki/api/v1/push', LOKI_DOOR.formats],
  ['/firehose', FIREHOSE_DOOR.formats],
  ['/gelf', GELF_DOOR.formats],
  ['/upload', new Map([['application/vnd.fdo.journal', journalExport]])],
  ['/_bulk', ELASTICSEARCH_DOOR.formats],
  ...Array.from(DATADOG_DOORS, ([path, { formats }]) => [path, formats] as const),
  ...Array.from(createSplunkDoors(0), ([path, { formats }]) => [path, formats] as const),
  ['/logs-2026/_doc/7', ELASTICSEARCH_DOCUMENT_DOOR.formats],
  ['/i/_doc', ELASTICSEARCH_DOCUMENT_DOOR.formats],
  ...Array.from(LOGFLARE_DOORS, ([path, { formats }]) => [`/logs${path}`, formats] as const),
]);

function postedAt(path: string, mediaType: string, body: string | Uint8Array): PostedBody {
  // Two pieces, as bodies come.
  const bytes = Buffer.from(body);
  const pieces = [bytes.subarray(0, 1), bytes.subarray(1)];
  if (path === '/logs') return { pieces, format: mediaType.endsWith('ndjson') ? 'ndjson' : 'json' };
  const format = must(READERS.get(path)?.get(mediaType), `${path} takes ${mediaType}`);
  const headers = { 'ce-type': 'a' };
  const query = new Map([['host', ['h']]]);
  return { pieces, format, mediaType, headers, query, documentId: '7', nowUs: NOW_US };
}

const OTHER_BODIES: readonly (readonly [path: string, mediaType: string, body: string])[] = [
  ['/logs', 'application/json', '[{"id":"a","timestamp":"never","project":"p"},7,{"metadata":3}]'],
  ['/logs', 'application/json', '{"batch":[{"a":1}],"collection":"c","source_name":""}'],
  ['/logs', 'application/json', '{"timestamp":1,"message":"alone"}'],
  ['/logs', 'application/x-ndjson', '{"a":[{"b":{}}]}\nnone\n{"a":1e999}\n'],
  [
    '/_bulk',
    'application/x-ndjson',
    '{"index":{"_index":"a"}}\n{"m":1}\n{"create":{}}\n[]\n{"index":{"_index":"b","_id":"7"}}\n{}\n{"delete":{}}\n',
  ],
  ['/v1/traces', 'application/json', '{"resourceSpans":[{"scopeSpans":[{"spans":[{},{}]}]}]}'],
  ['/logs/cloud-event', 'application/json', '{"message":"attributes are in headers"}'],
  ['/upload', 'application/vnd.fdo.journal', 'MESSAGE=a\n\nA\n\x02\0\0\0\0\0\0\0bc\n'],
  ['/firehose', 'application/json', '{"records":[{"data":"e30="},{"data":"e30"},{"data":"/w=="}]}'],
  [
    '/services/collector',
    'application/json',
    '{"event":"a","index":"b"}{"event":{"message":"c","n":[1]},"fields":{"project":"p"}} {"event":""}7',
  ],
  ['/services/collector/raw', 'text/plain', 'the host is in the query\n\nb'],
  ['/logs-2026/_doc/7', 'application/json', '{"message":"the id is in the path"}'],
];

const BODIES: readonly (readonly [name: string, posted: PostedBody])[] = [
  ...HOSTILE_POSTS.map(({ name, path, type, body }): readonly [string, PostedBody] => [
    name,
    postedAt(path, type, body(2_000)),
  ]),
  ...[...READERS].flatMap(([path, formats]) =>
    Array.from(formats.keys(), (type): readonly [string, PostedBody] => [
      `bytes that are not UTF-8, ${path} ${type}`,
      postedAt(path, type, Buffer.from('{"a":"\xff","batch":[{"body":{"b":"\xfe"}}]}\n', 'latin1')),
    ]),
  ),
  ...OTHER_BODIES.map(([path, type, body]): readonly [string, PostedBody] => [
    body,
    postedAt(path, type, body),
  ]),
];

/** All that a decoding gives, with copies of its batches. Addresses are for the sources by turns. */
async function outcomeOf(decoding: PostDecoding, projects?: readonly string[]): Promise<unknown> {
  try {
    const contents = await decoding.begin();
    const admitted: unknown[] = [];
    for (const [index, source] of SOURCES.entries()) {
      const addresses = [...contents.addresses.keys()].filter(
        (address) => address % SOURCES.length === index,
      );
      if (addresses.length === 0) continue;
      const target = { source, nowUs: NOW_US, projects, addresses };
      const { batch, ...others } = await decoding.admit(target);
      admitted.push({ ...others, batch: contentOf(batch) });
    }
    // What is undefined may be left out.
    return { contents: { ...contents, notes: JSON.stringify(contents.notes) }, admitted };
  } catch (error) {
    return { name: (error as Error).name, message: (error as Error).message };
  } finally {
    decoding.end();
  }
}

/** What rows of a batch refer to, as texts, which are compared fast; arrays hold anything behind it. */
function contentOf(batch: Batch): unknown {
  const { rowCount, bytes, keys, keyCount, tokens, tokenStarts, slots, slotStarts } = batch;
  const row = (array: Float64Array): string => array.subarray(0, rowCount).join();
  return {
    bytes: Buffer.from(bytes).toString('latin1'),
    keys: keys.subarray(0, keyCount).join(),
    tokens: tokens.subarray(0, tokenStarts[rowCount]).join(),
    tokenStarts: tokenStarts.subarray(0, rowCount + 1).join(),
    slots: slots.subarray(0, slotStarts[rowCount]).join(),
    slotStarts: slotStarts.subarray(0, rowCount + 1).join(),
    columns: [batch.ids, batch.timestampsUs, batch.messages, batch.projects].map(row),
    projectKeys: batch.projectKeys === batch.projects ? 'projects' : row(batch.projectKeys),
  };
}

/** Works with a thread whose ids are counted, and ends it. */
async function withThread(
  options: Partial<DecodingThreadOptions>,
  work: (thread: DecodingThread) => Promise<void>,
): Promise<void> {
  const workerUrl = moduleUrl('./counting-decoding-worker.ts', import.meta.url);
  const thread = new DecodingThread({ ...OPTIONS, bounds: BOUNDS, workerUrl, ...options });
  try {
    await work(thread);
  } finally {
    await thread.close();
  }
}

const json = (value: unknown): PostedBody => ({
  pieces: [Buffer.from(JSON.stringify(value))],
  format: 'json',
});

const FIRST = { source: must(SOURCES[0]), nowUs: NOW_US, addresses: [0] };

test('the decoding thread lets the main thread go first', { skip: NO_NICE_VALUES }, async () => {
  await withThread({}, async (thread) => {
    const decoding = thread.decoding(json([{ event_message: 'a' }]));
    await decoding.begin();
    decoding.end();
    ok(niceValues().includes(DECODING_NICE));
  });
});

test('a body of any format has the same batches, answers, refusals and ids when the thread decodes it', async () => {
  const local: DecodingOptions = { ...OPTIONS, ...countedIds(), pool: new MemoryPool(0) };
  const kinds = new Set<string>();
  await withThread({}, async (thread) => {
    for (const [index, [name, posted]] of BODIES.entries()) {
      const projects = index % 3 === 0 ? ['p'] : undefined;
      const here = await outcomeOf(new LocalDecoding(posted, local), projects);
      deepEqual(await outcomeOf(thread.decoding(posted), projects), here, name);
      kinds.add(Object.keys(here as object).join());
    }
  });
  deepEqual([...kinds].sort(), ['contents,admitted', 'name,message']);
});

test('the worker module of the service decodes like that of the tests, with random ids', async () => {
  const thread = new DecodingThread({ ...OPTIONS, bounds: BOUNDS });
  const decoding = thread.decoding(json([{ message: 'a' }, { message: 'b' }]));
  try {
    await decoding.begin();
    const { batch } = await decoding.admit(FIRST);
    equal(batch.rowCount, 2);
    match(Buffer.from(batch.bytes).toString(), /[0-9a-f]{8}-[0-9a-f]{4}-4/);
  } finally {
    decoding.end();
    await thread.close();
  }
});

test('bodies of several senders are decoded interleaved, each with its own result', async () => {
  await withThread({}, async (thread) => {
    const decodings = ['a', 'b', 'c'].map((id) => thread.decoding(json([{ id }])));
    await Promise.all(decodings.map((decoding) => decoding.begin()));
    const admitted = await Promise.all(decodings.map((decoding) => decoding.admit(FIRST)));
    for (const decoding of decodings) decoding.end();
    deepEqual(
      admitted.map(({ batch }) => Buffer.from(batch.bytes).toString('latin1', 0, 11)),
      ['[{"id":"a"}', '[{"id":"b"}', '[{"id":"c"}'],
    );
  });
});

test('the call of a disconnected sender is dropped at its turn, and the thread continues', async () => {
  await withThread({}, async (thread) => {
    let isGone = false;
    const first = thread.decoding(json([{}]));
    const left = thread.decoding(json([{}]), () => isGone);
    const begun = first.begin();
    const dropped = left.begin();
    isGone = true;
    await begun;
    await rejects(dropped, MalformedBodyError);
    left.end();
    equal((await first.admit(FIRST)).batch.rowCount, 1);
    first.end();
  });
});

test('a body whose arrays are too large is refused, and the next is decoded in the same thread', async () => {
  const bounds = { ...BOUNDS, loanBytesMax: 256 * 1024 };
  const lost: Error[] = [];
  await withThread({ bounds, onLost: (error) => lost.push(error) }, async (thread) => {
    const large = thread.decoding(json(Array.from({ length: 50_000 }, () => ({}))));
    await rejects(large.begin(), BodyLimitError);
    large.end();
    const small = thread.decoding(json([{}]));
    await small.begin();
    equal((await small.admit(FIRST)).batch.rowCount, 1);
    small.end();
  });
  deepEqual(lost, []);
});

test('a body that fills the heap is refused, others must be sent again, and the next starts a new thread', async () => {
  const bounds = { ...BOUNDS, heapBytesMax: 20 * MEBIBYTE, newObjectsBytesMax: 3 * MEBIBYTE };
  const lost: Error[] = [];
  await withThread({ bounds, onLost: (error) => lost.push(error) }, async (thread) => {
    const begun = thread.decoding(json([{}]));
    await begun.begin();
    const lines = Array.from({ length: 450_000 }, () => '["1","x"]').join();
    const body = `{"streams":[{"stream":{"a":"b"},"values":[${lines}]}]}`;
    const large = thread.decoding(postedAt('/loki/api/v1/push', 'application/json', body));
    await rejects(large.begin(), (error) => {
      ok(error instanceof BodyLimitError);
      match(error.message, /^a body may fill 20 MiB of heap while it is decoded; this one/);
      return true;
    });
    large.end();
    await rejects(begun.admit(FIRST), OverloadError);
    begun.end();
    const next = thread.decoding(json([{}]));
    await next.begin();
    equal((await next.admit(FIRST)).batch.rowCount, 1);
    next.end();
  });
  equal(lost.length, 1);
});

test('the thread starts with the first body and ends when it has been idle for a while', async () => {
  await withThread({ idleMsMax: 1 }, async (thread) => {
    equal(thread.isRunning, false);
    const decoding = thread.decoding(json([{}]));
    await decoding.begin();
    equal(thread.isRunning, true);
    decoding.end();
    while (thread.isRunning) await new Promise((resolve) => setTimeout(resolve, 1));
    const next = thread.decoding(json([{}]));
    await next.begin();
    equal((await next.admit(FIRST)).batch.rowCount, 1);
    next.end();
  });
});

test('a stop ends the thread within a body, and later bodies are refused', async () => {
  await withThread({}, async (thread) => {
    const body = json(Array.from({ length: 200_000 }, () => ({ a: 1 })));
    const underWay = thread.decoding(body);
    const begun = underWay.begin();
    await Promise.all([rejects(begun, OverloadError), closedSoon(thread)]);
    underWay.end();
    const late = thread.decoding(body);
    await rejects(late.begin(), OverloadError);
    late.end();
    equal(thread.isRunning, false);
  });
});

/** Closes the thread once it has started. */
async function closedSoon(thread: DecodingThread): Promise<void> {
  while (!thread.isRunning) await new Promise((resolve) => setImmediate(resolve));
  await thread.close();
}
