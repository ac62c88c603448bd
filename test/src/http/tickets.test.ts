import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DOWNLOAD_PAGE_ROWS, TICKET_MS_MAX, TICKETS_OF_TOKEN_MAX } from '../../../src/limits.ts';
import { NOW, us } from '../../scripts/script.ts';
import { makeToken } from '../../support/granted.ts';
import { HttpClient } from '../../support/http-client.ts';
import { BEGUN_BYTES, LONG_COUNT, postLongEvents } from '../../support/long-download.ts';
import { ServiceUnderTest } from '../../support/service-under-test.ts';

const NOW_US = us(NOW);
const SOURCE = 'cloudflare.logs.prod';
const QUERY = { sql: 'SELECT @n AS n, "a" AS text', parameters: { n: 1 }, format: 'csv' };

/** More than two pages, of which long runs have one timestamp, and some one id, too. */
const EVENTS = Array.from({ length: 2 * DOWNLOAD_PAGE_ROWS + 1_234 }, (_, index) => ({
  id: index % 100 === 0 ? 'twin' : `e${index}`,
  project: index % 2 === 0 ? 'alpha' : 'beta',
  timestamp: NOW_US - 60_000_000 + Math.floor(index / 3_000),
  event_message: `message, "${index}"`,
  metadata: { index },
}));

let service: ServiceUnderTest;
/** Asks without a token. */
let stranger: HttpClient;

before(async () => {
  service = await ServiceUnderTest.start({}, () => performance.now());
  stranger = new HttpClient(service.url);
  await service.post(SOURCE, EVENTS, NOW_US);
});

after(async () => {
  stranger.close();
  await service.stop();
});

type Ticket = { readonly id: string; readonly url: string; readonly expires_at: string };

async function makeTicket(body: object, token?: string): Promise<Ticket> {
  const { status, text } = await askTicket(body, token);
  equal(status, 201, text);
  return JSON.parse(text).result;
}

function askTicket(body: object, token?: string) {
  const headers = token === undefined ? {} : { 'X-API-KEY': token };
  return service.ask('POST', '/api/query/tickets', JSON.stringify(body), headers);
}

function use({ url }: Pick<Ticket, 'url'>, method = 'GET') {
  return stranger.ask({ method, path: url });
}

function codeOf({ status, text }: { readonly status: number; readonly text: string }) {
  return [status, JSON.parse(text).error.code];
}

/** The indexes of downloaded events, in order. */
function indexesOf(text: string): number[] {
  return Array.from(text.matchAll(/"index":(\d+)/g), ([, index]) => Number(index)).sort(
    (left, right) => left - right,
  );
}

/** Begins a download, and reads nothing of it but its headers. */
function beginDownload(url: string, base = service.url): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(`${base}${url}`, resolve).on('error', reject).end();
  });
}

/** Rejects when the download is broken off before its end. */
async function readAll(answer: IncomingMessage): Promise<void> {
  for await (const _ of answer);
}

test('a ticket downloads once, without a token', async () => {
  const ticket = await makeTicket(QUERY);
  match(ticket.id, /^[\w-]{32}$/);
  equal(ticket.url, `/api/query/tickets/${ticket.id}`);
  equal(Date.parse(ticket.expires_at), service.wall.ms + TICKET_MS_MAX);
  const head = await use(ticket, 'HEAD');
  deepEqual([head.status, head.text], [200, '']);
  const { status, headers, text } = await use(ticket);
  deepEqual([status, text], [200, 'n,text\r\n1,"a"\r\n']);
  equal(headers['content-disposition'], 'attachment; filename="query.csv"');
  deepEqual(codeOf(await use(ticket)), [404, 'unknown_ticket']);
  const json = await use(await makeTicket({ ...QUERY, format: 'json' }));
  equal(json.text, '{"result":[{"n":1,"text":"a"}]}');
});

test('a ticket works for a minute', async () => {
  const [first, second] = [await makeTicket(QUERY), await makeTicket(QUERY)];
  service.wall.ms += TICKET_MS_MAX - 1;
  equal((await use(first)).status, 200);
  service.wall.ms += 1;
  deepEqual(codeOf(await use(second)), [404, 'unknown_ticket']);
});

test('the token of a ticket must be in force', async () => {
  const revoked = await makeToken(service, 'revoked', { scopes: ['explore'] });
  const ticket = await makeTicket(QUERY, revoked.token);
  equal((await service.ask('DELETE', `/api/tokens/${revoked.id}`)).status, 204);
  const refused = await use(ticket);
  deepEqual(codeOf(refused), [401, 'unauthorized']);
  equal(refused.headers['content-disposition'], undefined);

  const expires_at = new Date(service.wall.ms + 1_000).toISOString();
  const expiring = await makeToken(service, 'expiring', { scopes: ['explore'], expires_at });
  const late = await makeTicket({ source: SOURCE, format: 'csv' }, expiring.token);
  service.wall.ms += 1_000;
  deepEqual(codeOf(await use(late)), [401, 'unauthorized']);
});

test('all events that match are downloaded, each once', async () => {
  const all = EVENTS.map((_, index) => index);
  const ndjson = await use(await makeTicket({ source: SOURCE, format: 'ndjson' }));
  equal(ndjson.headers['content-disposition'], `attachment; filename="${SOURCE}.ndjson"`);
  deepEqual(indexesOf(ndjson.text), all);
  const rows = ndjson.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const [row, { timestamp, id }] of rows.slice(1).entries()) {
    const before = rows[row];
    ok(before.timestamp > timestamp || (before.timestamp === timestamp && before.id >= id));
  }
  const found = {
    source: SOURCE,
    search: '-id:twin',
    project: 'alpha',
    format: 'ndjson',
    limit: 1,
  };
  const some = await use(await makeTicket(found));
  deepEqual(
    indexesOf(some.text),
    all.filter((index) => index % 100 !== 0 && index % 2 === 0),
  );
});

test('a CSV of events has one header row, and records as JSON', async () => {
  const { headers, text } = await use(await makeTicket({ source: SOURCE, format: 'csv' }));
  match(headers['content-type']!, /^text\/csv/);
  const [header, ...lines] = text.trimEnd().split('\r\n');
  equal(header, 'id,timestamp,event_message,project,metadata');
  equal(lines.length, EVENTS.length);
  const { timestamp } = EVENTS[7]!;
  const line = `"e7",${timestamp},"message, ""7""","beta","[{""index"":7}]"`;
  deepEqual(
    lines.filter((each) => each.startsWith('"e7",')),
    [line],
  );
  const none = await use(await makeTicket({ source: SOURCE, search: 'nowhere', format: 'csv' }));
  equal(none.text, `${header}\r\n`);
});

test('a token that is bound to a project downloads its events alone', async () => {
  const order = { scopes: ['explore'], projects: ['beta'] } as const;
  const { token } = await makeToken(service, 'of beta', order);
  const odd = EVENTS.map((_, index) => index).filter((index) => index % 2 === 1);
  const events = await use(await makeTicket({ source: SOURCE, format: 'ndjson' }, token));
  deepEqual(indexesOf(events.text), odd);
  const sql = `SELECT COUNT(*) AS n FROM \`${SOURCE}\``;
  equal(
    (await use(await makeTicket({ sql, format: 'csv' }, token))).text,
    `n\r\n${odd.length}\r\n`,
  );
  const others = { source: SOURCE, project: 'alpha', format: 'csv' };
  deepEqual(codeOf(await askTicket(others, token)), [403, 'out_of_reach']);
});

/** Reads at least so many bytes, and then stops. */
function readBytes(answer: IncomingMessage, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bytes;
    answer.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) return;
      answer.removeAllListeners('data').pause();
      resolve();
    });
  });
}

test('a download says how far it is to its token, and is cancelled by its id', async () => {
  await postLongEvents(service, 'postgres.logs');
  const { id, url } = await makeTicket({ source: 'postgres.logs', format: 'ndjson' });
  const run = `/api/query/runs/${id}`;
  deepEqual(codeOf(await service.ask('GET', run)), [404, 'unknown_run'], 'it is not begun');
  const answer = await beginDownload(url);
  const { token } = await makeToken(service, 'another', { scopes: ['explore'] });
  equal((await service.ask('GET', run, undefined, { 'X-API-KEY': token })).status, 404);
  await readBytes(answer, BEGUN_BYTES);
  const { status, text } = await service.ask('GET', run);
  equal(status, 200, text);
  const { state, rows_done: done, share } = JSON.parse(text);
  equal(state, 'sending');
  ok(done > 0 && done < LONG_COUNT && share > 0 && share < 1, text);
  equal((await service.ask('DELETE', run)).status, 204);
  await rejects(readAll(answer), 'what was broken off does not look complete');
  equal((await whenOver(id)).state, 'cancelled');
  deepEqual(codeOf(await service.ask('DELETE', run)), [404, 'unknown_run'], 'it is over');
});

type Status = {
  readonly state: string;
  readonly rows_done: number;
  readonly share: number;
  readonly truncated_to?: number;
  readonly error?: { readonly code: string; readonly message: string };
};

/** What is known of a download once it is over. */
async function whenOver(id: string): Promise<Status> {
  for (;;) {
    const { status, text } = await service.ask('GET', `/api/query/runs/${id}`);
    const run: Status | undefined = status === 200 ? JSON.parse(text) : undefined;
    if (run && ['done', 'cancelled', 'failed'].includes(run.state)) return run;
    await sleep(10);
  }
}

test('how a download ended is known for a while, to its token', async () => {
  const events = await makeTicket({ source: SOURCE, format: 'csv' });
  await use(events);
  const { state, rows_done, share, error } = await whenOver(events.id);
  deepEqual([state, rows_done, share, error], ['done', EVENTS.length, 1, undefined]);
  const { token } = await makeToken(service, 'a stranger', { scopes: ['explore'] });
  const path = `/api/query/runs/${events.id}`;
  equal((await service.ask('GET', path, undefined, { 'X-API-KEY': token })).status, 404);

  const query = await makeTicket(QUERY);
  await use(query);
  equal((await whenOver(query.id)).state, 'done');

  const numbers = 'SELECT n FROM UNNEST([1, 2, 3]) AS n';
  for (const [max_rows, truncated_to] of [
    [2, 2],
    [3, undefined],
  ] as const) {
    const cut = await makeTicket({ sql: numbers, max_rows, format: 'csv' });
    await use(cut);
    const ended = await whenOver(cut.id);
    deepEqual([ended.state, ended.truncated_to], ['done', truncated_to]);
  }

  const failing = await makeTicket({ sql: "SELECT ERROR('no luck') AS n", format: 'csv' });
  equal((await use(failing)).status, 422);
  const failed = await whenOver(failing.id);
  deepEqual([failed.state, failed.error?.code], ['failed', 'query_failed']);
  match(failed.error!.message, /no luck/);
});

test('a download ends when its token is revoked', async () => {
  const { id, token } = await makeToken(service, 'revoked amid', { scopes: ['explore'] });
  const ticket = await makeTicket({ source: 'postgres.logs', format: 'csv' }, token);
  const answer = await beginDownload(ticket.url);
  equal((await service.ask('DELETE', `/api/tokens/${id}`)).status, 204);
  await rejects(readAll(answer));
});

test('a caller that leaves ends its download', async () => {
  const { id, url } = await makeTicket({ source: 'postgres.logs', format: 'ndjson' });
  const answer = await beginDownload(url);
  answer.destroy();
  const { state, error } = await whenOver(id);
  deepEqual([state, error], ['failed', undefined]);
});

test('a download that fails amid the pages does not look complete', async () => {
  // The events of the first second are on the last page.
  const failing = {
    ...{ source: SOURCE, format: 'ndjson' },
    where: `1 / (UNIX_MICROS(t.timestamp) - ${EVENTS[0]!.timestamp}) > 0`,
  };
  const { id, url } = await makeTicket(failing);
  const answer = await beginDownload(url);
  equal(answer.statusCode, 200);
  await rejects(readAll(answer));
  const { state, error } = await whenOver(id);
  deepEqual([state, error?.code], ['failed', 'query_failed']);
});

test('what a ticket cannot be for is refused when it is made', async () => {
  const refused: readonly (readonly [object, number, string])[] = [
    [{ format: 'csv' }, 400, 'invalid_body'],
    [{ ...QUERY, format: 'xml' }, 400, 'invalid_parameter'],
    [{ ...QUERY, sql: 'SELECT none' }, 422, 'invalid_sql'],
    [{ source: SOURCE, format: 'json' }, 400, 'invalid_parameter'],
    [{ source: SOURCE, format: 'csv', where: 'TRUE) OR (TRUE' }, 422, 'invalid_sql'],
    [{ source: SOURCE, format: 'csv', before: { timestamp: 1, id: 'a' } }, 400, 'invalid_body'],
    [{ source: 'none', format: 'csv' }, 404, 'unknown_source'],
  ];
  for (const [body, status, code] of refused) {
    deepEqual(codeOf(await askTicket(body)), [status, code], JSON.stringify(body));
  }
});

test('a token has a limited number of open tickets', async () => {
  const { token } = await makeToken(service, 'of many', { scopes: ['explore'] });
  for (let count = 0; count < TICKETS_OF_TOKEN_MAX; count++) await makeTicket(QUERY, token);
  deepEqual(codeOf(await askTicket(QUERY, token)), [503, 'overloaded']);
  equal((await use(await makeTicket(QUERY))).status, 200, 'another token has its own');
  service.wall.ms += TICKET_MS_MAX;
  equal((await use(await makeTicket(QUERY, token))).status, 200);
});

test('the log shows a ticket only in part', async () => {
  const small = await ServiceUnderTest.start({ MEMORY_LIMIT: '1GiB' }, () => performance.now());
  try {
    const sql = "SELECT REPEAT('x', 1000000) AS x FROM UNNEST(GENERATE_ARRAY(1, 14)) AS n";
    const make = async (): Promise<Ticket> => {
      const body = JSON.stringify({ sql, format: 'csv' });
      return JSON.parse((await small.ask('POST', '/api/query/tickets', body)).text).result;
    };
    // Downloads that are not read hold their memory, until one finds none.
    const held: IncomingMessage[] = [];
    let { id, url } = await make();
    for (;;) {
      const answer = await beginDownload(url, small.url);
      held.push(answer);
      if (answer.statusCode !== 200) break;
      ({ id, url } = await make());
    }
    equal(held.pop()?.resume().statusCode, 503);
    for (const answer of held) answer.destroy();
    const paths = small.entries.flatMap(({ event, path }) =>
      event === 'request_failed' ? [path] : [],
    );
    deepEqual(paths, [`/api/query/tickets/${id.slice(0, 6)}…`]);
    ok(!JSON.stringify(small.entries).includes(id));
  } finally {
    await small.stop();
  }
});
