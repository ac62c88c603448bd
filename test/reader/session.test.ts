import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { must } from '../../engine/assert.ts';
import { budgetOf } from '../support/budget.ts';
import { type Entry, grouped, newestFirst, or } from './session-entries.ts';
import { type Condition, fromText, LOGS, type Log, shown } from './session-logs.ts';
import { STACKS, type Stack } from './session-stacks.ts';
import { type SessionRow, SessionUnderTest } from './session-under-test.ts';

/**
 * A reader's session with each of the nine logs, of both kinds of stack: pages, counts, charts, single
 * entries, filters, searches, mistakes and refreshes. What is expected comes from plain loops over the
 * events that were posted.
 */
let session: SessionUnderTest;

before(async () => {
  session = await SessionUnderTest.start();
});

after(() => session?.stop());

/** Rows of a page, which the reader asks for by the hundred. */
const PAGE = 100;

/** What the table of a log holds: all but those of the database need metadata. */
function entriesOf(log: Log, { events }: Stack): Entry[] {
  const all = newestFirst(must(events[log.source]));
  return log.table === 'postgres_logs' ? all : all.filter((entry) => entry.has('metadata'));
}

/** A page of a log as its own page asks for it; ids are left out, as not every sender gives them. */
function pageText(log: Log, where = ''): string {
  const columns = log.columns.map(([expression]) => expression).join(', ');
  return `select ${log.table}.timestamp, event_message, ${columns}
${fromText(log)}
  ${where}
order by timestamp desc
limit ${PAGE};`;
}

function pageRow(log: Log, entry: Entry): SessionRow {
  const cells = log.columns.map(([expression, path]) => {
    const name = must(/(\w+)$/.exec(expression))[1]!;
    return [name, entry.at(path)] as const;
  });
  const { timestampUs, message } = entry;
  return { timestamp: timestampUs, event_message: message, ...Object.fromEntries(cells) };
}

/** As the reader writes a text into its SQL. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** How many of the two kinds of stack each log is read of; of one the next log has the other. */
const STACKS_PER_LOG = budgetOf('WEIR_SESSION_STACKS', { fast: 1, all: STACKS.length });

for (const [number, log] of LOGS.entries()) {
  for (let index = 0; index < STACKS_PER_LOG; index++) {
    const stack = must(STACKS[(number + index) % STACKS.length]);
    suite(`${log.table} of ${stack.name}`, () => {
      testPages(log, stack);
      testCharts(log, stack);
      testEntries(log, stack);
      testFilters(log, stack);
      testRefresh(log, stack);
    });
  }
}

function testPages(log: Log, stack: Stack): void {
  const entries = entriesOf(log, stack);

  test('the first page has the newest, with the fields of the log', () =>
    session.expectRows(
      stack,
      pageText(log),
      shown(log, entries)
        .slice(0, PAGE)
        .map((entry) => pageRow(log, entry)),
    ));

  test('older pages end at the last time of the one before, and leave nothing out', async () => {
    const sql = `select id, ${log.table}.timestamp, event_message from ${log.table} order by timestamp desc limit ${PAGE}`;
    const messages = new Map<unknown, unknown>();
    for (let end = ''; ; ) {
      const page = await session.rows(stack, sql, { iso_timestamp_end: end });
      for (const { id, event_message: message } of page) messages.set(id, message);
      if (page.length < PAGE) break;
      const next = new Date(Number(page.at(-1)!['timestamp']) / 1000).toISOString();
      assert.notEqual(next, end, 'the page before was of one moment');
      end = next;
    }
    // A row at the border is on both pages; the reader knows it by its id.
    assert.deepEqual(
      [...messages.values()],
      entries.map(({ message }) => message),
    );
  });

  test('pages by time and id neither overlap nor leave out', async () => {
    const messages: unknown[] = [];
    for (let where = ''; ; ) {
      const sql = `select id, t.timestamp, event_message from ${log.table} as t
        ${where} order by t.timestamp desc, id desc limit 37`;
      const page = await session.rows(stack, sql);
      messages.push(...page.map(({ event_message: message }) => message));
      if (page.length < 37) break;
      const { id, timestamp } = page.at(-1)!;
      const time = `timestamp_micros(${timestamp})`;
      where = `where t.timestamp < ${time} or (t.timestamp = ${time} and id < '${id}')`;
    }
    assert.equal(messages.length, entries.length);
    assert.deepEqual(new Set(messages), new Set(entries.map(({ message }) => message)));
  });

  test('how many there are, at all and since the last refresh', async () => {
    const sql = `SELECT count(*) as count ${fromText(log)} `;
    const rows = shown(log, entries);
    await session.expectRows(stack, sql, [{ count: rows.length }]);
    const last = entries[10]!.timestampUs;
    const isoStart = new Date(last / 1000).toISOString();
    const newer = rows.filter(({ timestampUs }) => timestampUs > last);
    const window = { iso_timestamp_start: isoStart };
    await session.expectRows(stack, sql, [{ count: newer.length }], { window });
  });

  test('a project that is not there has none', async () => {
    const nobody = { project: 'nobody' };
    await session.expectRows(nobody, pageText(log), []);
    await session.expectRows(nobody, `select count(*) as count from ${log.table}`, [{ count: 0 }]);
  });
}

function testCharts(log: Log, stack: Stack): void {
  const entries = shown(log, entriesOf(log, stack));
  const { error, warning } = log;
  const isFine = (entry: Entry) => {
    const isBad = or(error.holds(entry), warning.holds(entry));
    return isBad === null ? null : !isBad;
  };

  for (const [part, unitUs] of [
    ['minute', 60_000_000],
    ['hour', 3_600_000_000],
  ] as const) {
    test(`a chart by ${part} adds up to what is counted`, async () => {
      const start = entries.at(-1)?.timestampUs ?? 0;
      const sql = `SELECT
        timestamp_trunc(t.timestamp, ${part}) as timestamp,
        count(CASE WHEN NOT (${error.sql} OR ${warning.sql}) THEN 1 END) as ok_count,
        count(CASE WHEN ${error.sql} THEN 1 END) as error_count,
        count(CASE WHEN ${warning.sql} THEN 1 END) as warning_count,
        count(*) as total,
      FROM
        ${fromText({ ...log, table: `${log.table} t` }).replace('from ', '')}
        where t.timestamp > '${new Date(start / 1000).toISOString()}'
      GROUP BY
      timestamp
      ORDER BY
        timestamp ASC`;
      const inside = entries.filter(({ timestampUs }) => timestampUs > start);
      const buckets = grouped(inside, ({ timestampUs }) =>
        String(Math.floor(timestampUs / unitUs) * unitUs),
      );
      const count = (list: readonly Entry[], test: Condition['holds']) =>
        list.filter((entry) => test(entry) === true).length;
      const rows = Array.from(buckets, ([timestamp, list]) => ({
        timestamp: Number(timestamp),
        ok_count: count(list, isFine),
        error_count: count(list, error.holds),
        warning_count: count(list, warning.holds),
        total: list.length,
      }));
      await session.expectRows(stack, sql, rows);
      const total = rows.reduce((sum, row) => sum + row.total, 0);
      assert.equal(total, inside.length);
    });
  }
}

function testEntries(log: Log, stack: Stack): void {
  test('a single entry by its id, with its whole metadata', async () => {
    for (const entry of entriesOf(log, stack).slice(0, 8)) {
      const { message, timestampUs } = entry;
      const [row] = await session.rows(
        stack,
        `select id from ${log.table} where event_message = """${message.replaceAll(/["\\]/g, '\\$&')}"""`,
      );
      const id = must(row, message)['id'];
      await session.expectRows(
        stack,
        `select id, timestamp, event_message, metadata from ${log.table} where id = '${id}' limit 1`,
        [{ id, timestamp: timestampUs, event_message: message, metadata: storedMetadata(entry) }],
      );
    }
  });

  test('an id that is not there gives no row', () =>
    session.expectRows(
      stack,
      `select id, metadata from ${log.table} where id = 'none' limit 1`,
      [],
    ));
}

/** Requests of a gateway have got a URL. */
function storedMetadata(entry: Entry): unknown {
  const path = entry.text('metadata.request.path');
  if (path === null || entry.at('metadata.request.url') !== null) return entry.metadata;
  const [element] = entry.metadata as [{ readonly request: readonly [object] }];
  const url = `http://${entry.text('project')}${path}`;
  return [{ ...element, request: [{ ...element.request[0], url }] }];
}

function testFilters(log: Log, stack: Stack): void {
  const entries = shown(log, entriesOf(log, stack));
  const page = (kept: readonly Entry[]) => kept.slice(0, PAGE).map((entry) => pageRow(log, entry));

  test('filters, each and all together', async () => {
    for (const { sql, holds } of log.filters) {
      const kept = entries.filter((entry) => holds(entry) === true);
      await session.expectRows(stack, pageText(log, `where (${sql})`), page(kept));
      await session.expectRows(stack, `SELECT count(*) as count ${fromText(log)} where (${sql})`, [
        { count: kept.length },
      ]);
    }
    const all = log.filters.map(({ sql }) => `(${sql})`).join(' and ');
    const kept = entries.filter((entry) => log.filters.every(({ holds }) => holds(entry) === true));
    await session.expectRows(stack, pageText(log, `where ${all}`), page(kept));
  });

  test('searches by expressions with what has a meaning in them, and by plain texts', async () => {
    for (const pattern of [
      "it's \\[1\\]",
      'a\\+b \\(c\\) \\\\*"quoted',
      '[\\\\]d\\b',
      '\\$1\\.00 \\|',
      '#1\\d$',
      'first line\\nsecond',
      '^[^|]*50%',
      '(LIKE|über) (_x|\\$1)',
    ]) {
      const expression = new RegExp(pattern, 'u');
      const kept = entries.filter(({ message }) => expression.test(message));
      const where = `where (regexp_contains(event_message, ${literal(pattern)}))`;
      await session.expectRows(stack, pageText(log, where), page(kept));
    }
    for (const word of ["it's [1] of", 'A+B (C)', 'über $1', 'like _X%', '\\d', 'second LINE #4']) {
      const lower = word.toLowerCase();
      const kept = entries.filter(({ message }) => message.toLowerCase().includes(lower));
      const where = `where (strpos(lower(cast(event_message as string)), ${literal(lower)}) > 0)`;
      await session.expectRows(stack, pageText(log, where), page(kept));
    }
  });

  test('an expression that is none, and other mistakes, are told with their place', async () => {
    const text = pageText(log);
    for (const [sql, message] of [
      [
        pageText(log, "where (regexp_contains(event_message, 'a(b'))"),
        /a\(b.*\(line \d+, column \d+\)$/,
      ],
      [text.replace('select', 'selct'), /\(line 1, column 1\)$/],
      [text.replace('.timestamp', '.timestmp'), /mean timestamp\?.*\(line 1, column \d+\)$/],
      [text.replace('order', 'ordr'), /\(line \d+, column \d+\)$/],
      [text.replace(`from ${log.table}`, 'from no_logs'), /no_logs.*\(line 2, column 6\)$/],
    ] as const) {
      assert.match(await session.errorOf(stack, sql), message, sql);
      await session.expectRows(stack, text, page(entries));
    }
  });
}

function testRefresh(log: Log, stack: Stack): void {
  test('the same text sees what came since', async () => {
    const sql = `select timestamp, event_message from ${log.table} where event_message like 'late %' order by timestamp desc limit 100`;
    await session.expectRows(stack, sql, []);
    const [model] = must(stack.events[log.source]);
    const seen: SessionRow[] = [];
    for (const second of [1, 2, 3]) {
      const timestamp = `2026-01-15T11:59:5${second}.000Z`;
      const message = `late ${second}`;
      await session.post(log.source, [
        { ...model, id: `${log.table}-${second}`, timestamp, event_message: message },
      ]);
      seen.unshift({ timestamp: Date.parse(timestamp) * 1000, event_message: message });
      await session.expectRows(stack, sql, seen);
    }
  });
}
