import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { createClock } from './clock.ts';
import type { CommandWorld } from './command/explain-command.ts';
import { unneededSettings } from './container-settings.ts';
import { CatalogueError } from './definition/catalogue.ts';
import { echo } from './echo.ts';
import { HEAP_GROWING_PERCENT } from './limits.ts';
import { createLog } from './log.ts';
import { type Service, startService } from './service.ts';
import { type Environment, parseSettings, SettingsError } from './settings.ts';
import { StartError } from './start-error.ts';
import { startMessage } from './start-message.ts';
import { openBackend } from './store/log-backend.ts';
import { packageVersion } from './version.ts';

const HELP = `weir takes in the logs of many projects and answers saved SQL queries over HTTP.

  weir start      run the service
  weir demo       run it on a folder of its own, with traffic made up
  weir explain    show how a saved query is answered, and what that takes; --help tells more
  weir inspect    tell what a data folder holds; --help tells more
  weir verify     hold every byte of a data folder against its checksum; --help tells more
  weir --help     this text
  weir --version  the version

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
  RETENTION_DAYS         days that logs are kept (90)
  SOURCES                further sources, with commas between them
  DEFAULT_SOURCE         source of senders who name none: OpenTelemetry, Elasticsearch, Loki (logs)
  FROZEN_NOW             ISO 8601 time at which the clock stands still, for tests
  WORKERS                threads that run queries

Tokens may also be given as LOGFLARE_PUBLIC_ACCESS_TOKEN and LOGFLARE_PRIVATE_ACCESS_TOKEN, and each
of the four as the path of a file, with _FILE behind the name. Without tokens the first start makes
two and prints them.
`;

/** The machine's clocks: nothing else reads them. */
const wallMs = (): number => Date.now();
const monotonicMs = (): number => performance.now();

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  const [command, ...rest] = argv;
  if (command === 'demo') {
    const { runDemo } = await import('./demo/demo.ts');
    await orFail(runDemo(rest, process.env, createClock({ wallMs, monotonicMs })));
    return;
  }
  const run = await findCommand(command);
  if (run !== undefined) {
    const { nowUs } = createClock({ wallMs, monotonicMs });
    await orFail(
      run(rest, {
        environment: process.env,
        nowUs,
        out: (text) => process.stdout.write(text),
        err: (text) => process.stderr.write(text),
      }).then((status) => {
        process.exitCode = status;
      }),
    );
    return;
  }
  let options: { help?: boolean | undefined; version?: boolean | undefined };
  let words: string[];
  try {
    const parsed = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    });
    options = parsed.values;
    words = parsed.positionals;
  } catch (error) {
    fail(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  }
  if (options.help === true) process.stdout.write(HELP);
  else if (options.version === true) process.stdout.write(`${packageVersion()}\n`);
  else if (words.length === 1 && words[0] === 'start') await orFail(start(process.env));
  else {
    const got = echo(words.join(' '));
    fail(`the command must be start, demo, explain, inspect or verify; got ${got}\n\n${HELP}`);
  }
}

type RunCommand = (words: readonly string[], world: CommandWorld) => Promise<number>;

/** The commands that end by themselves, each read only when it is asked for. */
async function findCommand(command: string | undefined): Promise<RunCommand | undefined> {
  switch (command) {
    case 'explain':
      return (await import('./command/explain-command.ts')).runExplain;
    case 'inspect':
      return (await import('./command/inspect-command.ts')).runInspect;
    case 'verify':
      return (await import('./command/verify-command.ts')).runVerify;
    default:
      return undefined;
  }
}

/** Runs the service until a signal ends it. */
async function start(environment: Environment): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  let service: Service | undefined;
  let isEnding = false;
  const end = (): void => {
    // Asked twice, it ends at once; what was acknowledged is on disk.
    if (isEnding) process.exit(1);
    isEnding = true;
    if (service !== undefined) void orFail(service.stop().then(() => process.exit(0)));
  };
  process.on('SIGTERM', end).on('SIGINT', end);

  const settings = parseSettings(environment);
  const clock = createClock({ wallMs, monotonicMs, frozenNowUs: settings.frozenNowUs });
  const log = createLog(
    (line) => process.stderr.write(line),
    () => new Date(wallMs()).toISOString(),
  );
  const backend = openBackend({ settings, log });
  service = await startService({ settings, clock, log, backend });
  const sources = backend.intake.listSources();
  const unneeded = settings.profile === 'supabase' ? unneededSettings(environment) : [];
  process.stdout.write(
    startMessage({ version: packageVersion(), settings, sources, service, unneeded }),
  );
  if (isEnding) {
    await service.stop();
    process.exit(0);
  }
}

async function orFail(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const isKnown =
      error instanceof SettingsError ||
      error instanceof CatalogueError ||
      error instanceof StartError;
    const text = error instanceof Error ? (isKnown ? error.message : error.stack) : String(error);
    fail(`weir cannot go on:\n\n${(text ?? '').replaceAll(/^(?=.)/gm, '  ')}\n`);
  }
}

function fail(text: string): never {
  process.stderr.write(text);
  process.exit(1);
}
