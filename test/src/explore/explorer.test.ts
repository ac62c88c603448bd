import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { must } from '../../../engine/assert.ts';
import { EVERYTHING } from '../../../engine/plan/reach.ts';
import type { HeldSnapshot } from '../../../engine/pool/held-snapshot.ts';
import { parseExploreRequest } from '../../../src/explore/explore-request.ts';
import { type ExploreTools, explore } from '../../../src/explore/explorer.ts';
import { toKnownField } from '../../../src/explore/field-path.ts';
import { EXPLORE_ROWS_LINE_BYTES } from '../../../src/limits.ts';
import { runsOf } from '../../support/budget.ts';
import { EventBackend, NOW_US } from './event-backend.ts';

let store: EventBackend;
const SOURCES = Array.from({ length: 150 }, (_, index) => `x${index}`);
let used = 0;

before(async () => {
  store = await EventBackend.open(`${SOURCES.join(',')},ref:metadata.ref`);
});

after(() => store.close());

type Line = Readonly<Record<string, unknown>> & { readonly type: string };

/** What a query is run on, as the service does, by a caller who may read everything. */
function tools(snapshots: HeldSnapshot[] = []): ExploreTools {
  const { engine } = store.backend;
  const options = { parameters: new Map(), nowUs: NOW_US, reach: EVERYTHING };
  return {
    check: async (sql) => void engine.prepare(sql, []),
    run: (sql, more) => engine.run(engine.prepare(sql, []), { ...options, ...more }),
    takeSnapshot: (scope) => {
      const snapshot = engine.takeSnapshot(scope);
      snapshots.push(snapshot);
      return snapshot;
    },
    findFields: async (request, source, snapshot) => {
      const window = { startUs: request.window.fromUs, endUs: request.window.toUs };
      const order = { source: source.name, window, snapshot, reach: EVERYTHING, withValues: false };
      return (await engine.countFields(order)).fields.map(toKnownField);
    },
    nowMs: () => performance.now(),
    msMax: 60_000,
  };
}

async function ask(body: Readonly<Record<string, unknown>>, use = tools()): Promise<Line[]> {
  const request = parseExploreRequest(body, NOW_US);
  const source = must(store.backend.intake.findSource(request.source), 'the source is there');
  const lines: Line[] = [];
  for await (const parts of explore(request, source, use)) {
    lines.push(JSON.parse(Buffer.concat(parts.map((part) => Buffer.from(part))).toString()));
  }
  return lines;
}

type Row = { readonly id: string; readonly timestamp: number };

function rowsOf(lines: readonly Line[]): { rows: Row[]; next: string | null } {
  const ofRows = lines.filter(({ type }) => type === 'rows');
  return {
    rows: ofRows.flatMap(({ rows }) => rows as Row[]),
    next: must(ofRows.at(-1))['next'] as string | null,
  };
}

type Bucket = { start: number; series: string | null; is_other?: boolean; count: number };

function bucketsOf(lines: readonly Line[]): Bucket[] {
  return lines.flatMap(({ type, buckets }) => (type === 'buckets' ? (buckets as Bucket[]) : []));
}

test('the query comes first, then rows, buckets and the end', async () => {
  const source = SOURCES[used++]!;
  await store.post(source, [
    {
      id: 'a',
      timestamp: NOW_US - 5_000_000,
      event_message: 'GET /x',
      metadata: { level: 'info' },
    },
    { id: 'b', timestamp: NOW_US, event_message: 'POST /x', metadata: { level: 'error' } },
  ]);
  const lines = await ask({ source, from: '-1m', search: 'get', by: 'level' });
  deepEqual(
    [...new Set(lines.map(({ type }) => type))],
    ['query', 'rows', 'series', 'buckets', 'end'],
  );
  const [query] = lines;
  equal(query!['bucket_us'], 1_000_000);
  equal(query!['to'], NOW_US + 1);
  deepEqual(
    rowsOf(lines).rows.map(({ id }) => id),
    ['a'],
  );
  deepEqual(bucketsOf(lines), [{ start: NOW_US - 5_000_000, series: 'info', count: 1 }]);
  deepEqual(lines.at(-1), { type: 'end', older: null, lost_days: [] });
  // What is shown is what was run.
  deepEqual(
    (await store.rows(String(query!['list_sql']))).map(({ id }) => id),
    ['a'],
  );
});

test('an empty list says when the newest event before the window was', async () => {
  const source = SOURCES[used++]!;
  await store.post(source, [{ id: 'a', timestamp: NOW_US - 7_200_000_000, event_message: 'x' }]);
  const end = async (search: string) => (await ask({ source, search })).at(-1)!['older'];
  deepEqual([await end('x'), await end('y')], [NOW_US - 7_200_000_000, null]);
});

test('many bytes of rows come in several lines, of which the last says where the list goes on', async () => {
  const source = SOURCES[used++]!;
  // Two rows of the first length are a line, and one of the second length is.
  const lengths = [0.4, 0.4, 0.4, 0.1, 1.5, 0.1, 0.1];
  await store.post(
    source,
    lengths.map((length, index) => ({
      id: `${index}`,
      timestamp: NOW_US - index,
      event_message: 'x'.repeat(length * EXPLORE_ROWS_LINE_BYTES),
    })),
  );
  const ofRows = (await ask({ source, limit: 7 })).filter(({ type }) => type === 'rows');
  const ids = ofRows.map(({ rows }) => (rows as Row[]).map(({ id }) => id).join(''));
  deepEqual(ids, ['01', '23', '4', '56']);
  deepEqual(
    ofRows.map((line) => typeof line['next']),
    ['undefined', 'undefined', 'undefined', 'string'],
  );
  const rest = await ask({ source, before: ofRows.at(-1)!['next'] });
  deepEqual(rowsOf(rest), { rows: [], next: null });
});

test('a project is asked for by the rule of its source', async () => {
  await store.post('ref', [
    { id: 'a', timestamp: NOW_US, metadata: { ref: 'p' } },
    { id: 'b', timestamp: NOW_US, metadata: { ref: 'q' } },
  ]);
  const lines = await ask({ source: 'ref', project: 'p' });
  deepEqual(
    rowsOf(lines).rows.map(({ id }) => id),
    ['a'],
  );
});

test('rows and buckets are of one snapshot, which is released at the end and when the caller leaves', async () => {
  const source = SOURCES[used++]!;
  const event = (id: number) => ({ id: `${id}`, timestamp: NOW_US - id, event_message: 'x' });
  await store.post(source, [event(0), event(1)]);
  const snapshots: HeldSnapshot[] = [];
  const use = tools(snapshots);
  const request = parseExploreRequest({ source }, NOW_US);
  const found = must(store.backend.intake.findSource(source));
  const lines = explore(request, found, use);
  await lines.next();
  const rows = await lines.next();
  equal(
    JSON.parse(
      Buffer.concat(
        (rows.value ?? []).map((part: string | Uint8Array) => Buffer.from(part)),
      ).toString(),
    ).rows.length,
    2,
  );
  await store.post(source, [event(2), event(3)]);
  await store.seal();
  let count = 0;
  for await (const parts of lines) {
    const line = JSON.parse(parts.map(String).join(''));
    for (const bucket of line.buckets ?? []) count += bucket.count;
  }
  equal(count, 2);
  const isReleased = (snapshot: HeldSnapshot): boolean => {
    try {
      snapshot.segmentsFor({ source, window: { startUs: 0, endUs: 1 } });
      return false;
    } catch {
      return true;
    }
  };
  deepEqual(snapshots.map(isReleased), [true]);
  const left = explore(request, found, use);
  await left.next();
  equal(isReleased(snapshots[1]!), false);
  await left.return(undefined);
  deepEqual(snapshots.map(isReleased), [true, true]);
});

test('what the request does wrong is told before the first line', async () => {
  const source = SOURCES[used++]!;
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ source, search: 'none:1' }, /has a field "none"/],
    [{ source, by: 'none' }, /by: no event/],
    [{ source, where: 'TRUE) OR (TRUE' }, /where: /],
    [{ source, where: 't.timestamp = 5' }, /timestamp|TIMESTAMP/],
    [{ source, limit: 0 }, /limit must be a whole number from 1 to 1000; got 0/],
    [{ source, from: 'yesterday' }, /from must be an ISO 8601/],
    [{ source, from: '-1h', to: '-2h' }, /from must be before to/],
    [{ source, before: 'x' }, /before must be next of an earlier answer/],
    [{ source, colour: 'red' }, /got "colour"/],
  ];
  for (const [body, message] of cases) await rejects(() => ask(body), message);
});

test('events before and after one are found by its timestamp and id', async () => {
  const source = SOURCES[used++]!;
  const ids = ['a', 'b', 'c', 'd', 'e'];
  await store.post(
    source,
    ids.map((id, index) => ({ id, timestamp: NOW_US - 1_000_000 * Math.floor(index / 2) })),
  );
  const order = ['b', 'a', 'd', 'c', 'e'];
  const around = { timestamp: NOW_US - 1_000_000, id: 'd' };
  const older = rowsOf(await ask({ source, before: around, limit: 1 }));
  const newer = rowsOf(await ask({ source, after: around, limit: 1 }));
  deepEqual([newer.rows.map(({ id }) => id), older.rows.map(({ id }) => id)], [['a'], ['c']]);
  const more = rowsOf(await ask({ source, after: newer.next, limit: 5 }));
  deepEqual([more.rows.map(({ id }) => id), more.next], [['b'], null]);
  deepEqual(
    rowsOf(await ask({ source })).rows.map(({ id }) => id),
    order,
  );
});

test('pages neither repeat nor skip events of equal timestamps and ids', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.noShrink(
        fc.array(fc.tuple(fc.nat(3), fc.constantFrom('a', 'b', "c'")), {
          minLength: 1,
          maxLength: 25,
        }),
      ),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      fc.constantFrom('before', 'after'),
      async (keys, limit, isSealed, direction) => {
        const source = SOURCES[used++]!;
        // Each event has a message of its own: twins have nothing else that tells them apart.
        const events = keys.map(([ago, id], index) => ({
          ...{ id, timestamp: NOW_US - ago, event_message: `${index}` },
        }));
        await store.post(source, events);
        if (isSealed) await store.seal();
        const first = direction === 'before' ? {} : { after: { timestamp: 0, id: '' } };
        const pages: { event_message: string }[][] = [];
        let start: Readonly<Record<string, unknown>> = first;
        for (;;) {
          const { rows, next } = rowsOf(
            await ask({ source, limit, from: '-1h', ...start, histogram: false }),
          );
          ok(rows.length <= limit);
          pages.push(rows as never);
          if (next === null) break;
          start = { [direction]: next };
        }
        const all = (direction === 'before' ? pages : pages.reverse()).flat();
        const wanted = [...events.entries()].sort(
          ([leftIndex, left], [rightIndex, right]) =>
            right.timestamp - left.timestamp ||
            (left.id < right.id ? 1 : left.id > right.id ? -1 : rightIndex - leftIndex),
        );
        deepEqual(
          all.map(({ event_message }) => event_message),
          wanted.map(([index]) => `${index}`),
        );
      },
    ),
    { numRuns: runsOf(60), includeErrorInReport: true },
  );
});

test('bars are those of an exact loop, and of the text that is shown', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.noShrink(
        fc.array(fc.tuple(fc.nat(7_200), fc.option(fc.nat(14))), { minLength: 1, maxLength: 60 }),
      ),
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      async (made, buckets, isSealed) => {
        const source = SOURCES[used++]!;
        const events = made.map(([ago, status]) => ({
          timestamp: NOW_US - ago * 1_000_000,
          metadata: { known: 1, response: status === null ? {} : { status } },
        }));
        await store.post(source, [
          ...events,
          { timestamp: NOW_US, metadata: { known: 1, response: { status: 3 } } },
        ]);
        if (isSealed) await store.seal();
        const lines = await ask({ source, from: '-2h', buckets, by: 'metadata.response.status' });
        const bucketUs = Number(lines[0]!['bucket_us']);
        const all = [...events, { timestamp: NOW_US, metadata: { response: { status: 3 } } }];
        const counts = new Map<string, number>();
        for (const { metadata } of all) {
          if (!('status' in metadata.response)) continue;
          const value = `${metadata.response.status}`;
          counts.set(value, (counts.get(value) ?? 0) + 1);
        }
        const top = [...counts]
          .sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
          .slice(0, 10)
          .map(([value]) => value);
        const wanted = new Map<string, number>();
        for (const { timestamp, metadata } of all) {
          const value = 'status' in metadata.response ? `${metadata.response.status}` : null;
          const isOther = value !== null && !top.includes(value);
          const start = Math.floor(timestamp / bucketUs) * bucketUs;
          const key = JSON.stringify([start, isOther ? null : value, isOther]);
          wanted.set(key, (wanted.get(key) ?? 0) + 1);
        }
        const series = must(lines.find(({ type }) => type === 'series'));
        deepEqual(series['series'], top);
        const shown = (await store.rows(String(series['histogram_sql']))) as unknown as Bucket[];
        for (const found of [bucketsOf(lines), shown]) {
          const keyed = found.map(
            ({ start, series: value, is_other = false, count }) =>
              [JSON.stringify([start, value, is_other]), count] as const,
          );
          deepEqual(new Map([...keyed].sort()), new Map([...wanted].sort()));
          equal(keyed.length, wanted.size);
        }
        const starts = bucketsOf(lines).map(({ start }) => start);
        deepEqual(
          starts,
          [...starts].sort((left, right) => right - left),
        );
        equal(lines.filter(({ type }) => type === 'buckets').at(-1)!['share'], 1);
      },
    ),
    { numRuns: runsOf(50), includeErrorInReport: true },
  );
});
