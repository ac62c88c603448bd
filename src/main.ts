#!/usr/bin/env node
import { runWords } from './command/command-table.ts';
import { askTerminal, TerminalPrompt } from './command/terminal.ts';
import { findNodeProblem } from './node-version.ts';

for (const stream of [process.stdout, process.stderr]) {
  // The reader of the output has closed it, as `head` does. No message can reach it.
  stream.on('error', () => process.exit(1));
}
const status = await run();
// Pending output is written first. Open threads and sockets do not keep the process alive.
process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));

function ended(): AbortSignal {
  const controller = new AbortController();
  const end = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  return controller.signal;
}

async function run(): Promise<number> {
  const nodeProblem = findNodeProblem(process.versions.node);
  if (nodeProblem !== undefined) {
    process.stderr.write(`${nodeProblem}\n`);
    return 1;
  }
  const isAsked = process.stdin.isTTY && process.stderr.isTTY;
  try {
    return await runWords(process.argv.slice(2), {
      environment: process.env,
      // The only place that reads the machine's clocks.
      wallMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      isTerminal: { out: process.stdout.isTTY === true, err: process.stderr.isTTY === true },
      ask: isAsked ? askTerminal : undefined,
      prompt: isAsked ? (options) => new TerminalPrompt(options) : undefined,
      input: () => process.stdin,
      ended,
    });
  } catch (error) {
    // A bug in weir: show the stack trace.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`weir cannot go on:\n\n${text.replaceAll(/^(?=.)/gm, '  ')}\n`);
    return 1;
  }
}
