import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../engine/columns.ts';
import type { Clock } from '../clock.ts';
import type { CommandWorld } from '../command/command.ts';
import { showProgress } from '../command/progress.ts';
import { textTable } from '../command/text-table.ts';
import { formatConsoleLink } from '../console/console-link.ts';
import { startService } from '../service.ts';
import { parseSettings } from '../settings.ts';
import { openBackend } from '../store/log-backend.ts';
import { DemoClient } from './demo-client.ts';
import type { LogEvent } from './traffic/log-event.ts';
import { Traffic } from './traffic/traffic.ts';

/** Hours of history at the start of the demo, and the number of events in them. */
const HISTORY_HOURS = 6;
const HISTORY_EVENTS = 60_000;
const LIVE_EVENTS_PER_S = 20;

/** Events of one POST, as many as a collector sends. */
const BATCH_EVENTS = 500;

const PROJECT_COUNT = 12;
const ROWS_SHOWN = 5;
const HOUR_MS = 3_600_000;

/**
 * Starts a throwaway instance with sample traffic, shows the three calls, and runs until a signal.
 * Its folder is removed at the end.
 */
export async function runDemo(
  { environment, isTerminal }: Pick<CommandWorld, 'environment' | 'isTerminal'>,
  clock: Clock,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-demo-'));
  const tokens = { ingest: `demo-ingest-${randomUUID()}`, query: `demo-query-${randomUUID()}` };
  const settings = parseSettings({
    PORT: '0',
    WORKERS: environment['WORKERS'],
    DATA_DIR: dataDir,
    PUBLIC_ACCESS_TOKEN: tokens.ingest,
    PRIVATE_ACCESS_TOKEN: tokens.query,
  });
  const ended = new AbortController();
  const end = () => (ended.signal.aborted ? process.exit(1) : ended.abort());
  process.on('SIGINT', end).on('SIGTERM', end);
  const log = () => {};
  const service = await startService({
    settings,
    clock,
    log,
    openBackend: (stored) => openBackend({ settings: stored, log, nowMs: clock.monotonicMs }),
  });
  try {
    const link = isTerminal.out ? formatConsoleLink(service.url, tokens.query) : `${service.url}/`;
    process.stdout.write(`look at the logs in a browser: ${link}\n\n`);
    process.stdout.write(`weir runs at ${service.url} with its data in ${dataDir}\n`);
    const client = new DemoClient(service.url, tokens);
    const traffic = new Traffic({ seed: 1, projectCount: PROJECT_COUNT });
    await sendHistory(client, traffic, clock, ended.signal);
    if (!ended.signal.aborted) await showCalls(client, traffic);
    await sendLive(client, traffic, clock, ended.signal);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
    process.stdout.write('\nweir has stopped and removed its folder\n');
  }
}

async function sendHistory(
  client: DemoClient,
  traffic: Traffic,
  clock: Clock,
  ended: AbortSignal,
): Promise<void> {
  const endMs = clock.nowUs() / 1000;
  const stepMs = (HISTORY_HOURS * HOUR_MS) / HISTORY_EVENTS;
  const startMs = clock.monotonicMs();
  const waiting = new Map<string, LogEvent[]>();
  let sentCount = 0;
  const send = async (source: string, events: readonly LogEvent[]) => {
    await client.post(source, events);
    sentCount += events.length;
    const percent = Math.round((100 * sentCount) / HISTORY_EVENTS);
    showProgress(`sending ${HISTORY_HOURS} hours of history: ${percent} %`);
  };
  for (let index = 0; index < HISTORY_EVENTS && !ended.aborted; index++) {
    const { source, event } = traffic.next(Math.floor(endMs - (HISTORY_EVENTS - index) * stepMs));
    const events = waiting.get(source) ?? [];
    waiting.set(source, events);
    events.push(event);
    if (events.length === BATCH_EVENTS) await send(source, events.splice(0));
  }
  for (const [source, events] of waiting) await send(source, events);
  showProgress('');
  const seconds = (clock.monotonicMs() - startMs) / 1000;
  process.stdout.write(
    `stored ${sentCount} events of ${HISTORY_HOURS} hours and nine sources in ${seconds.toFixed(1)} s\n`,
  );
}

async function showCalls(client: DemoClient, traffic: Traffic): Promise<void> {
  const project = must(traffic.projects[0], 'the traffic is that of a project').ref;
  const paths = [
    `/api/endpoints/logs.all?project=${project}&project_tier=PRO`,
    `/api/endpoints/functions.invocation-stats?project=${project}&interval=1day`,
    `/api/endpoints/usage.api-counts?project=${project}&interval=daily`,
  ];
  for (const path of paths) {
    const rows = await client.call(path);
    process.stdout.write(`\n${client.curlLine(path)}\n\n${textTable(rows, ROWS_SHOWN)}\n`);
  }
}

/** Sends a few events each second, so that every call shows recent ones. */
async function sendLive(
  client: DemoClient,
  traffic: Traffic,
  clock: Clock,
  ended: AbortSignal,
): Promise<void> {
  if (ended.aborted) return;
  process.stdout.write(
    `\nnow live, ${LIVE_EVENTS_PER_S} events a second: call again and see; Ctrl-C ends it\n`,
  );
  let sentCount = 0;
  while (!ended.aborted) {
    const bySource = new Map<string, LogEvent[]>();
    for (let index = 0; index < LIVE_EVENTS_PER_S; index++) {
      const { source, event } = traffic.next(Math.floor(clock.nowUs() / 1000));
      bySource.set(source, [...(bySource.get(source) ?? []), event]);
    }
    for (const [source, events] of bySource) await client.post(source, events);
    sentCount += LIVE_EVENTS_PER_S;
    showProgress(`${sentCount} live events sent`);
    await sleep(1000, undefined, { signal: ended }).catch(() => {});
  }
}
