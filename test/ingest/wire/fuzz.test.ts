import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { cloudEvents } from '../../../ingest/wire/cloud-events.ts';
import { datadogLines, datadogLogs } from '../../../ingest/wire/datadog.ts';
import { documentLines, documents } from '../../../ingest/wire/documents.ts';
import { elasticsearchBulk } from '../../../ingest/wire/elasticsearch-bulk.ts';
import { elasticsearchDocument } from '../../../ingest/wire/elasticsearch-document.ts';
import { elixirLogger } from '../../../ingest/wire/elixir-logger.ts';
import { firehose } from '../../../ingest/wire/firehose.ts';
import { gelf } from '../../../ingest/wire/gelf.ts';
import { journalExport } from '../../../ingest/wire/journal-export.ts';
import { logpush } from '../../../ingest/wire/logpush.ts';
import { lokiPush } from '../../../ingest/wire/loki-push.ts';
import { otlpDataPointsJson, otlpSpansJson } from '../../../ingest/wire/otlp-counts.ts';
import { otlpJson } from '../../../ingest/wire/otlp-json.ts';
import { splunkEvents } from '../../../ingest/wire/splunk-hec.ts';
import { typecasts } from '../../../ingest/wire/typecasts.ts';
import type { WireFormat } from '../../../ingest/wire/wire-format.ts';
import { runsOf } from '../../support/budget.ts';
import { anyCodePoint } from '../../support/code-point.ts';
import { translated } from './translated.ts';

const SAMPLES: readonly (readonly [name: string, format: WireFormat<unknown>, body: string])[] = [
  [
    'Loki',
    lokiPush,
    '{"streams":[{"values":[["1","a"],["2","b",{"c":1}]],"stream":{"d":"e","project":"p"}}]}',
  ],
  [
    'Elasticsearch',
    elasticsearchBulk,
    '{"index":{"_index":"a","_id":"1"}}\n{"message":"m","x":[1,{}]}\n{"delete":{}}\n',
  ],
  ['a document of Elasticsearch', elasticsearchDocument, '{"@timestamp":"t","message":"m"}'],
  [
    'OTLP',
    otlpJson,
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"kvlistValue":{"values":[{"key":"k","value":{"intValue":"5"}}]}}}],"scope":{"name":"n"}}],"resource":{"attributes":[{"key":"a","value":{"arrayValue":{"values":[{"doubleValue":0.5}]}}}]}}]}',
  ],
  [
    'spans',
    otlpSpansJson,
    '{"resourceSpans":[{"scopeSpans":[{"spans":[{},{"name":"n"}]},{"scope":{}}]},{}]}',
  ],
  [
    'data points',
    otlpDataPointsJson,
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[{}]}},{"gauge":null}]}]}]}',
  ],
  ['Logpush', logpush, '{"ClientRequestMethod":"GET","Timestamp":1}\n\n{"a":[]}\n'],
  ['documents', documents, '[{"timestamp":"t","message":"m","a":{"b":null}},{}]'],
  ['lines of documents', documentLines, '{"timestamp":"t","message":"m"}\n\n{"a":{"b":null}}\n'],
  [
    'typecasts',
    typecasts,
    '{"batch":[{"body":{"a":[{"b":"1.5"}]},"typecasts":[{"path":["a","b"],"from":"string","to":"float"}]},{}]}',
  ],
  [
    'Elixir',
    elixirLogger,
    '{"batch":[{"level":"l","message":"m","metadata":{"project":"p","context":{"line":1}},"timestamp":"t"},{"metadata":[]}],"source":"s"}',
  ],
  [
    'Firehose',
    firehose,
    // The records are {"messageType":"DATA_MESSAGE","logEvents":[{"message":"a"}]} and b.
    '{"requestId":"r","timestamp":1,"records":[{"data":"eyJtZXNzYWdlVHlwZSI6IkRBVEFfTUVTU0FHRSIsImxvZ0V2ZW50cyI6W3sibWVzc2FnZSI6ImEifV19"},{"data":"Yg=="}]}',
  ],
  ['GELF', gelf, '{"short_message":"a","timestamp":1.5,"_k":{}}\n{"short_message":"b"}'],
  [
    'Splunk',
    splunkEvents,
    '{"time":1.5,"host":"h","event":{"message":"m","n":[1,{}]},"fields":{"project":"p"}}{"event":"a","index":"i"} {"event":5}',
  ],
  ['the journal', journalExport, 'MESSAGE=a\nB=1\n\nC\n\x01\0\0\0\0\0\0\0d\n\n'],
  [
    'Datadog',
    datadogLogs,
    '[{"message":"m","ddtags":"a:b,project:p","timestamp":1},{"date":"d","ddtags":[],"a":{"b":null}}]',
  ],
  ['lines of Datadog', datadogLines, '{"message":"m","ddtags":"a:b"}\n\ntext\n{"a":[]}'],
  ['CloudEvents', cloudEvents, '{"id":"1","data":{"message":"m"}}'],
];

/** A body with one byte changed, left out or put in, or cut off. */
function mutated(body: string): fc.Arbitrary<string> {
  const sign = fc.constantFrom(...'{}[]",:0-9ent\\ \n\u0000é');
  return fc.tuple(fc.nat(body.length), fc.nat(2), sign).map(([at, removed, added]) => {
    return body.slice(0, at) + added + body.slice(at + removed);
  });
}

for (const [name, format, sample] of SAMPLES) {
  test(`any body like one of ${name} becomes events that are JSON, or is refused`, async () => {
    await translated(format, sample);
    await fc.assert(
      fc.asyncProperty(mutated(sample), async (body) => {
        await translated(format, body).catch((error: unknown) => {
          assert(error instanceof MalformedBodyError, String(error));
        });
      }),
      { numRuns: runsOf(1_000) },
    );
  });
}

test('all members of a document that are not extracted are its metadata, unchanged', async () => {
  const names = ['id', 'timestamp', 'message', 'event_message', 'project', '__proto__'];
  const object = fc.dictionary(
    fc.string({ unit: anyCodePoint }).filter((key) => !names.includes(key)),
    fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }),
  );
  await fc.assert(
    fc.asyncProperty(object, fc.constantFrom(0, 1, 2), async (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const { events } = await translated(documents, text);
      assert.deepEqual((events[0] as { metadata: unknown }).metadata, JSON.parse(text) as unknown);
    }),
    { numRuns: runsOf(500) },
  );
});
