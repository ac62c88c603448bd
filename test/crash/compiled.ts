import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

/** An entry point of these tests, compiled with all it imports. */
export type Compiled = {
  /** Path of the JavaScript. */
  readonly path: string;
  remove(): Promise<void>;
};

/**
 * Compiles an entry point: a process then starts in a third of the time it takes to translate
 * everything first, and these tests start hundreds. `entry` is relative to the top of the repository.
 */
export async function compiled(entry: string): Promise<Compiled> {
  // Below the top, so that packages and definitions are found from there.
  await mkdir('dist', { recursive: true });
  const folder = await mkdtemp(resolve('dist', 'crash-'));
  const project = join(folder, 'tsconfig.json');
  const up = relative(folder, '.');
  const compilerOptions = { noEmit: false, noCheck: true, outDir: '.', rootDir: up };
  // Threads are started by the path of their file: no import leads there.
  const files = [join(up, entry), join(up, 'engine/pool/worker.ts')];
  await writeFile(
    project,
    JSON.stringify({ extends: join(up, 'tsconfig.json'), compilerOptions, files, include: [] }),
  );
  await promisify(execFile)(join('node_modules', '.bin', 'tsc'), ['-p', project]);
  return {
    path: join(folder, entry.replace(/\.ts$/, '.js')),
    remove: () => rm(folder, { recursive: true }),
  };
}
