import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { MalformedBodyError } from '../../../ingest/ingest-error.ts';
import { otlpProtobuf } from '../../../ingest/wire/otlp-protobuf.ts';
import { translated } from './translated.ts';

type Field = (writer: BinaryWriter) => BinaryWriter;

/** A message of these fields, in this order. */
function message(...fields: readonly Field[]): Uint8Array {
  return fields.reduce((writer, field) => field(writer), new BinaryWriter()).finish();
}

const bytes =
  (number: number, value: Uint8Array): Field =>
  (writer) =>
    writer.tag(number, WireType.LengthDelimited).bytes(value);
const text =
  (number: number, value: string): Field =>
  (writer) =>
    writer.tag(number, WireType.LengthDelimited).string(value);
const int64 =
  (number: number, value: bigint): Field =>
  (writer) =>
    writer.tag(number, WireType.Varint).int64(value.toString());
const fixed64 =
  (number: number, value: bigint): Field =>
  (writer) =>
    writer.tag(number, WireType.Bit64).fixed64(value.toString());
const double =
  (number: number, value: number): Field =>
  (writer) =>
    writer.tag(number, WireType.Bit64).double(value);

/** A `KeyValue` under field 6 or 1, whose value is one field of an `AnyValue`. */
function attribute(number: number, key: string, value: Field): Field {
  return bytes(number, message(text(1, key), bytes(2, message(value))));
}

const RESOURCE = message(attribute(1, 'service.name', text(1, 'shop')));
const SCOPE = message(text(1, 'app'), text(2, '1.0'), attribute(3, 'team', text(1, 'shop')));

function requestOf(...records: readonly Uint8Array[]): Uint8Array {
  const scopeLogs = message(bytes(1, SCOPE), ...records.map((record) => bytes(2, record)));
  // A field that is not known to us stands in between.
  return message(bytes(1, message(bytes(1, RESOURCE), text(99, 'x'), bytes(2, scopeLogs))));
}

const ORIGIN = {
  resource: { 'service.name': 'shop' },
  scope: { name: 'app', version: '1.0', attributes: { team: 'shop' } },
};

test('a log record of OTLP in protobuf is an event with its resource and scope', async () => {
  const record = message(
    fixed64(1, 1768478100123456789n),
    int64(2, 9n),
    text(3, 'INFO'),
    bytes(5, message(text(1, 'hello'))),
    attribute(6, 'big', int64(3, -9223372036854775808n)),
    attribute(6, 'ok', (writer) => writer.tag(2, WireType.Varint).bool(true)),
    attribute(6, 'share', double(4, 0.5)),
    attribute(6, 'none', double(4, Number.NaN)),
    attribute(6, 'raw', bytes(7, Buffer.from('bytes'))),
    attribute(6, 'list', bytes(5, message(bytes(1, message(text(1, 'a'))), bytes(1, message())))),
    attribute(6, 'map', bytes(6, message(attribute(1, 'x', text(1, 'y'))))),
    bytes(9, Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')),
    bytes(10, Buffer.from('eee19b7ec3c1b174', 'hex')),
    (writer) => writer.tag(8, WireType.Bit32).fixed32(0x0101),
    fixed64(11, 1n),
  );
  const { events } = await translated(otlpProtobuf, requestOf(record, message()));
  assert.deepEqual(events, [
    {
      timestamp: '1768478100123456789',
      event_message: 'hello',
      metadata: {
        severity_number: 9,
        severity_text: 'INFO',
        trace_id: '5b8efff798038103d269b633813fc60c',
        span_id: 'eee19b7ec3c1b174',
        flags: 0x0101,
        attributes: {
          big: Number('-9223372036854775808'),
          ok: true,
          share: 0.5,
          none: 'NaN',
          raw: 'Ynl0ZXM=',
          list: ['a', null],
          map: { x: 'y' },
        },
        ...ORIGIN,
      },
    },
    { metadata: ORIGIN },
  ]);
});

test('a message that is cut off or has a wrong type is refused', async () => {
  const whole = requestOf(message(text(3, 'INFO')));
  for (const broken of [whole.subarray(0, -1), requestOf(message(int64(1, 5n)))]) {
    await assert.rejects(translated(otlpProtobuf, broken), MalformedBodyError);
  }
});

test('strings that are not UTF-8 are repaired, keys too', async () => {
  const bad = Buffer.from([0x61, 0xe2, 0x82, 0x62]);
  const pair = message(bytes(1, bad), bytes(2, message(bytes(1, bad))));
  const record = message(bytes(3, bad), bytes(5, message(bytes(1, bad))), bytes(6, pair));
  const { events, isRepaired } = await translated(otlpProtobuf, requestOf(message(), record));
  assert.equal(isRepaired, true);
  assert.deepEqual(events[1], {
    event_message: 'a\ufffdb',
    metadata: { severity_text: 'a\ufffdb', attributes: { 'a\ufffdb': 'a\ufffdb' }, ...ORIGIN },
  });
  assert.equal(
    (await translated(otlpProtobuf, requestOf(message(text(3, '\ufffd'))))).isRepaired,
    false,
  );
});

test('any bytes are read or refused without another error', async () => {
  const record = requestOf(message(text(3, 'INFO'), attribute(6, 'k', int64(3, 5n))));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc
          .tuple(fc.nat(record.length - 1), fc.nat(255))
          .map(([at, byte]) => record.map((old, index) => (index === at ? byte : old))),
      ),
      async (body) => {
        await translated(otlpProtobuf, body).catch((error: unknown) => {
          assert(error instanceof MalformedBodyError, String(error));
        });
      },
    ),
    { numRuns: 2_000 },
  );
});
