import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { manyBytes, PACKED_POSTS } from './hostile-packings.ts';
import { FRAME_SIZE, many, members, nested, repeated } from './hostile-text.ts';

/** A post whose sender means harm, or is broken. */
export type HostilePost = {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body of about so many bytes before it is packed. */
  readonly body: (size: number) => string | Uint8Array;
  /** How the body is packed; gzip where the case is about what it holds. */
  readonly packing?: 'none' | 'gzip';
  /** How often it is posted at the same time; once unless given. */
  readonly atOnce?: number;
};

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';
const PROTOBUF_TYPE = 'application/x-protobuf';
const TEXT_TYPE = 'text/plain';
const CLOUD_EVENTS_TYPE = 'application/cloudevents-batch+json';

type Body = HostilePost['body'];
type Cases = readonly (readonly [name: string, body: Body])[];

function posts(name: string, path: string, type: string, cases: Cases): readonly HostilePost[] {
  return cases.map(([what, body]) => ({ name: `${name}: ${what}`, path, type, body }));
}

const JSON_CASES: Cases = [
  ['lists in each other', (size) => `[{"a":${nested(size, '[', ']')}}]`],
  ['maps in each other', (size) => `[{"a":${nested(size, '{"a":', '}')}}]`],
  ['maps in lists in each other', (size) => `[{"a":${nested(size, '[{"a":', '}]')}}]`],
  ['lists that do not end', (size) => repeated(size, '[')],
  ['maps that do not end', (size) => repeated(size, '{"a":')],
  ['an event with many keys', (size) => `[{${members(size)}}]`],
  ['metadata with many keys', (size) => `[{"metadata":{${members(size)}}}]`],
  [
    'many events, each with keys of its own',
    (size) => {
      return `[${many(size, (index) => `{${many(8_000 + FRAME_SIZE, (key) => `"${index}x${key}":1`)}}`)}]`;
    },
  ],
  ['one key many times', (size) => `[{${many(size, () => '"a":1')}}]`],
  ['one key of a map many times', (size) => `[{"a":{${many(size, () => '"a":{}')}}}]`],
  [
    'keys that differ at their ends',
    (size) => {
      const start = 'a'.repeat(1_000);
      return `[{${many(size, (index) => `"${start}${index}":1`)}}]`;
    },
  ],
  [
    'names of properties of all objects',
    (size) => {
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then'];
      const event = `{${names.map((name) => `"${name}":{"${name}":"x"}`).join()}}`;
      return `[${many(size, () => event)}]`;
    },
  ],
  ['a string of escapes', (size) => `[{"message":"${repeated(size, '\\u0000')}"}]`],
  ['a key of escapes', (size) => `[{"${repeated(size, '\\"')}":1}]`],
  ['halves of characters', (size) => `[{"message":"${repeated(size, '\\ud800')}"}]`],
  ['a string that does not end', (size) => `[{"message":"${repeated(size, 'a')}`],
  ['a string of backslashes', (size) => `[{"message":"${repeated(size, '\\')}`],
  [
    'bytes that are not UTF-8',
    (size) => {
      return Buffer.concat([
        Buffer.from('[{"a":"'),
        Buffer.alloc(size / 3, 0xff),
        Buffer.from('"}]'),
      ]);
    },
  ],
  ['a number of many digits', (size) => `[{"a":${repeated(size, '7')}}]`],
  ['a fraction of many digits', (size) => `[{"a":0.${repeated(size, '7')}}]`],
  ['an exponent of many digits', (size) => `[{"a":1e${repeated(size, '9')}}]`],
  ['a list of maps that ends in a number', (size) => `[{"a":[${many(size, () => '{}')},1]}]`],
  ['a list of many maps', (size) => `[{"a":[${many(size, () => '{"b":1}')}]}]`],
  ['a list of many numbers', (size) => `[{"a":[${many(size, () => '1')}]}]`],
  ['many empty events', (size) => `[${many(size, () => '{}')}]`],
  ['many values that are no events', (size) => `[${many(size, () => '0')}]`],
  ['many batches', (size) => `{${many(size, () => '"batch":[{}]')}}`],
  ['many addresses', (size) => `{${many(size, () => '"source":"x"')},"a":1}`],
  ['a long address', (size) => `{"source_name":"${repeated(size, 'a')}","a":1}`],
  ['white space', (size) => repeated(size, ' ')],
  [
    'white space around nothing',
    (size) => `${repeated(size / 2, '\n')}[]${repeated(size / 2, '\t')}`,
  ],
  [
    'times that cannot be read',
    (size) => {
      return `[${many(size, () => `{"timestamp":"${'9'.repeat(120)}"}`)}]`;
    },
  ],
  ['a long time that cannot be read', (size) => `[{"timestamp":"${repeated(size, ' 1')}"}]`],
  [
    'metadata of many projects',
    (size) => {
      return `[{"metadata":[${many(size, (index) => `{"project":"${index}"}`)}]}]`;
    },
  ],
  ['long metadata that is none', (size) => `[{"metadata":"${repeated(size, 'm')}"}]`],
  ['a long project', (size) => `[{"project":"${repeated(size, 'p')}"}]`],
  ['a long id', (size) => `[{"id":"${repeated(size, 'p')}"}]`],
];

const LINE_CASES: Cases = [
  ['lines that are not JSON', (size) => repeated(size, 'x\n')],
  ['lines that end early', (size) => repeated(size, '{"a":"b\n')],
  ['lines of nothing', (size) => `${repeated(size, '\n')}{}`],
  ['a line of white space', (size) => repeated(size, ' ')],
  ['a line with many keys', (size) => `{${members(size)}}\n{"a":1}\n`],
];

const TYPECAST_CASES: Cases = [
  [
    'keys times casts',
    (size) => {
      const keys = many(size / 3, (index) => `"k${index}":"1"`);
      const casts = many((size * 2) / 3, (index) => cast(`k${index + 40_000}`));
      return `{"batch":[{"body":{${keys}},"typecasts":[${casts}]}]}`;
    },
  ],
  [
    'casts of one key',
    (size) => {
      const casts = many(size / 2, () => cast('a'));
      const list = many(size / 2, () => '"1"');
      return `{"batch":[{"body":{"a":[${list}]},"typecasts":[${casts}]}]}`;
    },
  ],
  [
    'lists in each other',
    (size) => {
      return `{"batch":[{"body":{"a":${nested(size, '[', ']')}},"typecasts":[${cast('a')}]}]}`;
    },
  ],
  [
    'a long path',
    (size) => {
      const path = many(size, () => '"a"');
      return `{"batch":[{"body":{"a":"1"},"typecasts":[{"path":[${path}],"from":"string","to":"float"}]}]}`;
    },
  ],
  [
    'a string of many digits',
    (size) => {
      return `{"batch":[{"body":{"a":"${repeated(size, '1')}x"},"typecasts":[${cast('a')}]}]}`;
    },
  ],
];

function cast(key: string): string {
  return `{"path":["${key}"],"from":"string","to":"float"}`;
}

const BULK_CASES: Cases = [
  ['actions that are none', (size) => repeated(size, '{"x":{}}\n')],
  ['an action of a long name', (size) => `{"${repeated(size, 'x')}":{}}\n`],
  ['actions of long names', (size) => repeated(size, `{"${'x'.repeat(1_000)}":{}}\n`)],
  ['documents to be deleted', (size) => repeated(size, '{"delete":{"_id":"1"}}\n')],
  [
    'an index for each document',
    (size) => {
      return many(size, (index) => `{"index":{"_index":"i${index}"}}\n{"a":1}\n`, '');
    },
  ],
  ['a long index', (size) => `{"index":{"_index":"${repeated(size, 'i')}"}}\n{"a":1}\n`],
  ['a long id', (size) => `{"index":{"_id":"${repeated(size, 'i')}"}}\n{"a":1}\n`],
  ['lines that are not JSON', (size) => repeated(size, 'x\n')],
  ['actions whose documents are not JSON', (size) => repeated(size, '{"index":{}}\nx\n')],
  ['an action with many keys', (size) => `{"index":{${members(size)}}}\n{"a":1}\n`],
  ['a document with many keys', (size) => `{"index":{}}\n{${members(size)}}\n`],
  ['an action named as a property of all objects', (size) => repeated(size, '{"__proto__":{}}\n')],
];

const LOKI_CASES: Cases = [
  [
    'long labels of many lines',
    (size) => {
      const labels = `{"a":"${'x'.repeat(Math.min(1_000_000, size / 2))}"}`;
      const lines = Array.from({ length: 45 }, () => '["1768478100000000000","x"]').join();
      return `{"streams":[{"stream":${labels},"values":[${lines}]}]}`;
    },
  ],
  [
    'longer labels of fewer lines',
    (size) => {
      const labels = `{"a":"${repeated(size - 200, 'x')}"}`;
      const lines = Array.from({ length: 3 }, () => '["1768478100000000000","x"]').join();
      return `{"streams":[{"stream":${labels},"values":[${lines}]}]}`;
    },
  ],
  [
    'many labels',
    (size) => {
      return `{"streams":[{"stream":{${members(size)}},"values":[["1768478100000000000","x"]]}]}`;
    },
  ],
  [
    'many labels of many lines',
    (size) => {
      const lines = many(size / 2, () => '["1768478100000000000","x"]');
      return `{"streams":[{"stream":{${members(Math.min(size / 2, 40_000))}},"values":[${lines}]}]}`;
    },
  ],
  [
    'many empty streams',
    (size) => `{"streams":[${many(size, () => '{"stream":{},"values":[]}')}]}`,
  ],
  [
    'lists before their labels',
    (size) => {
      return `{"streams":[{${many(size, () => '"values":[["1","x"]]')},"stream":{}}]}`;
    },
  ],
  ['keys that are not known', (size) => `{${members(size)}}`],
  [
    'a label of lists in each other',
    (size) => {
      return `{"streams":[{"stream":{"a":${nested(size, '[', ']')}},"values":[["1768478100000000000","x"]]}]}`;
    },
  ],
  [
    'much of a line',
    (size) => {
      return `{"streams":[{"stream":{},"values":[["1768478100000000000","x",{${members(size)}}]]}]}`;
    },
  ],
];

function otlpRecords(records: string): string {
  return `{"resourceLogs":[{"resource":{},"scopeLogs":[{"logRecords":[${records}]}]}]}`;
}

const OTLP_CASES: Cases = [
  [
    'values in each other',
    (size) => {
      return otlpRecords(`{"body":${nested(size, '{"arrayValue":{"values":[', ']}}', '{}')}}`);
    },
  ],
  ['unknown values in each other', (size) => otlpRecords(`{"x":${nested(size, '{"a":[', ']}')}}`)],
  [
    'many attributes',
    (size) => {
      const attribute = (index: number): string => `{"key":"k${index}","value":{"intValue":"1"}}`;
      return otlpRecords(`{"attributes":[${many(size, attribute)}]}`);
    },
  ],
  [
    'many attributes without a name',
    (size) => {
      return otlpRecords(`{"attributes":[${many(size, () => '{}')}]}`);
    },
  ],
  [
    'many values of a list',
    (size) => {
      return otlpRecords(`{"body":{"arrayValue":{"values":[${many(size, () => '{}')}]}}}`);
    },
  ],
  [
    'attributes of a resource with many records',
    (size) => {
      const attribute = `{"key":"k","value":{"stringValue":"${'x'.repeat(size / 2)}"}}`;
      const records = many(size / 2, () => '{}');
      return `{"resourceLogs":[{"resource":{"attributes":[${attribute}]},"scopeLogs":[{"logRecords":[${records}]}]}]}`;
    },
  ],
  ['many empty records', (size) => otlpRecords(many(size, () => '{}'))],
  ['many empty resources', (size) => `{"resourceLogs":[${many(size, () => '{}')}]}`],
  [
    'an integer of many digits',
    (size) => {
      return otlpRecords(`{"body":{"intValue":"${repeated(size, '1')}"}}`);
    },
  ],
  [
    'one body many times',
    (size) => {
      return otlpRecords(`{${many(size, () => '"body":{"stringValue":"x"}')}}`);
    },
  ],
];

/** A field of a message of Protobuf. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes).finish();
}

function otlpMessage(record: Uint8Array): Uint8Array {
  return field(1, field(2, field(2, record)));
}

const PROTOBUF_CASES: Cases = [
  ['many empty records', (size) => field(1, field(2, manyBytes(size, Buffer.from('1200', 'hex'))))],
  ['many empty resources', (size) => manyBytes(size, Buffer.from('0a00', 'hex'))],
  ['many empty scopes', (size) => field(1, manyBytes(size, Buffer.from('1200', 'hex')))],
  ['many empty attributes', (size) => otlpMessage(manyBytes(size, Buffer.from('3200', 'hex')))],
  ['many empty bodies', (size) => otlpMessage(manyBytes(size, Buffer.from('2a00', 'hex')))],
  ['many unknown fields', (size) => otlpMessage(manyBytes(size, Buffer.from('7801', 'hex')))],
  ['many unknown fields of the request', (size) => manyBytes(size, Buffer.from('7801', 'hex'))],
  [
    'many values of a list',
    (size) => {
      const list = field(5, manyBytes(size, Buffer.from('0a00', 'hex')));
      return otlpMessage(field(5, list));
    },
  ],
  ['groups in each other', (size) => otlpMessage(manyBytes(size, Buffer.from('7b', 'hex')))],
  [
    'values in each other',
    (size) => {
      let value: Uint8Array = new Uint8Array(0);
      for (let level = 0; level < Math.min(1_000, size / 20); level++)
        value = field(5, field(1, value));
      return otlpMessage(field(5, value));
    },
  ],
  ['a length beyond the end', () => Buffer.from('0affffffff0f', 'hex')],
  ['a number that does not end', (size) => manyBytes(size, Buffer.from('ff', 'hex'))],
  [
    'text that is not UTF-8',
    (size) => {
      return otlpMessage(field(5, field(1, manyBytes(size, Buffer.from('ff', 'hex')))));
    },
  ],
];

/** A stream of a push of Loki with these labels, and so many bytes of lines without anything. */
function lokiStream(labels: string, linesSize = 0): Uint8Array {
  const text = field(1, Buffer.from(labels));
  return field(1, Buffer.concat([text, manyBytes(linesSize, Buffer.from('1200', 'hex'))]));
}

const LOKI_PROTOBUF_CASES: Cases = [
  ['many empty lines', (size) => lokiStream('{}', size)],
  ['many empty streams', (size) => manyBytes(size, Buffer.from('0a00', 'hex'))],
  ['many labels', (size) => lokiStream(`{${many(size, (index) => `a${index}="b"`)}}`)],
  ['a label of escapes', (size) => lokiStream(`{a="${repeated(size, '\\n')}"}`)],
  ['a label that does not end', (size) => lokiStream(`{a="${repeated(size, 'x')}`)],
  ['labels of spaces', (size) => lokiStream(`{${repeated(size, ' ')}`)],
  [
    'a long label of many lines',
    (size) => lokiStream(`{a="${repeated(size / 2, 'x')}"}`, size / 2),
  ],
  ['much of a line', (size) => field(1, field(2, manyBytes(size, Buffer.from('1a00', 'hex'))))],
];

const SYSLOG_HEADER = '<13>1 2026-01-15T11:55:00Z host app - - ';

const SYSLOG_CASES: Cases = [
  ['many elements', (size) => SYSLOG_HEADER + repeated(size, '[a]')],
  ['many parameters', (size) => `${SYSLOG_HEADER}[a${repeated(size, ' b="c"')}]`],
  ['an element that does not end', (size) => `${SYSLOG_HEADER}[a b="${repeated(size, 'x')}`],
  ['parameters that do not end', (size) => `${SYSLOG_HEADER}[a${repeated(size, ' b="c"')}`],
  ['a parameter of escapes', (size) => `${SYSLOG_HEADER}[a b="${repeated(size, '\\"')}"] x`],
  ['brackets', (size) => SYSLOG_HEADER + repeated(size, '[')],
  ['a time that does not end', (size) => `<13>1 ${repeated(size, '1')}`],
  ['a header of spaces', (size) => `<13>1 ${repeated(size, ' ')}x`],
  ['a long host of the older form', (size) => `<13>Jan 15 11:55:00 ${repeated(size, 'h')}`],
  ['many tags of the older form', (size) => `<13>Jan 15 11:55:00 h ${repeated(size, 'a[b]: ')}`],
  ['empty frames', (size) => repeated(size, '0 ')],
  ['frames of one byte', (size) => repeated(size, '1 x')],
  ['digits', (size) => repeated(size, '1')],
  ['a frame longer than the body', (size) => `99999999 ${repeated(size, 'x')}`],
  ['empty lines', (size) => `${repeated(size, '\n')}x`],
  ['a line of spaces', (size) => `x${repeated(size, ' ')}x`],
  ['priorities', (size) => repeated(size, '<13>\n')],
  ['bytes that are not UTF-8', (size) => Buffer.alloc(size, 0xff)],
];

/** A delivery of Firehose. */
function delivery(...records: readonly (string | Uint8Array)[]): string {
  const list = records.map((record) => `{"data":"${Buffer.from(record).toString('base64')}"}`);
  return `{"records":[${list.join()}]}`;
}

/** Characters of base64 for three bytes. */
const BASE64_FACTOR = 4 / 3;

const FIREHOSE_CASES: Cases = [
  ['no records', (size) => `{"records":[${many(size, () => '{"data":""}')}]}`],
  ['records without data', (size) => `{"records":[${many(size, () => '{}')}]}`],
  ['lines that begin an object', (size) => delivery(repeated(size / BASE64_FACTOR, '{\n'))],
  ['lines that are no object', (size) => delivery(repeated(size / BASE64_FACTOR, '{a}\n'))],
  ['objects that do not end', (size) => delivery(repeated(size / BASE64_FACTOR, '{"a":'))],
  ['empty objects', (size) => delivery(repeated(size / BASE64_FACTOR, '{}'))],
  ['space', (size) => delivery(gzipSync(Buffer.alloc(Math.min(100 * size, 11_900_000), ' ')))],
  ['too much', (size) => delivery(gzipSync(Buffer.alloc(Math.max(20_000_000, 2 * size))))],
  [
    'small packed records',
    (size) => {
      const data = gzipSync('a').toString('base64');
      return `{"records":[${many(size, () => `{"data":"${data}"}`)}]}`;
    },
  ],
  ['records that are not base64', (size) => `{"records":[${many(size, () => '{"data":"-"}')}]}`],
  ['records that begin as gzip', (size) => `{"records":[${many(size, () => '{"data":"H4s="}')}]}`],
  [
    'a long head of many log events',
    (size) => {
      const half = size / BASE64_FACTOR / 2;
      const owner = repeated(half, 'x');
      const logEvents = many(half, () => '{}');
      return delivery(
        `{"messageType":"DATA_MESSAGE","owner":"${owner}","logEvents":[${logEvents}]}`,
      );
    },
  ],
];

const JOURNAL_TYPE = 'application/vnd.fdo.journal';

const JOURNAL_CASES: Cases = [
  ['one entry of many fields', (size) => repeated(size, 'A=1\n')],
  ['many entries', (size) => repeated(size, 'A=1\n\n')],
  ['empty lines', (size) => repeated(size, '\n')],
  ['names with a length of zero', (size) => repeated(size, `A\n${'\0'.repeat(8)}\n`)],
  ['a value that does not end', (size) => `A\n${'\x7f'.repeat(8)}${repeated(size, 'x')}`],
  ['a name that does not end', (size) => repeated(size, 'A')],
  ['a long value', (size) => `MESSAGE=${repeated(size, '"')}`],
];

const DOCUMENT_CASES: Cases = [
  ['a document with many keys', (size) => `[{${members(size)}}]`],
  ['one message many times', (size) => `[{${many(size, () => '"message":"m"')}}]`],
  ['a long text', (size) => `[{"a":"${repeated(size, '"'.padStart(2, '\\'))}"}]`],
  ['lists in each other', (size) => `[{"a":${nested(size, '[', ']')}}]`],
  ['many documents', (size) => `[${many(size, () => '{}')}]`],
];

const OTHER_POSTS: readonly HostilePost[] = [
  ...posts('elixir', '/logs/elixir/logger', JSON_TYPE, [
    ['metadata with many keys', (size) => `{"batch":[{"metadata":{${members(size)}}}]}`],
    ['metadata many times', (size) => `{"batch":[{${many(size, () => '"metadata":{"a":1}')}}]}`],
  ]),
  ...posts('cloud events', '/logs/cloud-event', CLOUD_EVENTS_TYPE, [
    ['an event with many attributes', (size) => `[{${members(size)}}]`],
    ['data with many keys', (size) => `[{"data":{${members(size)}}}]`],
    ['data many times', (size) => `[{${many(size, () => '"data":[{}]')}}]`],
  ]),
  ...posts('logpush', '/logs/cloudflare', LINES_TYPE, [
    ['a record with many fields', (size) => `{${members(size)}}\n`],
    ['one method many times', (size) => `{${many(size, () => '"ClientRequestMethod":"G"')}}\n`],
    ['lines that are not JSON', (size) => repeated(size, '{\n')],
  ]),
  ...posts('vector', '/logs/vector', LINES_TYPE, [
    ['lines with many keys', (size) => `{${members(size / 2)}}\n{${members(size / 2)}}\n`],
  ]),
  ...posts('GELF', '/gelf', LINES_TYPE, [
    ['a message with many fields', (size) => `{"short_message":"m",${members(size)}}`],
    ['one text many times', (size) => `{${many(size, () => '"short_message":"m"')}}`],
    ['messages without a text', (size) => repeated(size, '{}\n')],
  ]),
  ...posts('document', '/i/_doc', JSON_TYPE, [
    ['many keys', (size) => `{${members(size)}}`],
    ['a long text', (size) => `{"message":"${repeated(size, '\\"')}"}`],
  ]),
];

/** By its name and path, an event of a receiver that holds a value. */
const HOLDERS: readonly (readonly [string, string, string, (value: string) => string])[] = [
  ['bulk', '/_bulk', LINES_TYPE, (value) => `{"index":{}}\n{"a":${value}}\n`],
  ['document', '/i/_doc', JSON_TYPE, (value) => `{"a":${value}}`],
  ['elixir', '/logs/elixir/logger', JSON_TYPE, (value) => `{"batch":[{"metadata":${value}}]}`],
  ['cloud events', '/logs/cloud-event', CLOUD_EVENTS_TYPE, (value) => `[{"data":${value}}]`],
  ['logpush', '/logs/cloudflare', LINES_TYPE, (value) => `{"a":${value}}\n`],
  ['GELF', '/gelf', JSON_TYPE, (value) => `{"short_message":"m","_a":${value}}`],
  ['Datadog', '/api/v2/logs', JSON_TYPE, (value) => `[{"a":${value}}]`],
];

const NESTED_POSTS = HOLDERS.flatMap(([name, path, type, hold]) =>
  posts(name, path, type, [['lists in each other', (size) => hold(nested(size, '[', ']'))]]),
);

/** Bytes of a header that leave room for the others. */
const HEADER_LENGTH = 14_000;

const HEADER_POSTS: readonly HostilePost[] = [
  header('Accept', repeated(HEADER_LENGTH, 'a,'), '0'),
  header('Accept', `application/problem+json;${repeated(HEADER_LENGTH, ' ;')}`, '0'),
  header('Content-Type', `application/json;charset=${' '.repeat(HEADER_LENGTH)}"a"b`),
  header('Content-Type', `application/json${repeated(HEADER_LENGTH, ';')}`),
  header('X-Source', `a${' '.repeat(HEADER_LENGTH)}b`),
  header('X-Request-Id', 'a'.repeat(HEADER_LENGTH)),
  header('Expect', `100-continu${repeated(HEADER_LENGTH, ' 100-')}`),
  header('Cookie', repeated(HEADER_LENGTH, 'a=b;')),
  {
    ...header('Ce-Specversion', '1.0'),
    path: '/logs/cloud-event',
    headers: Object.fromEntries(Array.from({ length: 800 }, (_, index) => [`ce-a${index}`, '%41'])),
  },
];

function header(name: string, value: string, body = '[{"message":"a"}]'): HostilePost {
  return {
    name: `header: ${name} ${value.slice(0, 20)}`,
    path: '/logs',
    type: JSON_TYPE,
    headers: { [name]: value },
    body: () => body,
    packing: 'none',
  };
}

const SPLUNK_CASES: Cases = [
  ['values that are no events', (size) => repeated(size, '1 ')],
  ['events without a separator', (size) => repeated(size, '{"event":1}')],
  ['an index for each event', (size) => many(size, (i) => `{"event":1,"index":"i${i}"}`, '')],
  ['an event with many keys', (size) => `{"event":{${members(size)}}}`],
  ['indexed fields in each other', (size) => `{"event":1,"fields":${nested(size, '{"a":', '}')}}`],
  ['many members named event', (size) => `{${many(size, () => '"event":"a"')}}`],
  ['an event that does not end', (size) => `{"event":${repeated(size, '[')}`],
];

const SPAN_CASES: Cases = [
  [
    'many empty spans',
    (size) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${many(size, () => '{}')}]}]}]}`,
  ],
  ['many empty resources', (size) => `{"resourceSpans":[${many(size, () => '{}')}]}`],
  ['many keys', (size) => `{"resourceSpans":[],${members(size)}}`],
];

const DATA_POINT_CASES: Cases = [
  [
    'many empty data points',
    (size) => {
      const metric = field(7, manyBytes(size, Buffer.from('0a00', 'hex')));
      return field(1, field(2, field(2, metric)));
    },
  ],
  ['many empty metrics', (size) => field(1, field(2, manyBytes(size, Buffer.from('1200', 'hex'))))],
  ['many unknown fields', (size) => manyBytes(size, Buffer.from('7801', 'hex'))],
];

/** Of every receiver, encoding and header of posts. */
export const HOSTILE_POSTS: readonly HostilePost[] = [
  ...posts('JSON', '/logs', JSON_TYPE, JSON_CASES),
  ...posts('lines', '/logs', LINES_TYPE, LINE_CASES),
  ...posts('typecasts', '/logs/typecasts', JSON_TYPE, TYPECAST_CASES),
  ...posts('bulk', '/_bulk', LINES_TYPE, BULK_CASES),
  ...posts('Loki', '/loki/api/v1/push', JSON_TYPE, LOKI_CASES),
  ...posts('Firehose', '/firehose', JSON_TYPE, FIREHOSE_CASES),
  ...posts('journal', '/upload', JOURNAL_TYPE, JOURNAL_CASES),
  ...posts('OTLP', '/v1/logs', JSON_TYPE, OTLP_CASES),
  ...posts('OTLP in Protobuf', '/v1/logs', PROTOBUF_TYPE, PROTOBUF_CASES),
  ...posts('spans', '/v1/traces', JSON_TYPE, SPAN_CASES),
  ...posts('data points', '/v1/metrics', PROTOBUF_TYPE, DATA_POINT_CASES),
  ...posts('Loki in Protobuf', '/loki/api/v1/push', PROTOBUF_TYPE, LOKI_PROTOBUF_CASES),
  ...posts('syslog', '/logs/syslog', TEXT_TYPE, SYSLOG_CASES),
  ...posts('documents', '/logs/json', JSON_TYPE, DOCUMENT_CASES),
  ...posts('Datadog', '/api/v2/logs', JSON_TYPE, [
    ['tags', (size) => `{"ddtags":"${many(size, (index) => `k${index}:v`)}"}`],
    ['commas', (size) => `{"ddtags":"${repeated(size, ',')}"}`],
    ['tags of many logs', (size) => `[${many(size, () => '{"ddtags":"a:b"}')}]`],
  ]),
  ...posts('Datadog lines', '/v1/input', TEXT_TYPE, [
    ['braces', (size) => repeated(size, '{\n')],
    ['empty objects', (size) => repeated(size, '{}\n')],
  ]),
  ...posts('Splunk', '/services/collector/event', JSON_TYPE, SPLUNK_CASES),
  ...posts('Splunk lines', '/services/collector/raw', TEXT_TYPE, [
    ['empty lines', (size) => repeated(size, '\n')],
    ['lines of a space', (size) => repeated(size, ' \n')],
    ['short lines', (size) => repeated(size, 'a\n')],
  ]),
  ...OTHER_POSTS,
  ...NESTED_POSTS,
  ...PACKED_POSTS,
  ...HEADER_POSTS,
];

/** What is sent, with its headers but for the token. */
export function requestOf(
  { type, headers, body, packing = 'gzip' }: HostilePost,
  size: number,
): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly size: number;
} {
  const bytes = Buffer.from(body(size));
  const whole = { 'Content-Type': type, ...headers };
  if (packing === 'none') return { headers: whole, body: bytes, size: bytes.length };
  return {
    headers: { 'Content-Encoding': 'gzip', ...whole },
    body: gzipSync(bytes, { level: 1 }),
    size: bytes.length,
  };
}
