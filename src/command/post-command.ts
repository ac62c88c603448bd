import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '../../engine/index.ts';
import { systemCode, systemReason } from '../../ingest/system-reason.ts';
import { ServiceError } from '../errors.ts';
import { shownText } from '../shown-text.ts';
import {
  type Command,
  CommandFailure,
  type CommandWorld,
  mustBeOne,
  UsageError,
} from './command.ts';
import { type FileEvent, FileEvents, type FileForm } from './file-events.ts';
import {
  createServiceClient,
  type ServiceClient,
  UnreachableError,
  URL_FLAG,
} from './service-client.ts';

/**
 * Bytes and events of one request: far below the limits of a post, so that a failed request loses
 * little.
 */
const REQUEST_BYTES_MAX = 4_000_000;
const REQUEST_EVENTS_MAX = 10_000;

/** The number of retries of a request, and the maximum seconds before each: ten minutes in all. */
const RETRIES_MAX = 10;
const RETRY_AFTER_S_MAX = 60;

/** `weir post`. */
export const POST: Command = {
  usage: ['FILE [--source NAME] [--url URL]'],
  about: `
FILE has events as JSON: one on each line, a list, or one after another. With -, weir reads standard
input. It sends the events in several requests. A request that the service refuses for
now (429, 503) is sent again when the service says, but after ${RETRY_AFTER_S_MAX} seconds at the latest, and up
to ${RETRIES_MAX} times.

  weir post events.ndjson --source app.logs

Standard output shows how many events are stored. Standard error shows why others were refused, and
warnings about those that are stored. If a request fails, weir sends nothing after it.`,
  flags: {
    source: { placeholder: 'NAME', text: 'source to post to; default: the token’s own' },
    url: URL_FLAG,
  },
  notes: [
    'The token is read from PUBLIC_ACCESS_TOKEN, else from PRIVATE_ACCESS_TOKEN, or from either with _FILE. It needs the scope ingest.',
  ],
  run: async (words, world) => {
    const file = mustBeOne('post', 'one file, or - for standard input', words.positionals);
    const client = createServiceClient(words, world, { isForPosts: true });
    const events = await FileEvents.open(withReadErrors(file, openInput(file, world)), {
      hasLines: /\.(?:ndjson|jsonl)$/i.test(file),
    });
    const posting = new Posting({ client, world, source: words.find('source'), form: events.form });
    try {
      for await (const event of events.read()) await posting.add(event);
      await posting.flush();
    } finally {
      posting.report();
    }
    return posting.refusedCount === 0 ? 0 : 1;
  },
};

function openInput(file: string, { input }: CommandWorld): AsyncIterable<Uint8Array> {
  return file === '-' ? input() : createReadStream(file);
}

async function* withReadErrors(
  file: string,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* input;
  } catch (cause) {
    if (systemCode(cause) === undefined) throw cause;
    throw new CommandFailure(
      `${file} must be a file that can be read: ${systemReason(cause)}`,
      cause,
    );
  }
}

/** Sends events in requests of bounded size, one after another, and counts the results. */
class Posting {
  readonly #client: ServiceClient;
  readonly #world: CommandWorld;
  readonly #path: string;
  /** What a position in the file is called. */
  readonly #noun: string;
  #waiting: FileEvent[] = [];
  #waitingSize = 0;
  #storedCount = 0;
  /** Whether a failed try of the request under way may have stored its events. */
  #mayBeStored = false;
  refusedCount = 0;

  constructor(parts: {
    readonly client: ServiceClient;
    readonly world: CommandWorld;
    readonly source: string | undefined;
    readonly form: FileForm;
  }) {
    const { source } = parts;
    this.#client = parts.client;
    this.#world = parts.world;
    const query = source === undefined ? '' : `?${new URLSearchParams({ source_name: source })}`;
    this.#path = `/api/logs${query}`;
    this.#noun = parts.form === 'lines' ? 'line' : 'event';
  }

  /** Adds an event, and sends a full request. Throws as `flush` does. */
  async add(event: FileEvent): Promise<void> {
    const size = event.text.length + 1;
    const isFull =
      this.#waitingSize + size > REQUEST_BYTES_MAX || this.#waiting.length >= REQUEST_EVENTS_MAX;
    if (isFull) await this.flush();
    this.#waiting.push(event);
    this.#waitingSize += size;
  }

  /**
   * Sends the remaining events.
   *
   * @throws UsageError, or CommandFailure with what was not stored.
   */
  async flush(): Promise<void> {
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    this.#waitingSize = 0;
    this.#mayBeStored = false;
    const body = Buffer.from(events.map(({ text }) => `${text}\n`).join(''), 'latin1');
    try {
      const { warnings } = await this.#send(body);
      this.#storedCount += events.length;
      this.#tellWarnings(events, warnings);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'events_refused') {
        this.#tellRefusals(events, error);
      } else throw this.#toFailure(events, error);
    }
  }

  report(): void {
    this.#world.out(`${eventsText(this.#storedCount)} stored\n`);
    if (this.refusedCount > 0) this.#world.err(`${eventsText(this.refusedCount)} refused\n`);
  }

  /** Sends a request, and repeats it while the service refuses it temporarily. */
  async #send(body: Buffer): Promise<{ readonly warnings: string | undefined }> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#client.answer(this.#path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/x-ndjson' },
          body,
        });
      } catch (error) {
        this.#mayBeStored ||= mayHaveStored(error);
        const isForNow = error instanceof ServiceError && [429, 503].includes(error.status);
        if (!isForNow || retries === RETRIES_MAX) throw error;
        const { seconds, text } = planRetry(error.retryAfterS ?? 0);
        this.#world.err(`${error.message}; ${text}\n`);
        await sleep(seconds * 1000);
      }
    }
  }

  /** Reports refused events. All others are stored. */
  #tellRefusals(events: readonly FileEvent[], error: ServiceError): void {
    let refused = 0;
    for (const sentence of error.details.refusals ?? []) {
      const [, index, reason] = /^event (\d+): (.*)$/s.exec(sentence) ?? [];
      const event = index === undefined ? undefined : events[Number(index)];
      const [, more] = /^… and (\d+) more events$/.exec(sentence) ?? [];
      refused += event === undefined ? Number(more ?? 0) : 1;
      // The service counts the lines of the request, not those of the file.
      const why = reason?.replace(/^line \d+ is not JSON/, 'not JSON');
      const place = event === undefined ? sentence : `${this.#noun} ${event.place}: ${why}`;
      this.#world.err(`${shownText(place)}\n`);
    }
    this.refusedCount += refused;
    this.#storedCount += events.length - refused;
    this.#tellWarnings(events, error.details.warnings);
  }

  #tellWarnings(events: readonly FileEvent[], warnings: string | undefined): void {
    if (warnings !== undefined)
      this.#world.err(`${this.#formatPlaces(events)}: ${shownText(warnings)}\n`);
  }

  #toFailure(events: readonly FileEvent[], error: unknown): unknown {
    if (!(error instanceof ServiceError || error instanceof CommandFailure)) return error;
    const isUsage = error instanceof ServiceError && error.code === 'missing_source';
    if (isUsage) return new UsageError('--source must name the source; got none');
    const are = events.length === 1 ? 'is' : 'are';
    const what = this.#mayBeStored ? 'may be stored' : `${are} not stored`;
    return new CommandFailure(
      `${error.message}\n${this.#formatPlaces(events)} ${what}, and nothing after it`,
      error,
    );
  }

  #formatPlaces(events: readonly FileEvent[]): string {
    const [first, last] = [events[0]?.place, events.at(-1)?.place];
    return first === last ? `${this.#noun} ${first}` : `${this.#noun}s ${first} to ${last}`;
  }
}

/** The seconds before the next try, when the service asks for so many, and what to say of them. */
export function planRetry(askedS: number): { readonly seconds: number; readonly text: string } {
  const seconds = Math.min(askedS, RETRY_AFTER_S_MAX);
  const text = `trying again in ${seconds} s`;
  if (seconds === askedS) return { seconds, text };
  return { seconds, text: `${text}, though the service asks for ${count(askedS)} s` };
}

/** Without an answer, or after a failure of the disk, it is unknown whether events were stored. */
function mayHaveStored(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'storage_failed';
  return !(error instanceof UnreachableError) || error.mayHaveSent;
}

function eventsText(size: number): string {
  return `${count(size)} ${size === 1 ? 'event' : 'events'}`;
}
