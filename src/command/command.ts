import { hint } from '../../engine/columns.ts';
import { echo, formatChoices } from '../echo.ts';
import type { Environment } from '../settings.ts';

/** Exit status: 0 success, 1 failure or damaged data, 2 usage error. */
export type ExitStatus = 0 | 1 | 2;

/** The process as commands use it; tests replace it. */
export type CommandWorld = {
  readonly environment: Environment;
  /** The machine's clocks, for `createClock`. */
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether each output is a terminal. */
  readonly isTerminal: { readonly out: boolean; readonly err: boolean };
  /**
   * Asks the user for a line at the terminal; an empty line if there is no input. `undefined`
   * without a terminal.
   */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Asks for line after line at the terminal. Absent without one. */
  readonly prompt?: ((options: PromptOptions) => LinePrompt) | undefined;
  /** Standard input, for a command that reads it. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /**
   * Aborted by Ctrl-C or SIGTERM, for commands that run until then. A second one ends the process.
   */
  readonly ended: () => AbortSignal;
};

export type PromptOptions = {
  /** Lines of earlier times, the newest first. */
  readonly history: readonly string[];
  /** The most lines that are remembered. */
  readonly historyMax: number;
};

/** A terminal that asks for line after line. */
export interface LinePrompt {
  /** The next line; `cancelled` after Ctrl-C, `undefined` when there are no more. */
  read(question: string): Promise<{ readonly text: string } | 'cancelled' | undefined>;
  /** Does work that Ctrl-C aborts. */
  whileCancellable<T>(abort: AbortController, work: () => Promise<T>): Promise<T>;
  /** Ends it. Returns the lines to remember, the newest first. */
  close(): readonly string[];
}

/** A flag of a command. Each command also has `--help`. */
export type Flag = {
  /** The placeholder of the value in the help: `URL`. Without it, the flag takes no value. */
  readonly placeholder?: string;
  /** Its description in the help. */
  readonly text: string;
};

/** One command of the command line. `src/command/command-table.ts` lists them all. */
export type Command = {
  /** The forms of its arguments after `weir NAME`, one line each. */
  readonly usage: readonly string[];
  /** The explanation in its help before the flags, in lines of at most 100 characters. */
  readonly about: string;
  /** Flags by name, without hyphens. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** Paragraphs of its help after the flags. */
  readonly notes?: readonly string[];
  /** Paragraphs of its help that depend on the words of the command line. Throws as `run` does. */
  readonly describe?: (words: CommandWords, world: CommandWorld) => Promise<readonly string[]>;
  /** Whether all settings except secrets are also flags. */
  readonly takesSettings?: true;
  /** Whether its output is a log: JSON lines, except at a terminal. */
  readonly writesLog?: true;
  /** Whether arguments of the form `name=value` are parameters of a definition. */
  readonly takesParameters?: true;
  /**
   * Resolves to the exit status.
   *
   * @throws UsageError for wrong arguments, CommandFailure and the other errors that
   * `run-command.ts` knows for failures. Any other error is a bug.
   */
  readonly run: (words: CommandWords, world: CommandWorld) => Promise<ExitStatus>;
};

/** The words after a command's name, parsed by its flags. */
export class CommandWords {
  /** Arguments that are not flags, in order. */
  readonly positionals: readonly string[];
  /** Values of the given flags. */
  readonly values: ReadonlyMap<string, string>;
  /** The given flags without a value. */
  readonly #switches: ReadonlySet<string>;

  constructor(given: {
    readonly positionals: readonly string[];
    readonly values: ReadonlyMap<string, string>;
    readonly switches: ReadonlySet<string>;
  }) {
    this.positionals = given.positionals;
    this.values = given.values;
    this.#switches = given.switches;
  }

  /** Whether the flag was given. */
  has(flag: string): boolean {
    return this.#switches.has(flag) || this.values.has(flag);
  }

  /** The value of a flag. */
  find(flag: string): string | undefined {
    return this.values.get(flag);
  }
}

/** @throws UsageError when there are arguments. `name` is the command, or the subcommand. */
export function mustBeNone(name: string, given: readonly string[]): void {
  if (given.length > 0)
    throw new ArgumentError(`${name} takes no arguments; ${gotText(given)}`, given);
}

/**
 * Returns the only argument.
 *
 * @throws UsageError. `what` describes the argument: `one data folder`.
 */
export function mustBeOne(name: string, what: string, given: readonly string[]): string {
  const [argument, ...rest] = given;
  if (argument !== undefined && argument !== '' && rest.length === 0) return argument;
  throw new ArgumentError(`${name} must be followed by ${what}; ${gotText(given)}`, given);
}

function gotText(given: readonly string[]): string {
  const got = given.filter((each) => each !== '').map((each) => echo(each));
  return `got ${got.join(', ') || 'nothing'}`;
}

/**
 * Finds a subcommand, such as `list` of `weir token list`.
 *
 * @throws UsageError with the nearest name when there is none.
 */
export function mustFindVerb<Verb>(
  name: string,
  verbs: ReadonlyMap<string, Verb>,
  given: string | undefined,
): Verb {
  const verb = verbs.get(given ?? '');
  if (verb !== undefined) return verb;
  const got = given === undefined ? 'nothing' : `${echo(given)}${hint(given, verbs.keys())}`;
  throw new UsageError(
    `${name} must be followed by ${formatChoices([...verbs.keys()])}; got ${got}`,
  );
}

/** An error in the command line. */
export class UsageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UsageError';
  }
}

/** Too many, too few, or invalid arguments. One of them may be a flag without its hyphens. */
export class ArgumentError extends UsageError {
  readonly given: readonly string[];

  constructor(message: string, given: readonly string[]) {
    super(message);
    this.given = given;
  }
}

/** A failure of a command whose command line is correct. */
export class CommandFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandFailure';
  }
}
