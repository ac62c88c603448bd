import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';

const ROOT = packageRoot();

export type SourceFile = {
  /** From the top of the repository, with slashes: `engine/plan/execute.ts`. */
  readonly path: string;
  readonly text: string;
};

/** Every file below a folder of the repository whose name ends so. */
export function filesBelow(folder: string, ending: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith(ending) && !path.includes('node_modules'))
    .sort()
    .map((path) => ({ path, text: readText(path) }));
}

/** Where a file is whose path from the top of the repository is given. */
export function pathInRepository(path: string): string {
  return join(ROOT, path);
}

/** One file of the repository, by its path from the top. */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Whether there is such a file or folder, by its path from the top. */
export function hasPath(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** What a file imports, types too: packages by name, other files by path from the top. */
export function importsOf({ path, text }: SourceFile): readonly string[] {
  const specifiers = text.matchAll(
    /^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)|new URL\([`']([^`']+)[`'], import\.meta\.url\)/gm,
  );
  return Array.from(specifiers, ([, from, dynamic, url]) => {
    const specifier = (from ?? dynamic ?? url)!;
    return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
  });
}

/** The files that are loaded with a file, itself among them: what it imports directly or through others, types left out. */
export function loadedBy(path: string): readonly string[] {
  const loaded = new Set([path]);
  for (const file of loaded) {
    for (const [, from] of readText(file).matchAll(
      /^(?:import|export)\s(?!type\s)(?:[^'";]*?\sfrom\s)?'(\.[^']+\.tsx?)'/gm,
    )) {
      loaded.add(posix.join(posix.dirname(file), from!));
    }
  }
  return [...loaded].sort();
}

/** Names of files and folders at the top of the repository. */
export function topOfRepository(): readonly string[] {
  return readdirSync(ROOT);
}
