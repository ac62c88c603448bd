import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programWords } from '../support/program-words.ts';

/** What a benchmark prints. It and its service run in the form of this module: compiled they start and run faster. */
export function benchOutput(path: string, ...parameters: readonly string[]): Promise<string> {
  return outputOf([...programWords(path), '--uncompiled', ...parameters]);
}

/** What a benchmark prints that runs from its source, with its service. */
export function sourceOutput(path: string, ...parameters: readonly string[]): Promise<string> {
  return outputOf(['--import', 'tsx', path, '--uncompiled', ...parameters]);
}

async function outputOf(words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return stdout;
}
