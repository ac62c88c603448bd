import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { createClock } from '../clock.ts';
import { unneededSettings } from '../container-settings.ts';
import { CatalogueError } from '../definition/catalogue.ts';
import { CLOSE_MS_MAX, HEAP_GROWING_PERCENT } from '../limits.ts';
import { formatStack } from '../log.ts';
import { type Service, startService } from '../service.ts';
import { parseSettings, SettingsError } from '../settings.ts';
import { StartError } from '../start-error.ts';
import { type Started, startEntries, startMessage } from '../start-message.ts';
import { openStore } from '../store/open-store.ts';
import { strayVariables } from '../stray-variables.ts';
import { packageVersion } from '../version.ts';
import {
  type Command,
  CommandFailure,
  type CommandWords,
  type CommandWorld,
  mustBeNone,
  UsageError,
} from './command.ts';
import { createOutputLog } from './run-command.ts';

/** `weir start`. */
export const START: Command = {
  usage: ['[--strict] [--port N] [--data-dir DIR] [--memory-limit SIZE] …'],
  about: `
SIGTERM or Ctrl-C ends it. Without tokens in the settings the first start creates two and prints
them. At a terminal it prints a message for people; elsewhere each line it writes is a JSON object.

A wrong definition file in ENDPOINTS_DIR does not stop the start. weir uses the last valid version
of the file, if there is one, and prints the name of each such file and its error.`,
  flags: { strict: { text: 'a wrong definition file stops the start' } },
  takesSettings: true,
  writesLog: true,
  notes: [
    'Tokens are never flags, as other users of the machine can see flags. A variable whose name ends in _FILE is the path of a file that holds the token.',
    'A variable that weir does not read, with a name similar to that of a setting, gives a warning.',
  ],
  run: async (words, world) => {
    mustBeNone('start', words.positionals);
    const strays = strayVariables(world.environment);
    try {
      await start({ words, strays, world });
    } catch (error) {
      if (error instanceof SettingsError && error.isOfFlag) {
        throw new UsageError(error.message, error);
      }
      const isKnown =
        error instanceof SettingsError ||
        error instanceof CatalogueError ||
        error instanceof StartError;
      const { err: isTerminal } = world.isTerminal;
      if (!isKnown && isTerminal) throw error;
      const text = isKnown ? [error.message, ...strays].join('\n') : formatStack(error);
      throw new CommandFailure(isTerminal ? cannotGoOn(text) : text, error);
    }
    return 0;
  },
};

/** There may be many problems, so each is on its own line. */
function cannotGoOn(problems: string): string {
  return `weir cannot go on:\n\n${problems.replaceAll(/^(?=.)/gm, '  ')}`;
}

type Start = {
  readonly words: CommandWords;
  /** Warnings about variables that look misspelled. */
  readonly strays: readonly string[];
  readonly world: CommandWorld;
};

/** Runs the service until a signal stops it. */
async function start({ words, strays, world }: Start): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const ended = world.ended();
  const settings = parseSettings(world.environment, { flags: words.values });
  const clock = createClock({ ...world, frozenNowUs: settings.frozenNowUs });
  const log = createOutputLog('err', world);
  const service: Service = await startService({
    ...{ settings, clock, log, isStrict: words.has('strict') },
    openBackend: (stored) => openStore({ settings: stored, log, clock }),
  });
  const sources = service.backend.intake.listSources();
  const unneeded = settings.profile === 'supabase' ? unneededSettings(world.environment) : [];
  const version = packageVersion();
  tellStart({ version, settings, sources, service, unneeded, warnings: strays }, world);
  const endedBy = await Promise.race([service.replaced, untilAborted(ended)]);
  await service.stop({ closeMsMax: CLOSE_MS_MAX });
  if (endedBy !== undefined) throw new StartError(`DATA_DIR: ${endedBy.message}`, endedBy);
}

function tellStart(started: Started, world: CommandWorld): void {
  if (world.isTerminal.out) {
    world.out(startMessage(started));
    return;
  }
  const log = createOutputLog('out', world);
  for (const entry of startEntries(started)) log(entry);
}

async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
}
