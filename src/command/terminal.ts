import { createInterface, type Interface } from 'node:readline';
import type { LinePrompt, PromptOptions } from './command.ts';

/**
 * Asks at the terminal, separately from standard output. Ctrl-C and Ctrl-D give an empty answer.
 */
export async function askTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      terminal.once('close', () => resolve(''));
      terminal.question(question, resolve);
    });
  } finally {
    terminal.close();
  }
}

/** Asks for line after line at the terminal, with the history of `node:readline`. */
export class TerminalPrompt implements LinePrompt {
  readonly #terminal: Interface;
  readonly #waiting: ((line: { readonly text: string } | 'cancelled' | undefined) => void)[] = [];
  readonly #lines: { readonly text: string }[] = [];
  #history: readonly string[];
  #isClosed = false;
  #abort: AbortController | undefined;

  constructor({ history, historyMax }: PromptOptions) {
    this.#history = history;
    this.#terminal = createInterface({
      input: process.stdin,
      output: process.stderr,
      terminal: true,
      history: [...history],
      historySize: historyMax,
      removeHistoryDuplicates: true,
    });
    this.#terminal.on('line', (text) => this.#take({ text }));
    this.#terminal.on('history', (lines) => {
      this.#history = [...lines];
    });
    this.#terminal.on('SIGINT', () => this.#cancel());
    this.#terminal.on('close', () => {
      this.#isClosed = true;
      this.#waiting.shift()?.(undefined);
    });
  }

  async read(question: string): Promise<{ readonly text: string } | 'cancelled' | undefined> {
    const early = this.#lines.shift();
    if (early !== undefined) return early;
    if (this.#isClosed) return undefined;
    this.#terminal.setPrompt(question);
    this.#terminal.prompt();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async whileCancellable<T>(abort: AbortController, work: () => Promise<T>): Promise<T> {
    this.#abort = abort;
    try {
      return await work();
    } finally {
      this.#abort = undefined;
    }
  }

  close(): readonly string[] {
    this.#terminal.close();
    return this.#history;
  }

  /** Lines that are pasted come before they are asked for. */
  #take(line: { readonly text: string }): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#lines.push(line);
    else waiting(line);
  }

  #cancel(): void {
    if (this.#abort !== undefined) {
      this.#abort.abort();
      return;
    }
    process.stderr.write('^C\n');
    // What was typed so far is no part of the next line.
    this.#terminal.write(null, { ctrl: true, name: 'e' });
    this.#terminal.write(null, { ctrl: true, name: 'u' });
    this.#waiting.shift()?.('cancelled');
  }
}
