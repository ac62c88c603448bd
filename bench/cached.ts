/**
 * How much of the rate of a constant body does a kept answer reach? Both come from the same app in
 * the same process, asked in turns; the constant body has passed the same middleware, and no token,
 * parameters, cache or headers of its own. The service's processor time for a request says the same
 * where other work on the machine blurs the rates.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { programWords } from '../test/support/program-words.ts';
import { HttpClient } from './http-client.ts';
import { environmentLine, figuresOf, hashOf, timeEach } from './measure.ts';
import { readSizeOptions } from './size-options.ts';

const TOKEN = 'bench-token-that-may-do-everything';
const CONNECTIONS = 8;

const SIZES = new Map([
  ['small', { roundCount: 1, roundS: 1, callCount: 20 }],
  ['large', { roundCount: 9, roundS: 2, callCount: 2_000 }],
]);

/** Rows that make about 1 KB and 100 KB. */
const BODIES = [
  { name: '1 KB', rowCount: 4 },
  { name: '100 KB', rowCount: 440 },
];

type Service = { readonly url: string; readonly pid: number };

/** Of one round: requests a second, and microseconds of the service's processor time for each. */
type Rate = { readonly perSecond: number; readonly cpuUs: number };

type Size = {
  readonly roundCount: number;
  readonly roundS: number;
  readonly callCount: number;
};

async function main(): Promise<void> {
  const { size, isUncompiled } = readSizeOptions(SIZES);
  const folder = isUncompiled ? 'src' : 'dist/src';
  const program = [...programWords('bench/cached-service.ts'), TOKEN, folder];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = await urlOf(child);
    console.log(`${environmentLine()}, ${CONNECTIONS} connections`);
    let all = '';
    for (const { name, rowCount } of BODIES) {
      const path = `/api/endpoints/bench.rows?project=alpha&function_id=orders&rows=${rowCount}`;
      all += await compare({ url, pid: child.pid! }, { name, path }, size);
    }
    console.log(`\nresult hash ${hashOf(all)}`);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

async function compare(
  service: Service,
  answer: { readonly name: string; readonly path: string },
  size: Size,
): Promise<string> {
  const client = new HttpClient(service.url, TOKEN, 1);
  const first = await client.get(answer.path);
  if (first.status !== 200) throw new Error(`${first.status}: ${first.body}`);
  const paths = { constant: `/api/constant/${first.body.length}`, cached: answer.path };
  console.log(`\n${answer.name}: ${first.body.length} bytes`);
  // Each path once for warm-up; then in turns, so that what slows the machine slows both.
  const rates = { constant: [] as Rate[], cached: [] as Rate[] };
  for (let round = -1; round < size.roundCount; round++) {
    for (const kind of ['constant', 'cached'] as const) {
      const rate = await rateOf(service, paths[kind], size.roundS);
      if (round >= 0) rates[kind].push(rate);
    }
  }
  const leastCpuUs = (kind: keyof typeof rates) =>
    Math.min(...rates[kind].map(({ cpuUs }) => cpuUs));
  for (const kind of ['constant', 'cached'] as const) {
    const { min, p50 } = figuresOf(rates[kind].map(({ perSecond }) => perSecond));
    const latency = figuresOf(
      await timeEach(() => client.get(paths[kind]), {
        count: size.callCount,
        warmUpCount: size.callCount,
      }),
    );
    console.log(
      `  ${kind.padEnd(9)} ${p50.toFixed(0).padStart(6)} requests/s (least ${min.toFixed(0)}), ` +
        `at least ${leastCpuUs(kind).toFixed(0)} µs of processor time each; ` +
        `one after another p50 ${latency.p50.toFixed(3)} ms, p99 ${latency.p99.toFixed(3)} ms`,
    );
  }
  const ratios = rates.cached.map(
    ({ perSecond }, round) => perSecond / rates.constant[round]!.perSecond,
  );
  const byRate = figuresOf(ratios).p50.toFixed(2);
  const byCpu = (leastCpuUs('constant') / leastCpuUs('cached')).toFixed(2);
  console.log(
    `  cached / constant ${byRate} by rate (median of rounds), ${byCpu} by least processor time`,
  );
  const last = await client.get(answer.path);
  client.close();
  if (!last.body.equals(first.body)) throw new Error('the kept answer is another one now');
  return hashOf(last.body);
}

/** Of a closed load of so many seconds. */
async function rateOf(service: Service, path: string, seconds: number): Promise<Rate> {
  const headers = { 'X-API-KEY': TOKEN };
  const url = service.url + path;
  const cpuUsBefore = cpuUsOf(service.pid);
  const result = await autocannon({ url, connections: CONNECTIONS, duration: seconds, headers });
  const cpuUs = cpuUsOf(service.pid) - cpuUsBefore;
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} refused and ${result.errors} failed`);
  }
  return { perSecond: result['2xx'] / result.duration, cpuUs: cpuUs / result['2xx'] };
}

/** What a process has used so far, as Linux counts it: in hundredths of a second. */
function cpuUsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name stands in parentheses and may hold spaces; user and system time are the 12th and 13th after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function urlOf(child: ChildProcess): Promise<string> {
  for await (const part of child.stdout!) {
    const port = /port (\d+)/.exec(String(part))?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error('the service ended before it listened');
}

await main();
