import { CALLER_SQL_LENGTH_MAX } from '../../src/limits.ts';
import { largestAllowed } from '../../test/hostile/text-work.ts';
import { HOSTILE_TEXTS } from '../../test/hostile/texts.ts';
import type { HostileLoad } from '../load/order.ts';
import { HOSTILE_POSTS, requestOf } from './hostile-posts.ts';
import { QUERY_ATTACKS } from './memory-attacks.ts';
import { crossJoins } from './query-bombs.ts';

const CROSS_JOIN_ROWS = 20_000;
const CROSS_JOIN_COUNT = 6;
const GROUPING_COUNT = 6;
const DISTINCT_TEXT_COUNT = 1_200;

/** Long texts that are allowed and take the main thread long to bind and to plan. */
const LONG_TEXT_NAMES = ['branches of a CASE', 'texts of an IN list', 'inner joins'];

/** A million of them, made by the query: only a worker reads them. */
const PADDING = "REPEAT('=', 1000000)";

/** SQL texts of a caller, and the saved query that they are brought to. */
type Texts = { readonly endpoint: string; readonly make: () => readonly string[] };

const TEXTS: ReadonlyMap<string, Texts> = new Map([
  [
    'cross joins',
    { endpoint: 'bench.attacked', make: () => crossJoins(CROSS_JOIN_COUNT, CROSS_JOIN_ROWS) },
  ],
  ['GROUP BY over everything', { endpoint: 'bench.attacked', make: groupings }],
  ['texts of 64 KB', { endpoint: 'hostile.any', make: longTexts }],
  [
    'FROM_BASE64 of a million =',
    {
      endpoint: 'bench.attacked',
      make: () => many(8, (index) => `SELECT FROM_BASE64(${PADDING} || '${index}') AS a`),
    },
  ],
  [
    'distinct texts',
    {
      endpoint: 'bench.attacked',
      make: () =>
        many(
          DISTINCT_TEXT_COUNT,
          (index) =>
            `SELECT COUNT(*) AS n FROM entries WHERE event_message LIKE '%caller ${index} %'`,
        ),
    },
  ],
]);

/** The requests of one kind; each begins with a method, a path, and `headText`. */
export function hostileRequests(
  { of: name, bodySize }: HostileLoad,
  headText: string,
): readonly Buffer[] {
  const texts = TEXTS.get(name);
  if (texts !== undefined) {
    const headers = { 'Content-Type': 'application/json' };
    const path = `/api/endpoints/${texts.endpoint}`;
    return texts.make().map((sql) => {
      const body = Buffer.from(JSON.stringify({ sql }));
      return postBytes({ path, headers, body }, headText);
    });
  }
  const post = HOSTILE_POSTS.find((other) => other.name === name);
  if (post === undefined) throw new Error(`there is no hostile kind ${name}`);
  const { headers, body } = requestOf(post, bodySize);
  const path = `${post.path}?source_name=gotrue.logs.prod`;
  return [postBytes({ path, headers, body }, headText)];
}

function groupings(): readonly string[] {
  const attack = QUERY_ATTACKS.find(({ name }) => name === 'GROUP BY with wide keys');
  return many(GROUPING_COUNT, (index) => `${attack!.sql} OFFSET ${index}`);
}

function longTexts(): readonly string[] {
  return HOSTILE_TEXTS.filter(({ name }) => LONG_TEXT_NAMES.includes(name)).map((text) =>
    largestAllowed(text, CALLER_SQL_LENGTH_MAX),
  );
}

function many(count: number, text: (index: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, index) => text(index));
}

function postBytes(
  {
    path,
    headers,
    body,
  }: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  },
  headText: string,
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} ${headText}${lines.join('')}Content-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
