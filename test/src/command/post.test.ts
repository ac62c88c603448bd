import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FileEvents } from '../../../src/command/file-events.ts';
import { planRetry } from '../../../src/command/post-command.ts';
import { type Ended, runWeir } from '../../support/command-under-test.ts';
import { ServiceUnderTest, TOKEN } from '../../support/service-under-test.ts';

const SOURCE = 'postgres.logs';

let folder: string;
let service: ServiceUnderTest;
let definitionCount = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-post-'));
  service = await ServiceUnderTest.start({ PUBLIC_ACCESS_TOKEN: 'a-public-token' });
});

after(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function post(
  words: readonly string[],
  input?: string | Uint8Array,
  url = service.url,
): Promise<Ended> {
  const environment = { PRIVATE_ACCESS_TOKEN: TOKEN };
  return runWeir(['post', ...words, '--url', url], {
    environment,
    ...(input !== undefined && { input }),
  });
}

/** The stored events of this project, by a number in their metadata. */
async function storedOf(project: string): Promise<unknown> {
  definitionCount += 1;
  const name = `stored-${definitionCount}`;
  const query = `SELECT m.n FROM \`${SOURCE}\` AS t CROSS JOIN UNNEST(t.metadata) AS m WHERE t.project = '${project}' ORDER BY m.n`;
  await service.ask('POST', '/api/endpoints', JSON.stringify({ name, query, max_rows: 100_000 }));
  const { text } = await service.ask('GET', `/api/endpoints/${name}`);
  return JSON.parse(text.replaceAll(/(\d{16,})/g, '"$1"')).result.map(({ n }: { n: unknown }) => n);
}

function eventOf(project: string, n: number | string): string {
  return `{"project":"${project}","metadata":{"n":${n}}}`;
}

test('files of lines, of a list and of consecutive values are posted alike', async () => {
  const [one, two] = [1, 2].map((n) => eventOf('P', n)) as [string, string];
  const pretty = (text: string): string => JSON.stringify(JSON.parse(text), null, 2);
  const forms = [
    `${one}\n${two}\n`,
    `\ufeff${one}\r\n\r\n${two}`,
    `[${one},${two}]`,
    `  [\n  ${pretty(one)},\n  ${pretty(two)}\n]\n`,
    `{"batch": [${one}, ${two}]}`,
    `{\n  "batch" : [${one}, ${two}]\n}\n`,
    `${pretty(one)}\n${pretty(two)}\n`,
    `{"project": "P",\n "metadata": {"n": 1}} ${two}`,
  ];
  for (const [index, form] of forms.entries()) {
    const project = `form-${index}`;
    const posted = await post(['-', '--source', SOURCE], form.replaceAll('"P"', `"${project}"`));
    assert.deepEqual(posted, { status: 0, out: '2 events stored\n', err: '' }, form);
    assert.deepEqual(await storedOf(project), [1, 2], form);
  }
});

test('digits and bytes are posted unchanged', async () => {
  const file = join(folder, 'events.ndjson');
  await writeFile(file, `${eventOf('digits', '9007199254740993')}\n`);
  assert.equal((await post([file, '--source', SOURCE])).status, 0);
  assert.deepEqual(await storedOf('digits'), ['9007199254740993']);
  const bytes = Buffer.concat([
    Buffer.from('{"project":"bytes","event_message":"'),
    Buffer.of(0xff),
    Buffer.from('"}'),
  ]);
  const { status, err } = await post(['-', '--source', SOURCE], bytes);
  assert.deepEqual([status, err.slice(0, 30)], [0, 'line 1: bytes that are not UTF']);
});

test('each refused event is reported with its position, and all others are stored', async () => {
  const lines = [eventOf('refused', 1), 'no JSON', '', '[]', eventOf('refused', 2)];
  const { status, out, err } = await post(['-', '--source', SOURCE], lines.join('\n'));
  assert.deepEqual([status, out], [1, '2 events stored\n']);
  assert.match(err, /^line 2: .+\nline 4: .+\n2 events refused\n$/);
  assert.deepEqual(await storedOf('refused'), [1, 2]);
  const many = `[${Array.from({ length: 150 }, () => '7').join()},${eventOf('refused', 3)}]`;
  const listed = await post(['-', '--source', SOURCE], many);
  assert.deepEqual([listed.status, listed.out], [1, '1 event stored\n']);
  assert.match(listed.err, /^event 1: .+\nevent 2: /);
  assert.match(listed.err, /\n… and 50 more events\n150 events refused\n$/);
});

test('a file of many events is sent in several requests without loss', async () => {
  const events = Array.from({ length: 25_000 }, (_, n) => eventOf('many', n));
  const { status, out, err } = await post(['-', '--source', SOURCE], events.join('\n'));
  assert.deepEqual([status, out, err], [0, '25,000 events stored\n', '']);
  const stored = (await storedOf('many')) as readonly number[];
  assert.ok(stored.every((n, index) => n === index));
  assert.equal(stored.length, 25_000);
});

test('truncated input is refused or reported', async () => {
  const cut = await post(['-', '--source', SOURCE], `[${eventOf('cut', 1)},{"project":`);
  assert.deepEqual([cut.status, cut.out], [1, '0 events stored\n']);
  assert.match(cut.err, /the list of events must end with \]; got the end of the file/);
  const more = await post(['-', '--source', SOURCE], '[] []');
  assert.match(more.err, /nothing may follow the list of events; got more/);
  const long = await post(['-', '--source', SOURCE], 'x'.repeat(12_000_001));
  assert.match(long.err, /a post has at most 12000000 bytes; line 1 has more/);
});

test('arguments that post nothing are usage errors', async () => {
  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [[], 2, /^post must be followed by one file, or - for standard input; got nothing/],
    [['-'], 2, /--source must name the source; got none/],
    [['-', 'source=a'], 2, /did you mean --source=VALUE\?/],
    [['-', '--source', 'postgres.log'], 1, /did you mean postgres\.logs\?/],
    [
      [join(folder, 'none.json'), '--source', SOURCE],
      1,
      /must be a file that can be read: there is no such file or folder/,
    ],
    [[folder, '--source', SOURCE], 1, /must be a file that can be read: it is a folder/],
  ];
  for (const [words, expected, message] of wrong) {
    const { status, err } = await post(words, '{}');
    assert.equal(status, expected, words.join(' '));
    assert.match(err, message);
  }
  const environment = {};
  const { err } = await runWeir(['post', '-', '--url', service.url], { environment, input: '{}' });
  assert.match(err, /PUBLIC_ACCESS_TOKEN or PRIVATE_ACCESS_TOKEN must hold a token/);
});

test('the token for posts takes precedence', async () => {
  const environment = { PUBLIC_ACCESS_TOKEN: 'a-public-token', PRIVATE_ACCESS_TOKEN: 'none' };
  const words = ['post', '-', '--source', SOURCE, '--url', service.url];
  const { status } = await runWeir(words, { environment, input: eventOf('public', 1) });
  assert.equal(status, 0);
});

test('a partly refused post shows what the service says of the events it stored', async () => {
  const lines = [eventOf('warned', 1), '7', '{"metadata":{"n":2}}'];
  const { status, out, err } = await post(['-', '--source', SOURCE], lines.join('\n'));
  assert.deepEqual([status, out], [1, '2 events stored\n']);
  assert.match(err, /^line 2: .+\nlines 1 to 3: 1 event names no project: .+\n1 event refused\n$/);
});

test('a line that is not JSON is named by its place in the file', async () => {
  const { err } = await post(['-', '--source', SOURCE], `${eventOf('named', 1)}\n\n{"a"`);
  assert.match(err, /^line 3: not JSON: expected .+\n1 event refused\n$/);
});

/** A service that refuses this many requests before it accepts one, with an immediate retry. */
async function withRefusals(
  count: number,
  work: (url: string) => Promise<void>,
): Promise<readonly string[]> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      bodies.push(Buffer.concat(pieces).toString());
      if (bodies.length > count) {
        response.end('{"message":"Logged!"}');
        return;
      }
      const code = 'ingest_overloaded';
      response.writeHead(429, {
        'Content-Type': 'application/problem+json',
        'Retry-After': '0',
      });
      response.end(JSON.stringify({ code, detail: 'too much at once' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return bodies;
}

test('a temporarily refused request is retried a limited number of times', async () => {
  const taken = await withRefusals(2, async (url) => {
    const { status, out, err } = await post(['-', '--source', 'a'], '{"a":1}', url);
    assert.deepEqual([status, out], [0, '1 event stored\n']);
    assert.equal(err, 'too much at once; trying again in 0 s\n'.repeat(2));
  });
  assert.deepEqual(taken, ['{"a":1}\n', '{"a":1}\n', '{"a":1}\n']);
  const refused = await withRefusals(100, async (url) => {
    const { status, out, err } = await post(['-', '--source', 'a'], '{"a":1}', url);
    assert.deepEqual([status, out], [1, '0 events stored\n']);
    assert.match(err, /\ntoo much at once\nline 1 is not stored, and nothing after it\n$/);
  });
  assert.equal(refused.length, 11);
});

test('a wait that is shorter than Retry-After is reported', () => {
  assert.deepEqual(planRetry(60), { seconds: 60, text: 'trying again in 60 s' });
  assert.deepEqual(planRetry(7_200), {
    seconds: 60,
    text: 'trying again in 60 s, though the service asks for 7,200 s',
  });
});

test('events that were not sent are not stored; events that were sent without an answer may be', async () => {
  const file = ['-', '--source', 'a'];
  const server = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const broken = await post(file, '{}', `http://${address}`);
  assert.equal(broken.status, 1);
  assert.match(
    broken.err,
    /no service answers at .*: the connection was broken off\nline 1 may be stored, and nothing after it\n$/,
  );
  const plain = await post(file, '{}', `https://${address}`);
  assert.match(
    plain.err,
    /: what listens there does not speak TLS; write http:\/\/ in place of https:\/\/\nline 1 is not stored, and nothing after it\n$/,
  );
  await new Promise((resolve) => server.close(resolve));
  const refused = await post(file, '{}\n{}', `http://${address}`);
  assert.equal(refused.status, 1);
  assert.match(
    refused.err,
    /: nothing listens there\nlines 1 to 2 are not stored, and nothing after it\n$/,
  );
});

test('law: events are the same however the file is divided into reads', async () => {
  const texts = [
    '{"a":"}{\\"[,"}\n{"b":2}\n\n x \n',
    '[{"a":"]\\\\"},\n 2 , [3,[4]],"x,y"]  ',
    '{\n"a": "b\\"}"\n}{"b":[{}]} 7 ',
  ];
  for (const short of texts) {
    // The form is detected from the start of the text; the rest is read as a stream.
    const text = short.replace('"a"', `"${'a'.repeat(5_000)}"`);
    const whole = await eventsIn(text, text.length);
    assert.ok(whole.length > 2);
    for (let size = 1; size < 40; size++) {
      assert.deepEqual(await eventsIn(text, size), whole);
      assert.deepEqual(await eventsIn(text, text.length - size), whole);
    }
  }
});

async function eventsIn(text: string, size: number): Promise<readonly unknown[]> {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < text.length; start += size) {
      yield Buffer.from(text.slice(start, start + size));
    }
  };
  const events: unknown[] = [];
  const opened = await FileEvents.open(pieces(), { hasLines: false });
  for await (const event of opened.read()) events.push(event);
  return [opened.form, ...events];
}
