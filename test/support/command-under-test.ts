import type { LinePrompt, PromptOptions } from '../../src/command/command.ts';
import { runWords } from '../../src/command/command-table.ts';

export type Ended = { readonly status: number; readonly out: string; readonly err: string };

/** Runs `weir` with these words in this process, at a time that stands still. */
export async function runWeir(
  words: readonly string[],
  world: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly nowUs?: number;
    /** What somebody at the terminal says to a question; without it there is no terminal. */
    readonly ask?: (question: string) => Promise<string>;
    /** Lines typed at a prompt, and what the prompt is given and gives back. */
    readonly prompt?: (options: PromptOptions) => LinePrompt;
    /** Whether a person reads what it writes. */
    readonly isTerminal?: boolean;
    /** What stands in standard input. */
    readonly input?: string | Uint8Array;
    /** What Ctrl-C aborts. */
    readonly ended?: AbortSignal;
    /** Sees what was written so far, whenever more is. */
    readonly seen?: (out: string, err: string) => void;
  } = {},
): Promise<Ended> {
  const { environment = {}, nowUs = 0, isTerminal = false, seen = () => {} } = world;
  let [out, err] = ['', ''];
  const status = await runWords(words, {
    environment,
    wallMs: () => nowUs / 1000,
    monotonicMs: () => performance.now(),
    out: (text) => {
      out += text;
      seen(out, err);
    },
    err: (text) => {
      err += text;
      seen(out, err);
    },
    isTerminal: { out: isTerminal, err: isTerminal },
    ask: world.ask,
    prompt: world.prompt,
    input: async function* () {
      yield Buffer.from(world.input ?? '');
    },
    ended: () => world.ended ?? new AbortController().signal,
  });
  return { status, out, err };
}
