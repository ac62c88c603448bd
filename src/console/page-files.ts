import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Encoding } from '../call/kept-answer.ts';
import { packageRoot } from '../package-root.ts';

/** A built file in each encoding that there is. */
export type PageFile = {
  readonly contentType: string;
  readonly bytes: ReadonlyMap<Encoding, Buffer>;
};

/** The built page. */
export type PageFiles = {
  readonly index: Buffer;
  /** By name. A name has a hash of its contents, so they never change. */
  readonly hashed: ReadonlyMap<string, PageFile>;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const INDEX = 'index.html';

/** Reads the page that `npm run build` made; `undefined` if there is none. */
export function readPageFiles(folder = builtFolder()): PageFiles | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  if (!names.includes(INDEX)) return undefined;
  const hashed = new Map<string, PageFile>();
  for (const name of names) {
    const contentType = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)];
    if (contentType === undefined) continue;
    const bytes = new Map<Encoding, Buffer>([
      ['identity', readFileSync(join(folder, name))],
      ['br', readFileSync(join(folder, `${name}.br`))],
      ['gzip', readFileSync(join(folder, `${name}.gz`))],
    ]);
    hashed.set(name, { contentType, bytes });
  }
  return { index: readFileSync(join(folder, INDEX)), hashed };
}

/** Beside the compiled program. Sources that are run as they are use the page in `dist`. */
function builtFolder(): string {
  const compiled = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
  const root = packageRoot();
  return join(compiled === root ? join(root, 'dist') : compiled, 'console');
}
