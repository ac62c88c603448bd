import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { HttpClient } from '../http-client.ts';
import { postAll } from '../posting.ts';

/** The saved query that attacks bring their SQL to, as its file. */
export const ATTACKED_DEFINITION = `-- id: 1f0a6c0e-58c2-4a7e-9f3d-2b7f0c9d1a09
-- name: bench.attacked
-- max_rows: 100000
-- sandbox: enabled
WITH entries AS (SELECT t.id, t.timestamp, t.event_message FROM logs AS t)
SELECT COUNT(*) AS n FROM entries
`;

/** Events of one post: about a megabyte. */
const POST_EVENTS = 5_000;

const NOW_MS = Date.parse('2026-01-15T12:00:00Z');

/** Where the clock of an attacked service should stand. */
export const ATTACKED_NOW = new Date(NOW_MS).toISOString();

/** Posts so many events, each with a message of its own of some 120 characters; what is refused is sent again. */
export async function postAttackedRows(client: HttpClient, eventCount: number): Promise<void> {
  let sent = 0;
  await postAll(client, { path: '/api/logs?source_name=logs', connectionCount: 2 }, () => {
    if (sent >= eventCount) return undefined;
    const count = Math.min(POST_EVENTS, eventCount - sent);
    const events = Array.from({ length: count }, (_, index) => eventOf(sent + index));
    sent += count;
    return Buffer.from(JSON.stringify(events));
  });
}

function eventOf(number: number): object {
  return {
    event_message: `request ${number} of caller ${(number * 7_919) % 1_000_003} took ${number % 977} ms and was answered from the edge nearest to it, without a miss`,
    timestamp: new Date(NOW_MS - number).toISOString(),
  };
}

/** A query that would hold as much as it can get. */
export type QueryAttack = { readonly name: string; readonly sql: string };

const WIDE = 'event_message, TO_HEX(SHA512(event_message)) AS h, id';

export const QUERY_ATTACKS: readonly QueryAttack[] = [
  {
    name: 'GROUP BY with wide keys',
    sql: `SELECT event_message, h, id, COUNT(*) AS n FROM (SELECT ${WIDE} FROM entries) GROUP BY event_message, h, id ORDER BY n DESC LIMIT 5`,
  },
  {
    name: 'ORDER BY over everything',
    sql: `SELECT MAX(h) AS h, MAX(id) AS id FROM (SELECT ${WIDE} FROM entries ORDER BY h)`,
  },
  {
    name: 'a sorted answer of all columns',
    sql: `SELECT ${WIDE} FROM entries ORDER BY h LIMIT 100000`,
  },
  {
    name: 'a join of everything with itself',
    sql: `SELECT COUNT(*) AS n, MAX(a.h) AS h FROM (SELECT ${WIDE} FROM entries) AS a JOIN (SELECT ${WIDE} FROM entries) AS b ON a.h = b.h`,
  },
  {
    name: 'a cross join',
    sql: `SELECT MAX(a.h || b.h) AS h FROM (SELECT ${WIDE} FROM entries ORDER BY h LIMIT 100000) AS a CROSS JOIN (SELECT ${WIDE} FROM entries) AS b`,
  },
  {
    name: 'STRING_AGG of all rows',
    sql: `SELECT LENGTH(STRING_AGG(h)) AS n FROM (SELECT ${WIDE} FROM entries)`,
  },
  {
    name: 'ARRAY_AGG of all rows',
    sql: `SELECT ARRAY_LENGTH(ARRAY_AGG(STRUCT(event_message, h, id))) AS n FROM (SELECT ${WIDE} FROM entries)`,
  },
  {
    name: 'ARRAY_AGG by group',
    sql: `SELECT h, ARRAY_AGG(event_message) AS m FROM (SELECT ${WIDE} FROM entries) GROUP BY h ORDER BY h LIMIT 5`,
  },
  {
    name: 'a window over all rows',
    sql: `SELECT MAX(n) AS n, MAX(h) AS h FROM (SELECT h, ROW_NUMBER() OVER (PARTITION BY SUBSTR(h, 1, 2) ORDER BY h, event_message) AS n FROM (SELECT ${WIDE} FROM entries))`,
  },
  {
    name: 'a window that collects',
    sql: `SELECT MAX(LENGTH(t)) AS n FROM (SELECT STRING_AGG(h) OVER (ORDER BY id ROWS BETWEEN 200 PRECEDING AND CURRENT ROW) AS t FROM (SELECT ${WIDE} FROM entries))`,
  },
  {
    name: 'DISTINCT rows',
    sql: `SELECT COUNT(*) AS n FROM (SELECT DISTINCT ${WIDE} FROM entries)`,
  },
  {
    name: 'COUNT(DISTINCT) of wide texts',
    sql: `SELECT COUNT(DISTINCT h) AS n, COUNT(DISTINCT event_message) AS m, COUNT(DISTINCT id) AS i FROM (SELECT ${WIDE} FROM entries)`,
  },
];

/** What pages of logs ask for: the newest events, how many there were, and those that hold a word. */
export const USUAL_QUERIES: readonly string[] = [
  'SELECT id, timestamp, event_message FROM entries ORDER BY timestamp DESC LIMIT 100',
  'SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS minute, COUNT(*) AS n FROM entries GROUP BY minute ORDER BY minute',
  "SELECT timestamp, event_message FROM entries WHERE REGEXP_CONTAINS(event_message, 'caller 77') ORDER BY timestamp DESC LIMIT 100",
];

/** What came of a query, for a report. */
export type AttackOutcome = {
  readonly status: number;
  /** The code of a failure. */
  readonly code: string | undefined;
  readonly message: string;
};

/** Sends the SQL of an attack and reads its answer. */
export async function sendQuery(client: HttpClient, sql: string): Promise<AttackOutcome> {
  const { status, body } = await client.get(attackPath(sql));
  const text = body.toString();
  if (status === 200) return { status, code: undefined, message: text.slice(0, 80) };
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return { status, code: error.code, message: error.message };
}

function attackPath(sql: string): string {
  return `/api/endpoints/bench.attacked?sql=${encodeURIComponent(sql)}`;
}

/** An answer of some 3 MB, and nothing that has to be held before the first row is written. */
export const LARGE_ANSWER_SQL = `SELECT ${WIDE} FROM entries LIMIT 10000`;

/**
 * Asks for answers and reads nothing of them. Resolves once each has begun to arrive or was refused, to the statuses; the
 * connections stay open until they are destroyed.
 */
export async function askWithoutReading(
  to: { readonly url: string; readonly token: string },
  sqls: readonly string[],
): Promise<{ readonly statuses: readonly number[]; readonly close: () => void }> {
  const paths = sqls.map(attackPath);
  return holdOpen(to, paths);
}

/** Follows the source from its first event over so many connections, and reads nothing. */
export function followWithoutReading(
  to: { readonly url: string; readonly token: string },
  count: number,
): Promise<{ readonly statuses: readonly number[]; readonly close: () => void }> {
  return holdOpen(to, Array<string>(count).fill('/api/sources/logs/tail?last=10000'));
}

async function holdOpen(
  { url, token }: { readonly url: string; readonly token: string },
  paths: readonly string[],
): Promise<{ readonly statuses: readonly number[]; readonly close: () => void }> {
  const held: ClientRequest[] = [];
  const { hostname, port } = new URL(url);
  const statuses = await Promise.all(
    paths.map(
      (path) =>
        new Promise<number>((resolve, reject) => {
          const headers = { 'X-API-KEY': token };
          const sent = request({ hostname, port, path, headers, agent: false });
          sent.on('response', (response: IncomingMessage) => resolve(response.statusCode ?? 0));
          sent.on('error', reject);
          sent.end();
          held.push(sent);
        }),
    ),
  );
  return { statuses, close: () => held.forEach((sent) => void sent.destroy()) };
}
