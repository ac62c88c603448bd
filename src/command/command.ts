import { hint } from '../../engine/plan/binder/nearest-name.ts';
import { echo, formatChoices } from '../echo.ts';
import type { Environment } from '../settings.ts';

/** What a command ends with: success, failure or damaged data, usage error. */
export type ExitStatus = 0 | 1 | 2;

/** The process as a command sees it: tests give it another. */
export type CommandWorld = {
  readonly environment: Environment;
  /** The machine's clocks, as `createClock` wants them. */
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether a person reads at a terminal what is written there. */
  readonly isTerminal: { readonly out: boolean; readonly err: boolean };
  /** Asks whoever sits there, for a line; empty when they give none. `undefined` where nobody does. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Standard input, for a command that reads it. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Aborted by Ctrl-C or SIGTERM, for a command that goes on until then; a second one ends the process. */
  readonly ended: () => AbortSignal;
};

/** A flag of a command; each command has `--help` besides. */
export type Flag = {
  /** Stands for its value in the help: `URL`. Without it the flag takes no value. */
  readonly placeholder?: string;
  /** What the help says of it. */
  readonly text: string;
};

/** One command of the command line. `src/command/command-table.ts` lists them all. */
export type Command = {
  /** The forms of its arguments after `weir NAME`, one line each. */
  readonly usage: readonly string[];
  /** What its help explains before the flags: lines of at most 100 characters. */
  readonly about: string;
  /** By name, without the hyphens before it. */
  readonly flags: Readonly<Record<string, Flag>>;
  /** Paragraphs of its help after the flags. */
  readonly notes?: readonly string[];
  /** Paragraphs of its help that depend on its words. Throws as `run` does. */
  readonly describe?: (words: CommandWords, world: CommandWorld) => Promise<readonly string[]>;
  /** Whether every setting but secrets is a flag of it, too. */
  readonly takesSettings?: true;
  /** Whether what it writes is a log, each line JSON, except at a terminal. */
  readonly writesLog?: true;
  /** Whether `name=value` among its arguments is a parameter of a definition. */
  readonly takesParameters?: true;
  /**
   * Resolves to the exit status when the command is done.
   *
   * @throws UsageError for arguments that are wrong, CommandFailure and the other errors that
   * `run-command.ts` knows for what failed; anything else is a mistake of ours.
   */
  readonly run: (words: CommandWords, world: CommandWorld) => Promise<ExitStatus>;
};

/** The words after a command's name, parsed by its flags. */
export class CommandWords {
  /** In the order they were given. */
  readonly positionals: readonly string[];
  /** What was given with flags that take a value. */
  readonly values: ReadonlyMap<string, string>;
  /** Flags without a value that were given. */
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

  /** The value that was given with a flag. */
  find(flag: string): string | undefined {
    return this.values.get(flag);
  }
}

/** @throws UsageError where there are arguments. `name` is that of a command, or of a part of one. */
export function mustBeNone(name: string, given: readonly string[]): void {
  if (given.length > 0)
    throw new ArgumentError(`${name} takes no arguments; ${gotText(given)}`, given);
}

/**
 * The one argument that there must be.
 *
 * @throws UsageError. `what` is what is wanted: `one data folder`.
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
 * What a part of a command is called by: `list` of `weir token list`.
 *
 * @throws UsageError with the nearest name where there is no such part.
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

/** The command line is wrong and has to change. */
export class UsageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UsageError';
  }
}

/** There are too many arguments, too few, or others than there may be: one may be a flag without its hyphens. */
export class ArgumentError extends UsageError {
  readonly given: readonly string[];

  constructor(message: string, given: readonly string[]) {
    super(message);
    this.given = given;
  }
}

/** The command line is right, and the command failed. */
export class CommandFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandFailure';
  }
}
