import { showProgress } from '../src/command/progress.ts';
import { EDGE_SOURCE } from './edge-events.ts';
import type { HttpClient } from './http-client.ts';
import { figuresOf, hashOf } from './measure.ts';
import type { MemoryMeter } from './memory-meter.ts';
import { mustGet, readMetrics } from './service-reading.ts';

const ELEMENTS = `FROM \`${EDGE_SOURCE}\` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.request) AS r
CROSS JOIN UNNEST(m.response) AS a
CROSS JOIN UNNEST(a.headers) AS h`;

/** Saved queries over all 90 days, by the names of their files. */
export const DEFINITIONS: ReadonlyMap<string, string> = new Map([
  [
    'days.sql',
    `-- id: 1f0a6c0e-58c2-4a7e-9f3d-2b7f0c9d1a01
-- name: bench.days
-- description: Requests and bytes of answers by day and method; reads three narrow columns
-- max_rows: 10000
SELECT TIMESTAMP_TRUNC(t.timestamp, DAY) AS day, r.method,
  COUNT(*) AS requests, SUM(CAST(h.content_length AS INT64)) AS bytes
${ELEMENTS}
GROUP BY day, method ORDER BY day, method
`,
  ],
  [
    'messages.sql',
    `-- id: 1f0a6c0e-58c2-4a7e-9f3d-2b7f0c9d1a02
-- name: bench.messages
-- description: Requests and bytes of messages by day and status; reads the widest column there is
-- max_rows: 10000
SELECT TIMESTAMP_TRUNC(t.timestamp, DAY) AS day, a.status_code,
  COUNT(*) AS requests, SUM(BYTE_LENGTH(t.event_message)) AS bytes
${ELEMENTS}
GROUP BY day, status_code ORDER BY day, status_code
`,
  ],
  [
    'scattered.sql',
    `-- id: 1f0a6c0e-58c2-4a7e-9f3d-2b7f0c9d1a03
-- name: bench.scattered
-- description: A hundred whole events of one project, from days all over
-- param: project string required
SELECT t.id, t.timestamp, t.event_message, t.metadata
FROM \`${EDGE_SOURCE}\` AS t WHERE t.project = @project ORDER BY t.id LIMIT 100
`,
  ],
]);

/** A call, with the name that it has in reports. */
export type MemoryCall = { readonly name: string; readonly path: string };

/** `hot`: the project with most events; `few`: one with some a day. */
export function callsOf(projects: {
  readonly hot: string;
  readonly few: string;
}): readonly MemoryCall[] {
  const { hot, few } = projects;
  const calls = [
    ['90 days by method', 'bench.days'],
    ['90 days, messages by status', 'bench.messages'],
    ['100 of few, all over 90 days', `bench.scattered?project=${few}`],
    ['logs.all few, 90 days', `logs.all?project=${few}&project_tier=ENTERPRISE`],
    ['logs.all hot, 7 days', `logs.all?project=${hot}&project_tier=PRO`],
    ['invocation-stats hot 7day', `functions.invocation-stats?project=${hot}&interval=7day`],
    ['api-counts hot daily', `usage.api-counts?project=${hot}&interval=daily`],
  ] as const;
  return calls.map(([name, query]) => ({ name, path: `/api/endpoints/${query}` }));
}

/** Milliseconds and answer of one call. */
export type CallFigures = {
  readonly name: string;
  readonly firstMs: number;
  /** Median of those that followed the first. */
  readonly againMs: number;
  /** Once more, after all the other calls. */
  readonly laterMs: number;
  readonly hash: string;
};

/**
 * Asks each call once, then `callCount` times again; and when all have been, each once more. Prints a
 * line for each: milliseconds, blocks evicted while it was asked at first and again, resident memory at
 * most meanwhile. @throws Error when an answer changes.
 */
export async function askAll(
  client: HttpClient,
  options: {
    readonly calls: readonly MemoryCall[];
    readonly callCount: number;
    readonly meter: MemoryMeter;
  },
): Promise<readonly CallFigures[]> {
  const { calls, callCount, meter } = options;
  const asked: (Omit<CallFigures, 'laterMs'> & Asked)[] = [];
  for (const { name, path } of calls) {
    showProgress(name);
    meter.takePeakBytes();
    const before = await evictedBlocks(client);
    const first = await timed(client, path);
    const others: number[] = [];
    for (let call = 0; call < callCount; call++) {
      const { ms, hash } = await timed(client, path);
      if (hash !== first.hash) throw new Error(`${name} has another answer now`);
      others.push(ms);
    }
    const evicted = (await evictedBlocks(client)) - before;
    const againMs = figuresOf(others).p50;
    const peakBytes = meter.takePeakBytes();
    asked.push({ name, firstMs: first.ms, againMs, ...first, evicted, peakBytes });
  }
  const figures: CallFigures[] = [];
  printLine(['call', 'first', 'again', 'later', 'evicted', 'peak MB', 'rows', 'hash']);
  for (const [index, { path }] of calls.entries()) {
    const { name, firstMs, againMs, hash, rowCount, evicted, peakBytes } = asked[index]!;
    showProgress(name);
    const { ms: laterMs, hash: laterHash } = await timed(client, path);
    if (laterHash !== hash) throw new Error(`${name} has another answer later`);
    showProgress('');
    printLine([
      ...[name, msText(firstMs), msText(againMs), msText(laterMs)],
      ...[String(evicted), (peakBytes / 1e6).toFixed(0), String(rowCount), hash],
    ]);
    figures.push({ name, firstMs, againMs, laterMs, hash });
  }
  return figures;
}

type Asked = { readonly rowCount: number; readonly evicted: number; readonly peakBytes: number };

/**
 * How many times as long the calls took with little memory. @throws Error when two answers differ.
 */
export function reportRatios(limited: readonly CallFigures[], wide: readonly CallFigures[]): void {
  let all = '';
  console.log('\ntimes as long with the small limit as with the wide one');
  printLine(['call', 'first', 'again', 'later']);
  for (const [index, call] of limited.entries()) {
    const other = wide[index]!;
    if (call.hash !== other.hash) throw new Error(`${call.name} has another answer in memory`);
    const ratio = (of: (figures: CallFigures) => number): string =>
      (of(call) / of(other)).toFixed(1);
    printLine([
      ...[call.name, ratio(({ firstMs }) => firstMs)],
      ...[ratio(({ againMs }) => againMs), ratio(({ laterMs }) => laterMs)],
    ]);
    all += call.hash;
  }
  console.log(`\nall answers are the same, result hash ${hashOf(all)}`);
}

async function timed(
  client: HttpClient,
  path: string,
): Promise<{ readonly ms: number; readonly hash: string; readonly rowCount: number }> {
  const fromMs = performance.now();
  const text = await mustGet(client, path);
  const ms = performance.now() - fromMs;
  const { result } = JSON.parse(text) as { readonly result: readonly unknown[] };
  return { ms, hash: hashOf(text), rowCount: result.length };
}

async function evictedBlocks(client: HttpClient): Promise<number> {
  return (await readMetrics(client)).get('weir_memory_evicted_blocks_total') ?? 0;
}

function printLine([name = '', ...values]: readonly string[]): void {
  const widths = [9, 9, 9, 8, 8, 6, 13];
  const columns = values.map((value, index) => value.padStart(widths[index]!));
  console.log(`${name.padEnd(30)} ${columns.join(' ')}`);
}

function msText(ms: number): string {
  return ms.toFixed(ms < 100 ? 2 : 0);
}
