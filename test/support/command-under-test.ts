import { runWords } from '../../src/command/command-table.ts';

export type Ended = { readonly status: number; readonly out: string; readonly err: string };

/** Runs `weir` with these words in this process, at a time that stands still. */
export async function runWeir(
  words: readonly string[],
  world: {
    readonly environment?: Readonly<Record<string, string>> | undefined;
    readonly nowUs?: number | undefined;
  } = {},
): Promise<Ended> {
  const { environment = {}, nowUs = 0 } = world;
  let [out, err] = ['', ''];
  const status = await runWords(words, {
    environment,
    wallMs: () => nowUs / 1000,
    monotonicMs: () => performance.now(),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { status, out, err };
}
