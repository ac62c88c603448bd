/**
 * Does a project pay for its neighbours? Its rows stay as they are while those of all others grow thirtyfold.
 *
 *   npm run build && node --import tsx bench/growth.ts
 *   node --import tsx bench/growth.ts --size small --uncompiled   as the tests run it
 *
 * Half of the rows are lean edge events, half invocations. At each number of rows the service is stopped
 * and started again, and asked of that one project.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../engine/assert.ts';
import { showProgress } from '../src/command/progress.ts';
import { BytesClient } from './bytes-client.ts';
import { HttpClient } from './http-client.ts';
import { barText, environmentLine, figuresOf, hashOf, timeEach } from './measure.ts';
import { postAll } from './posting.ts';
import { ServiceProcess } from './service-process.ts';
import { readSizeOptions } from './size-options.ts';
import { NOW } from './workload/clock.ts';
import { Tenants } from './workload/tenants.ts';
import { KINDS, type Kind, ndjson } from './workload/workload.ts';

const POST_EVENTS = 500;
const CONNECTIONS = 4;

/** The project that stays as it is: not among the busiest, and with more rows than a page. */
const RANK = 20;

const KINDS_POSTED: readonly Kind[] = ['lean', 'invocations'];

const BARS = { ratio: 1.5, startMs: 5_000 };

type Size = {
  readonly projectCount: number;
  readonly rowCounts: readonly number[];
  readonly callCount: number;
};

const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { projectCount: 40, rowCounts: [4_000, 12_000], callCount: 5 }],
  ['large', { projectCount: 2_000, rowCounts: [1e6, 3e6, 1e7, 3e7], callCount: 300 }],
]);

/** What one number of rows gave; `p50Ms` of each call, by its name. */
type Point = {
  readonly rowCount: number;
  readonly startMs: number;
  readonly p50Ms: ReadonlyMap<string, number>;
  readonly answers: string;
};

async function main(): Promise<void> {
  const { size, command } = readSizeOptions(SIZES);
  const folder = mkdtempSync(join(tmpdir(), 'weir-growth-'));
  const start = () => ServiceProcess.start(command, { FROZEN_NOW: NOW, CACHE_LIMIT: '0' }, folder);
  const points: Point[] = [];
  try {
    for (const [round, rowCount] of size.rowCounts.entries()) {
      const added = rowCount - (size.rowCounts[round - 1] ?? 0);
      await grow(start, { round, rowCount: added, projectCount: size.projectCount });
      points.push(await measure(start, rowCount, size));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  report(points);
}

async function grow(
  start: () => Promise<ServiceProcess>,
  by: { readonly round: number; readonly rowCount: number; readonly projectCount: number },
): Promise<void> {
  const { round, rowCount, projectCount } = by;
  const tenants = new Tenants(projectCount, { silentRank: round === 0 ? undefined : RANK });
  const service = await start();
  const client = new HttpClient(service.url, service.token, CONNECTIONS);
  try {
    for (const kind of KINDS_POSTED) {
      const eventCount = rowCount / KINDS_POSTED.length;
      const batches = ndjson(kind, { tenants, eventCount, round, perText: POST_EVENTS });
      let sentCount = 0;
      const path = `/api/logs?source_name=${KINDS.get(kind)!.source}`;
      await postAll(client, { path, connectionCount: CONNECTIONS }, () => {
        const { value, done } = batches.next();
        if (done) return undefined;
        sentCount += value.eventCount;
        showProgress(`${kind}: ${sentCount} of ${eventCount} more`);
        return Buffer.from(`[${value.text.slice(0, -1).replaceAll('\n', ',')}]`);
      });
    }
    showProgress('');
    await service.atRest();
  } finally {
    client.close();
    await service.stop();
  }
}

async function measure(
  start: () => Promise<ServiceProcess>,
  rowCount: number,
  size: Size,
): Promise<Point> {
  const fromMs = performance.now();
  const service = await start();
  const startMs = performance.now() - fromMs;
  try {
    await service.atRest();
    const client = await BytesClient.connect(service.url, service.token);
    const { ref } = new Tenants(size.projectCount).projects[RANK]!;
    const p50Ms = new Map<string, number>();
    let answers = '';
    for (const [name, query] of callsOf(ref)) {
      const request = client.requestFor(`/api/endpoints/${query}`);
      answers += hashOf(await client.ask(request));
      const times = { count: size.callCount, warmUpCount: size.callCount };
      p50Ms.set(name, figuresOf(await timeEach(() => client.ask(request), times)).p50);
    }
    client.close();
    return { rowCount, startMs, p50Ms, answers };
  } finally {
    await service.stop();
  }
}

function callsOf(ref: string): readonly (readonly [name: string, query: string])[] {
  return [
    ['logs.all', `logs.all?project=${ref}&project_tier=PRO`],
    ...['7day', '1day', '1hr'].map(
      (interval) =>
        [
          `invocation-stats ${interval}`,
          `functions.invocation-stats?project=${ref}&interval=${interval}`,
        ] as const,
    ),
  ];
}

/** @throws Error when an answer of the project is not the same each time. */
function report(points: readonly Point[]): void {
  const [first, last] = [must(points[0], 'there is one'), must(points.at(-1), 'there is one')];
  for (const { rowCount, answers } of points) {
    if (answers !== first.answers) throw new Error(`with ${rowCount} rows the answers are others`);
  }
  const cells = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;
  console.log(`${environmentLine()}\n`);
  console.log(
    cells([
      'p50, ms',
      ...points.map(({ rowCount }) => rowCount.toLocaleString('en')),
      'last ÷ first',
    ]),
  );
  console.log(cells(Array.from({ length: points.length + 2 }, () => '---')));
  for (const [name, firstMs] of first.p50Ms) {
    const ratio = last.p50Ms.get(name)! / firstMs;
    const times = points.map(({ p50Ms }) => p50Ms.get(name)!.toFixed(2));
    const bar = barText(`<= ${BARS.ratio}`, ratio <= BARS.ratio);
    console.log(cells([name, ...times, `${ratio.toFixed(2)} ${bar}`]));
  }
  const starts = points.map(({ startMs }) => startMs.toFixed(0));
  const bar = barText(`<= ${BARS.startMs}`, last.startMs <= BARS.startMs);
  console.log(cells(['start', ...starts, bar]));
  console.log(`\n${chartOf(points)}`);
}

/** A chart of the slopes, in the language that Markdown pages have for such. */
function chartOf(points: readonly Point[]): string {
  const rows = points.map(({ rowCount }) => `"${rowCount.toLocaleString('en')}"`);
  const lines = Array.from(points[0]!.p50Ms.keys(), (name) => {
    const ratios = points.map(({ p50Ms }) => p50Ms.get(name)! / points[0]!.p50Ms.get(name)!);
    return `  line "${name}" [${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}]`;
  });
  return [
    '```mermaid',
    'xychart-beta',
    '  title "One project asked, others growing: times the p50 of the first"',
    `  x-axis "rows" [${rows.join(', ')}]`,
    `  y-axis "times" 0 --> 2`,
    ...lines,
    '```',
  ].join('\n');
}

await main();
