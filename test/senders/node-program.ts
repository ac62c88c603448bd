import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventNames, type RunningSender, type Target } from './sender.ts';

const PACKAGE = 'test/senders';

/** Whether the packages of senders are installed. */
export function missingPackages(): string | undefined {
  return existsSync(join(PACKAGE, 'node_modules'))
    ? undefined
    : `its packages are not installed: npm ci --ignore-scripts --prefix ${PACKAGE}`;
}

/** The version of a package that is installed; nothing where it is not. */
export function packageVersion(name: string): string | undefined {
  if (missingPackages() !== undefined) return undefined;
  const text = readFileSync(join(PACKAGE, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/**
 * Starts a file of `programs/`: an application that logs what it reads, one record to a line, through a sender that
 * it has imported, with these options. A line `dropped …` that it writes names events that its sender gave up.
 */
export async function startNodeProgram(
  name: string,
  { project }: Target,
  options: object,
): Promise<RunningSender> {
  const child = spawn(process.execPath, [join(PACKAGE, 'programs', `${name}.mjs`)], {
    env: {
      PATH: process.env['PATH'],
      SENDER_OPTIONS: JSON.stringify(options),
      WEIR_PROJECT: project,
    },
    stdio: 'pipe',
  });
  // All that it has written was read then.
  const exited = once(child, 'close');
  const dropped = new Set<string>();
  const terminal: string[] = [];
  const started = new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') resolve();
      else if (line.startsWith('dropped '))
        for (const event of eventNames(line)) dropped.add(event);
      else terminal.push(line);
    });
    exited.then(() => reject(new Error(`${name} has ended: ${terminal.join('\n')}`)), reject);
  });
  createInterface(child.stderr).on('line', (line) => terminal.push(line));
  await started;
  return {
    log: (record) => void child.stdin.write(`${JSON.stringify(record)}\n`),
    dropped,
    terminal: () => terminal.join('\n'),
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
