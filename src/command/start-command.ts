import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { createClock } from '../clock.ts';
import { unneededSettings } from '../container-settings.ts';
import { CatalogueError } from '../definition/catalogue.ts';
import { CLOSE_MS_MAX, HEAP_GROWING_PERCENT } from '../limits.ts';
import { createLog } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { parseSettings, SettingsError } from '../settings.ts';
import { StartError } from '../start-error.ts';
import { startMessage } from '../start-message.ts';
import { openBackend } from '../store/log-backend.ts';
import { packageVersion } from '../version.ts';
import { type Command, CommandFailure, type CommandWorld, UsageError } from './command.ts';

/** `weir start`. */
export const START: Command = {
  help: `weir start runs the service until SIGTERM or Ctrl-C ends it.

  weir start [--strict]

Settings are environment variables:

  PORT                   port to listen on (4000)
  HOST                   address to listen on (127.0.0.1)
  DATA_DIR               folder for everything that is stored (./data)
  PROFILE                default, or supabase: a drop-in for the stack's analytics container
  ENDPOINTS_DIR          folder of further saved queries, *.sql
  PUBLIC_ACCESS_TOKEN    token that may post logs
  PRIVATE_ACCESS_TOKEN   token that may do everything
  MEMORY_LIMIT           memory of the process, such as 2GiB (half of what there is)
  CACHE_LIMIT            memory for kept answers (64MiB); with 0 every call runs
  MEMO_LIMIT             memory for what is remembered of sealed segments (64MiB); with 0 nothing is
  PROJECT_EVENTS_PER_DAY events that may be posted of each project on a UTC day (any number)
  PROJECT_BYTES_PER_DAY  the same of bytes before compression, such as 10GB
  PROJECT_STORED_BYTES   bytes that may be posted of each project within the retention, likewise
  RETENTION_DAYS         days that logs are kept (90)
  SOURCES                further sources, with commas between them
  DEFAULT_SOURCE         source of senders who name none: OpenTelemetry, Elasticsearch, Loki (logs)
  FROZEN_NOW             ISO 8601 time at which the clock stands still, for tests
  WORKERS                threads that run queries

Tokens may also be given as LOGFLARE_PUBLIC_ACCESS_TOKEN and LOGFLARE_PRIVATE_ACCESS_TOKEN, and each
of the four as the path of a file, with _FILE behind the name. Without tokens the first start makes
two and prints them.

A definition file of ENDPOINTS_DIR that is wrong stops nothing: its last good state is in force
where one is kept, and the start names each such file and why. With --strict it stops the start.

  --strict   a wrong definition file stops the start
  --help     this text

Exit status: 0 when a signal ended it; 1 when it could not start or go on; 2 when the command was
not understood.
`,
  options: { strict: { type: 'boolean' } },
  run: async (words, world) => {
    if (words.positionals.length > 0) throw new UsageError('start takes no words behind it');
    try {
      await start(world, { isStrict: words.has('strict') });
    } catch (error) {
      const isKnown =
        error instanceof SettingsError ||
        error instanceof CatalogueError ||
        error instanceof StartError;
      throw isKnown ? new CommandFailure(cannotGoOn(error.message), error) : error;
    }
    return 0;
  },
};

/** Problems may be many: each stands in a line of its own. */
function cannotGoOn(problems: string): string {
  return `weir cannot go on:\n\n${problems.replaceAll(/^(?=.)/gm, '  ')}`;
}

/** Runs the service until a signal ends it. */
async function start(world: CommandWorld, { isStrict }: { isStrict: boolean }): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const ended = world.ended();
  const settings = parseSettings(world.environment);
  const clock = createClock({ ...world, frozenNowUs: settings.frozenNowUs });
  const log = createLog(
    (line) => world.err(line),
    () => new Date(world.wallMs()).toISOString(),
  );
  const service: Service = await startService({
    ...{ settings, clock, log, isStrict },
    openBackend: (stored) => openBackend({ settings: stored, log, nowMs: clock.monotonicMs }),
  });
  const sources = service.backend.intake.listSources();
  const unneeded = settings.profile === 'supabase' ? unneededSettings(world.environment) : [];
  world.out(startMessage({ version: packageVersion(), settings, sources, service, unneeded }));
  const endedBy = await Promise.race([service.replaced, untilAborted(ended)]);
  await service.stop({ closeMsMax: CLOSE_MS_MAX });
  if (endedBy !== undefined) throw new StartError(`DATA_DIR: ${endedBy.message}`, endedBy);
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}
