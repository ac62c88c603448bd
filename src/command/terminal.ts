import { createInterface } from 'node:readline';

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
