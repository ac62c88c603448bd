import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { RUN_ID_HEADER } from '../http/header-names.ts';
import { CommandFailure, type CommandWorld } from './command.ts';
import { overLine } from './progress.ts';
import { parseJson, type ServiceAnswer, type ServiceClient } from './service-client.ts';

/** Milliseconds before progress is first shown, and between two requests for it. */
const LOOK_MS = 500;

/** How long a cancelled command waits for the service to cancel its query. */
const CANCEL_MS_MAX = 2_000;

/** Characters of a progress bar. */
const BAR_WIDTH = 30;

const RUN_SCHEMA = z.object({
  state: z.enum(['waiting', 'running', 'sending']),
  rows_total: z.number(),
  share: z.number().min(0).max(1),
});

/** What a command asks of a service, and what ends it early. */
type Call = {
  readonly path: string;
  readonly request: RequestInit & { readonly headers: Readonly<Record<string, string>> };
  readonly signal: AbortSignal;
};

/**
 * Asks for the answer of a query. `signal` is not aborted yet. If it takes longer than a moment, shows its progress on a terminal. When the signal
 * aborts, cancels the query at the service, also through a proxy that keeps its connection open.
 *
 * @throws CommandFailure when the query was cancelled, UnreachableError, or ServiceError when the service refuses.
 */
export async function showCall(
  client: ServiceClient,
  { path, request, signal }: Call,
  world: CommandWorld,
): Promise<ServiceAnswer> {
  const id = randomUUID();
  const runPath = `/api/query/runs/${id}`;
  const over = new AbortController();
  const cancel = async (): Promise<void> => {
    const inTime = AbortSignal.timeout(CANCEL_MS_MAX);
    // A query that the service does not know, or that is over, is not to be cancelled.
    await client.ask(runPath, { method: 'DELETE', signal: inTime }).catch(() => {});
    over.abort();
  };
  signal.addEventListener('abort', cancel, { once: true });
  const shown = world.isTerminal.err ? showRun(client, runPath, over.signal, world) : undefined;
  try {
    const headers = { ...request.headers, [RUN_ID_HEADER]: id };
    return await client.answer(path, { ...request, headers, signal: over.signal });
  } catch (error) {
    if (signal.aborted) throw new CommandFailure('the query was cancelled', error);
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    over.abort();
    await shown;
  }
}

/** Shows the progress of a run until the signal aborts, and then removes it. */
async function showRun(
  client: ServiceClient,
  path: string,
  over: AbortSignal,
  world: CommandWorld,
): Promise<void> {
  let isShown = false;
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => {});
    if (over.aborted) break;
    // It may not have begun yet.
    const text = await client.ask(path, { signal: over }).catch(() => '');
    const run = RUN_SCHEMA.safeParse(parseJson(text));
    if (!run.success || over.aborted) continue;
    isShown = true;
    world.err(overLine(runText(run.data)));
  }
  if (isShown) world.err(overLine(''));
}

function runText({ state, rows_total, share }: z.infer<typeof RUN_SCHEMA>): string {
  if (state === 'waiting') return 'waiting for a thread';
  if (state === 'sending') return 'reading the answer';
  // It reads no events, or weir does not know yet how many.
  if (rows_total === 0) return 'running';
  const done = Math.floor(BAR_WIDTH * share);
  return `${'█'.repeat(done)}${'░'.repeat(BAR_WIDTH - done)} ${Math.floor(100 * share)} % of the rows`;
}
