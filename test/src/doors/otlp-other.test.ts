import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { PUBLIC, post, withApp } from '../harness.ts';

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';

/** A message with these messages under a field. */
function under(field: number, ...messages: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const message of messages) writer.tag(field, WireType.LengthDelimited).bytes(message);
  return writer.finish();
}

const EMPTY = new Uint8Array(0);

/** Three spans, in two scopes of two resources; one has a name. */
const SPANS = under(
  1,
  under(2, under(2, EMPTY, under(5, Buffer.from('order')))),
  under(2, under(2, EMPTY)),
);
const SPANS_JSON = JSON.stringify({
  resourceSpans: [
    {
      resource: { attributes: [] },
      scopeSpans: [
        {
          scope: { name: 'spans' },
          spans: [{ name: 'order', events: [{}, {}] }, {}],
          schemaUrl: '',
        },
      ],
    },
    { scopeSpans: [{ spans: [{}] }, { spans: null }] },
  ],
});

/** A data point of each kind of metric, and two more. */
const KINDS = [5, 7, 9, 10, 11];
const DATA_POINTS = under(
  1,
  under(
    2,
    under(
      2,
      Buffer.concat([under(1, Buffer.from('name')), under(7, under(1, EMPTY, EMPTY))]),
      ...KINDS.map((kind) => under(kind, under(1, EMPTY))),
    ),
  ),
);
const DATA_POINTS_JSON = JSON.stringify({
  resourceMetrics: [
    {
      scopeMetrics: [
        {
          metrics: [
            { name: 'orders', sum: { dataPoints: [{ asInt: '7' }, {}], isMonotonic: true } },
            ...['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'].map((kind) => ({
              [kind]: { dataPoints: [{ attributes: [] }] },
            })),
          ],
        },
      ],
    },
  ],
});

/** The number and the text of a partial success. */
function partialOf(type: string, member: string, body: Buffer): readonly unknown[] {
  if (type === JSON_TYPE) {
    const { partialSuccess } = JSON.parse(body.toString());
    return [Number(partialSuccess[member]), partialSuccess.errorMessage];
  }
  const outer = new BinaryReader(body);
  assert.deepEqual(outer.tag(), [1, WireType.LengthDelimited]);
  const inner = new BinaryReader(outer.bytes());
  assert.deepEqual(inner.tag(), [1, WireType.Varint]);
  const count = Number(inner.int64());
  assert.deepEqual(inner.tag(), [2, WireType.LengthDelimited]);
  return [count, inner.string()];
}

const REQUESTS = [
  ['/v1/traces', JSON_TYPE, SPANS_JSON, 'rejectedSpans', 3, /discards spans/],
  ['/v1/traces', PROTOBUF, SPANS, 'rejectedSpans', 3, /discards spans/],
  ['/v1/metrics', JSON_TYPE, DATA_POINTS_JSON, 'rejectedDataPoints', 7, /discards data points/],
  ['/v1/metrics', PROTOBUF, DATA_POINTS, 'rejectedDataPoints', 7, /discards data points/],
] as const;

for (const [path, type, body, member, count, reason] of REQUESTS) {
  test(`${path} says once for each connection that ${type} is not stored`, async () => {
    await withApp({}, async ({ port, stored }) => {
      for (let connection = 0; connection < 2; connection++) {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const send = (bytes: string | Uint8Array) => exchange({ port, agent, path, type }, bytes);
        // Nothing is rejected of an empty request.
        assert.equal(
          (await send(type === JSON_TYPE ? '{}' : '')).length,
          type === JSON_TYPE ? 2 : 0,
        );
        const [rejected, message] = partialOf(type, member, await send(body));
        assert.equal(rejected, count);
        assert.match(String(message), /weir stores logs only/);
        assert.match(String(message), reason);
        const later = await send(body);
        assert.equal(later.toString(), type === JSON_TYPE ? '{}' : '');
        agent.destroy();
      }
      assert.deepEqual(stored, []);
    });
  });
}

/** Posts a body, and returns that of the answer, which must be a 200. */
async function exchange(
  to: {
    readonly port: number;
    readonly agent: Agent;
    readonly path: string;
    readonly type: string;
  },
  body: string | Uint8Array,
): Promise<Buffer> {
  const { type, ...options } = to;
  const headers = { 'X-API-KEY': PUBLIC, 'Content-Type': type };
  const sent = request({ host: '127.0.0.1', method: 'POST', headers, ...options }).end(body);
  const [answer] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['content-type'], type);
  return Buffer.concat(chunks);
}

test('spans of a malformed request are refused in the words of the protocol', async () => {
  await withApp({}, async (app) => {
    const bodies = [
      '{"resourceSpans":{}}',
      '{"resourceSpans":[{"scopeSpans":[{"spans":{}}]}]}',
      '{"resourceSpans":[5]}',
      '{"resourceLogs":[]}',
      '{"resourceSpans":[',
    ];
    for (const body of bodies) {
      const { status, json } = await post(app, '/v1/traces', body);
      assert.deepEqual([status, json.code], [400, 3], body);
    }
    const cut = Buffer.from(SPANS.subarray(0, -1));
    const protobuf = await post(app, '/v1/traces', cut, { 'Content-Type': PROTOBUF });
    assert.equal(protobuf.status, 400);
    assert.match(protobuf.text, /ExportTraceServiceRequest/);
    const text = await post(app, '/v1/metrics', 'a', { 'Content-Type': 'text/plain' });
    assert.equal(text.status, 415);
  });
});
