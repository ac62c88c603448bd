import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';
import { must } from '../../engine/assert.ts';
import { pageAt } from '../readme/page.ts';
import { lokiPushBytes } from '../support/loki-push.ts';
import { ServiceUnderTest, TOKEN } from '../support/service-under-test.ts';
import type { Row } from './sender.ts';

/** What a sender that docs/ingest.md configures is documented to post. */
type Post = {
  readonly sender: string;
  /** A text of its configuration only. */
  readonly mark: string;
  /** Finds the path; its groups are joined. */
  readonly path: RegExp;
  /** What the sender adds to the path. */
  readonly suffix: string;
  readonly headers: Readonly<Record<string, string>>;
  /** With one record of this message. */
  readonly body: (message: string) => string | Uint8Array;
  readonly metadata: object;
  /** Whether the body is compressed with Snappy, which no header says; with gzip unless given. */
  readonly isSnappy?: true;
  /** The project, if it is not that of the documents, and the time, if the sender cuts it off. */
  readonly project?: null;
  readonly timestampUs?: number;
};

/** What Logstash and Beats want to know of the answer to a bulk. */
const BULK_SUFFIX = '/_bulk?filter_path=errors,items.*.error,items.*.status';

/** The time of the posted record, one minute before the clock of the service. */
const TIME_NS = 1_768_478_340_123_456_789n;
const TIME_US = 1_768_478_340_123_456;

const OTLP_HEADERS = { 'Content-Type': 'application/x-protobuf' };

const POSTS: readonly Post[] = [
  {
    sender: 'Vector',
    mark: 'sinks:',
    path: /uri: http:\/\/127\.0\.0\.1:4000(\S+)/,
    suffix: '',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Vector/0.62.0' },
    body: (message) =>
      `[{"file":"/var/log/shop.log","host":"host1","message":"${message}","project":"alpha","source_type":"file","timestamp":"2026-01-15T11:59:00.123456789Z"}]`,
    metadata: [{ file: '/var/log/shop.log', host: 'host1', source_type: 'file' }],
  },
  {
    sender: 'the OpenTelemetry Collector',
    mark: 'otlp_http:',
    path: /endpoint: http:\/\/127\.0\.0\.1:4000(\/?)$/m,
    suffix: '/v1/logs',
    headers: {
      ...OTLP_HEADERS,
      'User-Agent': 'OpenTelemetry Collector/0.162.0 (linux/amd64)',
    },
    body: (message) =>
      otlpRequest(message, {
        resource: { 'service.name': 'shop', project: 'alpha' },
        attributes: {},
      }),
    metadata: [{ resource: [{ 'service.name': 'shop', project: 'alpha' }] }],
  },
  {
    sender: 'Fluent Bit',
    mark: 'json_lines',
    path: /uri: (\S+)/,
    suffix: '',
    headers: { 'Content-Type': 'application/x-ndjson', 'User-Agent': 'Fluent-Bit' },
    body: (message) =>
      `{"timestamp":"2026-01-15T11:59:00.123456Z","message":"${message}","project":"alpha"}\n`,
    metadata: [{}],
  },
  {
    sender: 'Alloy',
    mark: 'loki.write "',
    path: /url += "http:\/\/127\.0\.0\.1:4000([^"]*)"/,
    suffix: '',
    headers: {
      'Content-Type': 'application/x-protobuf',
      'User-Agent': 'Alloy/1.16.0 (linux/amd64)',
    },
    isSnappy: true,
    body: (message) => {
      const [seconds, nanos] = [TIME_NS / 1_000_000_000n, Number(TIME_NS % 1_000_000_000n)];
      const lines = [{ seconds, nanos, line: message }];
      return lokiPushBytes([{ labels: '{project="alpha"}', lines }]);
    },
    metadata: [{ labels: [{ project: 'alpha' }] }],
  },
  {
    sender: 'Docker',
    mark: 'splunk-url',
    path: /splunk-url: http:\/\/127\.0\.0\.1:4000(\/?)$/m,
    suffix: '/services/collector/event/1.0',
    headers: { 'Content-Type': '', 'User-Agent': 'Go-http-client/1.1' },
    body: (message) =>
      `{"event":{"line":"${message}","source":"stdout","tag":"0a1b2c","attrs":{"project":"alpha"}},"time":"1768478340.123456","host":"host1","index":"app.logs"}`,
    metadata: [
      {
        host: 'host1',
        event: [{ source: 'stdout', tag: '0a1b2c', attrs: [{ project: 'alpha' }] }],
      },
    ],
    project: null,
  },
  {
    sender: 'Vector to Splunk',
    mark: 'splunk_hec_logs',
    path: /endpoint: http:\/\/127\.0\.0\.1:4000(\/?)$/m,
    suffix: '/services/collector/event',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Vector/0.62.0' },
    body: (message) =>
      `{"event":{"file":"/var/log/shop.log","host":"host1","message":"${message}","project":"alpha"},"fields":{},"time":1768478340.123,"host":"host1","index":"app.logs"}`,
    metadata: [
      { host: 'host1', event: [{ file: '/var/log/shop.log', host: 'host1' }], fields: [{}] },
    ],
    timestampUs: 1_768_478_340_123_000,
  },
  {
    sender: 'Fluent Bit to Splunk',
    mark: 'name: splunk',
    path: /host: 127\.0\.0\.1\s+port: 4000(\/?)$/m,
    suffix: '/services/collector/event',
    headers: { 'Content-Type': '', 'User-Agent': 'Fluent-Bit' },
    body: (message) =>
      `{"time":1768478340.123456,"index":"app.logs","event":{"message":"${message}","project":"alpha","n":1}}`,
    metadata: [{ event: [{ n: 1 }] }],
  },
  {
    sender: 'Logstash',
    mark: 'ilm_enabled',
    path: /path => "(\S+)"/,
    suffix: BULK_SUFFIX,
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'logstash/8.19.0' },
    body: (message) =>
      `{"index":{"_id":null,"_index":"app.logs","routing":null}}\n{"@version":"1","message":"${message}","project":"alpha","@timestamp":"2026-01-15T11:59:00.123456789Z"}\n`,
    metadata: [{ '@version': '1' }],
  },
  {
    sender: 'Filebeat',
    mark: 'filebeat.inputs',
    path: /hosts: \["http:\/\/127\.0\.0\.1:4000(\S+)"\]/,
    suffix: BULK_SUFFIX,
    headers: {
      'Content-Type': 'application/json; charset=UTF-8',
      'User-Agent': 'Elastic-Filebeat/8.19.0 (linux; amd64)',
    },
    body: (message) =>
      `{"index":{"_index":"app.logs"}}\n{"@timestamp":"2026-01-15T11:59:00.123456789Z","project":"alpha","message":"${message}","log":{"offset":0,"file":{"path":"/var/log/shop.log"}},"ecs":{"version":"8.0.0"}}\n`,
    metadata: [
      { log: [{ offset: 0, file: [{ path: '/var/log/shop.log' }] }], ecs: [{ version: '8.0.0' }] },
    ],
  },
  {
    sender: 'the Datadog agent',
    mark: 'logs_dd_url',
    path: /logs_dd_url: 127\.0\.0\.1:4000(\/?)$/m,
    // In place of the default source of its token.
    suffix: '/api/v2/logs?source_name=app.logs',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'datadog-agent/7.60.0' },
    body: (message) =>
      `[{"message":"${message}","status":"info","timestamp":1768478340123,"hostname":"host1","service":"shop","ddsource":"shop","ddtags":"project:alpha,filename:shop.log"}]`,
    metadata: [
      {
        ...{ ddsource: 'shop', ddtags: 'project:alpha,filename:shop.log', hostname: 'host1' },
        ...{ service: 'shop', status: 'info' },
        tags: [{ project: 'alpha', filename: 'shop.log' }],
      },
    ],
    timestampUs: 1_768_478_340_123_000,
  },
];

let service: ServiceUnderTest;

before(async () => {
  service = await ServiceUnderTest.start({ SOURCES: 'app.logs' });
});

after(() => service.stop());

for (const { sender, mark, path, suffix, headers, body, metadata, ...own } of POSTS) {
  const { project = 'alpha', timestampUs = TIME_US, isSnappy = false } = own;
  test(`what ${sender} posts as docs/ingest.md configures it is stored`, async () => {
    const configuration = documented(mark);
    const found = must(path.exec(configuration), `a path in ${configuration}`);
    const message = `order of ${sender}`;
    const whole = Buffer.from(body(message));
    const packed = isSnappy ? Buffer.from(compress(whole)) : gzipSync(whole);
    const answer = await service.ask('POST', `${found[1]}${suffix}`, packed, {
      ...headers,
      ...tokenAndSource(configuration),
      ...(!isSnappy && { 'Content-Encoding': 'gzip' }),
    });
    assert.equal(Math.trunc(answer.status / 100), 2, answer.text);
    assert.deepEqual(await rowsWith(message), [
      { timestamp: timestampUs, event_message: message, project, metadata },
    ]);
  });
}

/** What `journalctl -o json` of systemd 252 writes; a message that is not UTF-8 is a list of bytes. */
const JOURNAL = [
  '{"_HOSTNAME":"host1","SYSLOG_IDENTIFIER":"shop","__REALTIME_TIMESTAMP":"1768478340123456","__CURSOR":"s=cae9;i=1","MESSAGE":"order\\n\\"7\\" ab","_PID":"77","PRIORITY":"3","__MONOTONIC_TIMESTAMP":"1","_BOOT_ID":"0123456789abcdef0123456789abcdef","_SYSTEMD_UNIT":"shop.service"}',
  '{"__CURSOR":"s=cae9;i=2","__REALTIME_TIMESTAMP":"1768478341123456","__MONOTONIC_TIMESTAMP":"2","MESSAGE":[255,97,98]}',
];

const missing = ['jq', 'curl'].filter((program) => spawnSync(program, ['--version']).error);

test('the line of docs/ingest.md that follows the systemd journal stores its entries', {
  skip: missing.length > 0 && `install ${missing.join(' and ')}`,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-journal-'));
  try {
    const journalctl = join(folder, 'journalctl');
    await writeFile(journalctl, `#!/bin/sh\ncat <<'END'\n${JOURNAL.join('\n')}\nEND\n`);
    await chmod(journalctl, 0o755);
    const line = documented('journalctl').replace('http://127.0.0.1:4000', service.url);
    const env = { PATH: `${folder}:${process.env['PATH']}`, PUBLIC_ACCESS_TOKEN: TOKEN };
    const { stderr } = await promisify(execFile)('sh', ['-c', line], { env });
    assert.equal(stderr, '');
    assert.deepEqual(await rowsWith('ab'), [
      {
        timestamp: TIME_US,
        event_message: 'order\n"7" ab',
        project: 'alpha',
        metadata: [
          {
            priority: 3,
            unit: 'shop.service',
            identifier: 'shop',
            host: 'host1',
            pid: '77',
          },
        ],
      },
      {
        timestamp: TIME_US + 1_000_000,
        event_message: 'ÿab',
        project: 'alpha',
        metadata: [{ priority: 6, unit: null, identifier: null, host: null, pid: null }],
      },
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The block of docs/ingest.md that contains a text. */
function documented(mark: string): string {
  const blocks = pageAt('docs/ingest.md').blocks.filter(({ text }) => text.includes(mark));
  assert.equal(blocks.length, 1, mark);
  return blocks[0]!.text;
}

/** The headers that a configuration sets, with the token of the service. */
function tokenAndSource(configuration: string): Readonly<Record<string, string>> {
  if (/splunk.token: |default_token: /.test(configuration)) {
    return { 'X-API-KEY': '', Authorization: `Splunk ${TOKEN}` };
  }
  if (/^api_key: …/m.test(configuration)) return { 'X-API-KEY': '', 'DD-API-KEY': TOKEN };
  const [, user] = /\buser(?:name)?\W+(\w+)/.exec(configuration) ?? [];
  if (user !== undefined) {
    assert.match(configuration, /password\W+…/);
    return { 'X-API-KEY': '', Authorization: `Basic ${btoa(`${user}:${TOKEN}`)}` };
  }
  assert.match(configuration, /X-API-KEY\W+…/);
  const [, source] = /X-Source\W+([\w.]+)/.exec(configuration) ?? [];
  return { 'X-API-KEY': TOKEN, ...(source === undefined ? {} : { 'X-Source': source }) };
}

/** The stored events whose message ends in a text. */
async function rowsWith(end: string): Promise<readonly Partial<Row>[]> {
  const sql =
    'SELECT t.timestamp, t.event_message, t.project, t.metadata FROM `app.logs` AS t WHERE ENDS_WITH(t.event_message, @end) ORDER BY t.timestamp';
  const question = JSON.stringify({ sql, parameters: { end } });
  const answer = await service.ask('POST', '/api/query', question);
  assert.equal(answer.status, 200, answer.text);
  return (JSON.parse(answer.text) as { readonly result: readonly Partial<Row>[] }).result;
}

/** An `ExportLogsServiceRequest` with one record. Go writes an empty scope, and flags as 0. */
function otlpRequest(
  message: string,
  parts: {
    readonly resource: Readonly<Record<string, string>>;
    readonly attributes: Readonly<Record<string, string>>;
  },
): Uint8Array {
  const record = new BinaryWriter().tag(1, WireType.Bit64).fixed64(TIME_NS);
  record.tag(5, WireType.LengthDelimited).bytes(text(message));
  for (const bytes of pairs(parts.attributes)) {
    record.tag(6, WireType.LengthDelimited).bytes(bytes);
  }
  record.tag(11, WireType.Bit64).fixed64(TIME_NS);
  const resource = new BinaryWriter();
  for (const bytes of pairs(parts.resource)) {
    resource.tag(1, WireType.LengthDelimited).bytes(bytes);
  }
  const scopeLogs = nested([1, new Uint8Array()], [2, record.finish()]);
  return nested([1, nested([1, resource.finish()], [2, scopeLogs])]);
}

function pairs(values: Readonly<Record<string, string>>): readonly Uint8Array[] {
  return Object.entries(values).map(([key, value]) =>
    nested([1, Buffer.from(key)], [2, text(value)]),
  );
}

/** An `AnyValue` that is a string. */
function text(value: string): Uint8Array {
  return nested([1, Buffer.from(value)]);
}

function nested(...fields: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, bytes] of fields) writer.tag(number, WireType.LengthDelimited).bytes(bytes);
  return writer.finish();
}
