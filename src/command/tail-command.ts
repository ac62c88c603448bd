import { setTimeout as sleep } from 'node:timers/promises';
import { echo } from '../echo.ts';
import { ServiceError } from '../errors.ts';
import { FOLLOWER_RETRY_MS, HEARTBEAT_MS } from '../limits.ts';
import { shownText } from '../shown-text.ts';
import {
  type Command,
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  mustBeOne,
  UsageError,
} from './command.ts';
import { readEvents, type StreamEvent } from './event-lines.ts';
import {
  createServiceClient,
  parseJson,
  type ServiceClient,
  TOKEN_NOTE,
  UnreachableError,
  URL_FLAG,
} from './service-client.ts';

/** After so long a silence the connection is closed, because heartbeats are missing. */
const SILENCE_MS_MAX = 3 * HEARTBEAT_MS;

/** `weir tail`. */
export const TAIL: Command = {
  usage: ['SOURCE [--search TEXT] [--project P] [--last N] [--since TIME] [--json] [--url URL]'],
  about: `
Shows each event as a line: its time, its project if it has one, and its message. When the
connection ends, tail connects again and continues after the last event. It skips and repeats no
event. Ctrl-C ends it.`,
  flags: {
    search: {
      placeholder: 'TEXT',
      text: 'show only events that match, such as "GET -debug status>=500"; needs the scope explore',
    },
    project: { placeholder: 'P', text: 'show only events of this project' },
    last: {
      placeholder: 'N',
      text: 'start with the last N events; default: new events only',
    },
    since: {
      placeholder: 'TIME',
      text: 'show only events with a timestamp from this ISO 8601 time on; stored ones come first',
    },
    json: { text: 'write each whole event as one JSON object a line' },
    url: URL_FLAG,
  },
  notes: [TOKEN_NOTE],
  run: async (words, world) => {
    const path = formatPath(words);
    const client = createServiceClient(words, world);
    await follow({ client, path, show: createDisplay(words, world), world, ended: world.ended() });
    return 0;
  },
};

function formatPath(words: CommandWords): string {
  const source = mustBeOne('tail', 'the name of one source', words.positionals);
  const query = new URLSearchParams();
  for (const name of ['search', 'project', 'last', 'since']) {
    const text = words.find(name);
    if (text !== undefined) query.set(name, text);
  }
  return `/api/sources/${encodeURIComponent(source)}/tail?${query}`;
}

type Following = {
  readonly client: ServiceClient;
  readonly path: string;
  readonly show: (data: string) => void;
  readonly world: CommandWorld;
  readonly ended: AbortSignal;
};

/** Follows until it is ended, and reconnects as needed. */
async function follow(following: Following): Promise<void> {
  const { world, ended } = following;
  const place: Place = { id: undefined, retryMs: FOLLOWER_RETRY_MS, hasBegun: false };
  let isTold = false;
  while (!ended.aborted) {
    try {
      await readStream(following, place);
      isTold = false;
    } catch (error) {
      if (ended.aborted) return;
      if (!mayComeAgain(error, place)) throw place.hasBegun ? error : asUsage(error);
      // Once for each interruption, and not for each attempt.
      if (!isTold) world.err(`${error instanceof Error ? error.message : error}; trying again\n`);
      isTold = true;
    }
    await sleep(place.retryMs, undefined, { signal: ended }).catch(() => {});
  }
}

/** How far the stream has been read. */
type Place = { id: string | undefined; retryMs: number; hasBegun: boolean };

/** Reads one connection until it ends. */
async function readStream(
  { client, path, show, world, ended }: Following,
  place: Place,
): Promise<void> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), SILENCE_MS_MAX);
  try {
    const signal = AbortSignal.any([ended, silent.signal]);
    const headers = place.id === undefined ? {} : { 'Last-Event-ID': place.id };
    const pieces = await client.open(path, headers, signal);
    for await (const event of readEvents(pieces)) {
      timer.refresh();
      place.hasBegun = true;
      place.id = event.id ?? place.id;
      place.retryMs = event.retryMs ?? place.retryMs;
      showEvent(event, show, world);
    }
  } finally {
    clearTimeout(timer);
  }
}

function showEvent(
  { event, data }: StreamEvent,
  show: Following['show'],
  world: CommandWorld,
): void {
  if (data === undefined) return;
  if (event === 'message') show(data);
  else world.err(`${event}: ${shownText(data)}\n`);
}

/**
 * Whether a retry may help: the failure looks temporary, and the service was reached and accepted
 * the arguments before.
 */
function mayComeAgain(error: unknown, { hasBegun }: Place): boolean {
  if (!hasBegun) return false;
  return (
    error instanceof UnreachableError || (error instanceof ServiceError && error.status >= 429)
  );
}

function asUsage(error: unknown): unknown {
  const isUsage = error instanceof ServiceError && error.status === 400;
  return isUsage ? new UsageError(error.message) : error;
}

function createDisplay(words: CommandWords, world: CommandWorld): Following['show'] {
  if (words.has('json')) return (data) => world.out(`${data}\n`);
  return (data) => {
    const event = parseJson(data) as Readonly<Record<string, unknown>> | undefined;
    if (typeof event?.['timestamp'] !== 'number') {
      throw new CommandFailure(`an event must have a timestamp; got ${echo(data)}`);
    }
    const { timestamp, project, event_message: message } = event;
    const time = new Date(Number(timestamp) / 1000).toISOString();
    const parts = [time, project, message].filter((part) => typeof part === 'string');
    world.out(`${parts.map((part) => shownText(part)).join('  ')}\n`);
  };
}
