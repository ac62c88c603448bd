import type { Environment } from '../settings.ts';

/**
 * What a command ends with: it did what was asked; something stood in the way; its words were not
 * understood.
 */
export type ExitStatus = 0 | 1 | 2;

/** The process as a command sees it: tests give it another. */
export type CommandWorld = {
  readonly environment: Environment;
  /** The machine's clocks, as `createClock` wants them. */
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks whoever sits there, for a line; empty when they give none. `undefined` where nobody does. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Aborted by Ctrl-C or SIGTERM, for a command that goes on until then; a second one ends the process. */
  readonly ended: () => AbortSignal;
};

/** An option that a command knows; each has `--help` besides. */
type CommandOption = { readonly type: 'string' | 'boolean' };

/** One command of the command line. `src/command/command-table.ts` lists them all. */
export type Command = {
  /** What `weir NAME --help` prints: whole, lines of at most 100 characters. */
  readonly help: string;
  /** By name, without the hyphens before it. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /**
   * Resolves to the exit status when the command is done.
   *
   * @throws UsageError for words that were not understood, CommandFailure and the other errors that
   * `run-command.ts` knows for what stood in the way; anything else is a mistake of ours.
   */
  readonly run: (words: CommandWords, world: CommandWorld) => Promise<ExitStatus>;
};

/** What stood behind the command's name, read by its options. */
export class CommandWords {
  /** In the order they were given. */
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, string | boolean>;

  constructor(positionals: readonly string[], values: ReadonlyMap<string, string | boolean>) {
    this.positionals = positionals;
    this.#values = values;
  }

  /** Whether the option was given. */
  has(option: string): boolean {
    return this.#values.has(option);
  }

  /** The text that was given with an option of the type string. */
  find(option: string): string | undefined {
    const value = this.#values.get(option);
    return typeof value === 'string' ? value : undefined;
  }
}

/** The command was not understood: its words have to change. */
export class UsageError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UsageError';
  }
}

/** The command was understood, and something stands in its way. */
export class CommandFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'CommandFailure';
  }
}
