/**
 * Does the service answer while callers send and read as slowly as they can?
 *
 *   npm run build && node --import tsx bench/slow-callers.ts
 *
 * Runs slowhttptest (Debian has a package of that name) in its four modes, one after another, and asks for
 * something else ten times a second meanwhile. Each mode ends when the service has cut off all its connections.
 */
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { HttpClient } from './http-client.ts';
import { environmentLine } from './measure.ts';
import { ServiceProcess } from './service-process.ts';

/** Connections of one mode, made at this rate. */
const CONNECTIONS = '1000';
const CONNECTIONS_PER_S = '200';

/** Seconds after which a mode is ended. The service should have ended it before. */
const MODE_S_MAX = 90;

const ASK_MS = 100;

const MODES: readonly {
  readonly name: string;
  readonly options: (service: ServiceProcess) => readonly string[];
}[] = [
  { name: 'slow headers', options: ({ url }) => ['-H', '-u', `${url}/health`] },
  {
    name: 'slow bodies',
    options: ({ url, token }) => [
      ...['-B', '-t', 'POST', '-s', '100000', '-f', 'application/json'],
      ...['-u', `${url}/api/logs?source_name=postgres.logs&api_key=${token}`],
    ],
  },
  {
    name: 'overlapping ranges',
    options: ({ url }) => ['-R', '-a', '10', '-b', '3000', '-u', `${url}/health`],
  },
  {
    name: 'slow reading',
    options: ({ url }) => [
      ...['-X', '-w', '16', '-y', '64', '-n', '5', '-z', '16', '-k', '3'],
      ...['-u', `${url}/openapi.json`],
    ],
  },
];

await main();

async function main(): Promise<void> {
  console.log(environmentLine());
  const service = await ServiceProcess.start(['dist/src/main.js'], {});
  try {
    for (const mode of MODES) await measure(mode, service);
  } finally {
    await service.stop();
  }
}

async function measure(
  { name, options }: (typeof MODES)[number],
  service: ServiceProcess,
): Promise<void> {
  const client = new HttpClient(service.url, service.token, 1);
  const startMs = performance.now();
  let isOver = false;
  const attack = attacked(options(service)).finally(() => {
    isOver = true;
  });
  const tookMs: number[] = [];
  while (!isOver) {
    const askedMs = performance.now();
    const { status } = await client.get('/health');
    if (status !== 200) throw new Error(`${name}: /health answered ${status}`);
    tookMs.push(performance.now() - askedMs);
    await wait(ASK_MS);
  }
  const how = await attack;
  tookMs.sort((left, right) => left - right);
  const share = (part: number) => tookMs[Math.floor(part * (tookMs.length - 1))]!.toFixed(1);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  console.log(
    `${name}: ${how} after ${seconds} s; ${tookMs.length} other calls, p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, max ${share(1)} ms, all answered`,
  );
  client.close();
}

/** Resolves to why the attack ended, in its own words. */
async function attacked(options: readonly string[]): Promise<string> {
  const limits = ['-c', CONNECTIONS, '-r', CONNECTIONS_PER_S, '-l', String(MODE_S_MAX)];
  const child = spawn('slowhttptest', [...limits, '-i', '5', '-x', '24', '-p', '3', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    child.on('error', (cause) =>
      reject(new Error('slowhttptest must be installed and in PATH', { cause })),
    );
    child.on('exit', () => resolve());
  });
  // Between it and its words are colours for a terminal.
  return /Exit status:[^A-Z]*([A-Za-z ]+)/.exec(output)?.[1]?.trim() ?? 'ended';
}
